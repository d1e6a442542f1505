// SPDX-License-Identifier: Apache-2.0
// Asks the API server who may read our pages: by TokenReview, SubjectAccessReview, and who signs client certificates.
#pragma once

#include "base/json_fwd.h"
#include "kube/client.h"
#include "server/access.h"
#include "server/client_authorities.h"

namespace tutti::app {

class ApiAccessReview final : public server::AccessReview {
 public:
  // Both must outlive it; they may be one.
  ApiAccessReview(kube::KubeClient& authentication, kube::KubeClient& authorization)
      : authentication_(authentication), authorization_(authorization) {}
  base::Result<std::optional<server::User>> Authenticate(std::string_view token) override;
  base::Result<bool> Authorize(const server::User& user, std::string_view verb, std::string_view path) override;
  base::Result<bool> AuthorizeResource(const server::User& user, const server::ResourceAccess& access) override;

 private:
  // Asks whether the user may do what `attributes` say: the field of a SubjectAccessReview, and its value.
  base::Result<bool> MayDo(const server::User& user, const char* field, base::Json attributes);

  kube::KubeClient& authentication_;
  kube::KubeClient& authorization_;
};

// Reads who signs client certificates from the ConfigMap kube-system/extension-apiserver-authentication, which every
// cluster has: of users, and of the API server where it passes on what users ask an aggregated API.
base::Result<server::ClientAuthorities::Trust> ClusterTrust(kube::KubeClient& client);

}  // namespace tutti::app
