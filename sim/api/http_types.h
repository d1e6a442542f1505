// SPDX-License-Identifier: Apache-2.0
// sim/api/http_types.h - a request and its answer, free of any HTTP library.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/json_string.h"
#include "sim/objects/api_error.h"
#include "sim/objects/object.h"

namespace tutti::sim {

class WatchStream;

struct HttpRequest {
  std::string method;  // "GET", "POST", ...
  std::string path;    // decoded, without the query
  std::multimap<std::string, std::string> params;
  std::string accept;
  std::string content_type;
  std::string body;
  std::string if_none_match = {};
  bool bodyless = false;  // the client reads no body of a success

  // The first value of that query parameter, or "".
  std::string Param(const std::string& name) const {
    const auto it = params.find(name);
    return it == params.end() ? "" : it->second;
  }
  // "true", "1", or present without a value.
  bool Flag(const std::string& name) const {
    const auto it = params.find(name);
    return it != params.end() && it->second != "false" && it->second != "0";
  }
};

struct HttpResponse {
  int code = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string etag = {};
  std::string warning = {};                      // Warning headers, one a line; kubectl shows them
  std::shared_ptr<WatchStream> watch = nullptr;  // set: the body is this stream, as it comes
};

inline HttpResponse JsonResponse(const Json& body, int code = 200) {
  return {.code = code, .body = base::PrintJson(body) + "\n"};
}
inline HttpResponse ErrorResponse(const ApiError& error) { return JsonResponse(error.ToStatus(), error.code); }

}  // namespace tutti::sim
