// SPDX-License-Identifier: Apache-2.0
// sim/api/openapi.h - OpenAPI documents: enough of v3 for `kubectl explain` and `kubectl apply`,
// and a v2 without paths for clients that insist.
#pragma once

#include <optional>

#include "sim/api/http_types.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

// The answer to /openapi/v2, /openapi/v3 and below; nothing for other paths.
std::optional<HttpResponse> AnswerOpenApi(const ResourceTable& resources, const HttpRequest& request);

}  // namespace tutti::sim
