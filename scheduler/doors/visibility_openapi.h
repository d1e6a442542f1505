// SPDX-License-Identifier: Apache-2.0
// OpenAPI v3 of the visibility API (visibility.h), as the API server's aggregation layer asks for it.
#pragma once

#include <string>
#include <string_view>

namespace tutti::doors {

inline constexpr const char* kOpenApiPath = "/openapi/v3";

// Returns what is at kOpenApiPath: where the document of each version is.
std::string OpenApiIndex();
// Returns the document of the version, such as "v1beta2"; it is at kOpenApiPath/apis/GROUP/VERSION.
std::string OpenApiOf(std::string_view version);
// Returns the path of that document, without a query.
std::string OpenApiPathOf(std::string_view version);

}  // namespace tutti::doors
