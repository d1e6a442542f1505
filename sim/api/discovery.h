// SPDX-License-Identifier: Apache-2.0
// sim/api/discovery.h - what the API serves, in the old form (a document per group and
// version) and the aggregated one (all of it in one answer).
#pragma once

#include <optional>

#include "sim/api/http_types.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

// Returns the answer to /api, /apis, /api/v1, /apis/GROUP and /apis/GROUP/VERSION; nothing for other paths. The
// aggregated form has the tag, and is not sent again to a client that names it.
std::optional<HttpResponse> Discover(const ResourceTable& resources, const std::string& tag,
                                     const HttpRequest& request);

// Group versions in order of preference within their group: {"apps", "v1"}.
std::vector<GroupVersion> ServedGroupVersions(const ResourceTable& resources);

}  // namespace tutti::sim
