// SPDX-License-Identifier: Apache-2.0
// sim/api/api_handler.h - the Kubernetes API over a Store, as requests and answers.
//
// What kubectl, client libraries and our own client ask of an API server: resources
// and their subresources, watches, discovery, OpenAPI, reviews, health. Every caller
// may do everything. Not here: logs, exec, proxies (501 and a reason).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/api/http_types.h"
#include "sim/api/resource_path.h"
#include "sim/api/watch_stream.h"
#include "sim/store/door.h"

namespace tutti::sim {

// Returns the warnings for the client that writes this object, beside those about fields that its kind does not have.
using Warnings = std::function<std::vector<std::string>(const ApiResource&, const Json& object)>;

// Thread safety: Handle may be called from any thread; the store's clock must allow that, too.
class ApiHandler {
 public:
  // `door` must outlive it. `warnings` may be empty, and is called from any thread.
  explicit ApiHandler(Door& door, Warnings warnings = nullptr);
  ~ApiHandler();

  HttpResponse Handle(const HttpRequest& request);

  // Ends all watches, so that the threads that serve them come back.
  void CloseWatches();

 private:
  struct Target;  // the resource a path names, and the names in it

  ApiResult<Target> Resolve(const ResourcePath& path);
  bool IsServed(const ResourcePath& path);  // its group and version
  ApiResult<HttpResponse> HandleResource(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> HandleCollection(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> HandleObject(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> List(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> Watch(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> Create(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> Update(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> Patch(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> Delete(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> DeleteCollection(const HttpRequest& request, const Target& target);
  ApiResult<HttpResponse> Answer(const HttpRequest& request, const Target& target, const Object& object, int code);
  // What `object` is warned of and `before` (may be null) was not yet, under `warning`, one a line.
  void Warn(const Target& target, const Object& before, const Object& object, std::string warning,
            HttpResponse& response) const;
  base::Millis now_ms();

  Door& door_;
  const Warnings warnings_;
  const base::Millis born_ms_;
  std::unique_ptr<WatchHub> hub_;
};

}  // namespace tutti::sim
