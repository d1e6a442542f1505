// SPDX-License-Identifier: Apache-2.0
// Has the API server answer who may read our pages: TokenReview, then SubjectAccessReview.
#pragma once

#include "kube/client.h"
#include "server/access.h"

namespace tutti::app {

class ApiAccessReview final : public server::AccessReview {
 public:
  explicit ApiAccessReview(kube::KubeClient& client) : client_(client) {}  // `client` must outlive it
  server::Access Review(std::string_view token, std::string_view path) override;

 private:
  kube::KubeClient& client_;
};

}  // namespace tutti::app
