// SPDX-License-Identifier: Apache-2.0
// sim/api/subresources.h - what hangs below an object and is no part of it, as its status and a
// pod's resize are: binding, eviction, scale, a namespace's finalize.
#pragma once

#include <optional>

#include "sim/api/http_types.h"
#include "sim/objects/resources.h"
#include "sim/store/store.h"

namespace tutti::sim {

struct SubresourceCall {
  const ApiResource& resource;
  std::string version;
  std::string ns;
  std::string name;
  std::string subresource;
};

// REQUIRES: inside the store's door; the subresource is no part of the object. 404 for unknown ones,
// 501 for those that only a real kubelet can serve.
ApiResult<HttpResponse> CallSubresource(Store& store, const SubresourceCall& call, const HttpRequest& request);

// The subresources that discovery shows for a version of a resource, beside "status".
struct SubresourceInfo {
  std::string name;
  GroupVersion group_version;  // of the kind it takes
  std::string kind;
  std::vector<std::string> verbs;
};
std::vector<SubresourceInfo> SubresourcesOf(const ApiResource& resource, const ApiVersion& version);

}  // namespace tutti::sim
