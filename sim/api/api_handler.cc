// SPDX-License-Identifier: Apache-2.0
#include "sim/api/api_handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "sim/api/delete_options.h"
#include "sim/api/discovery.h"
#include "sim/api/openapi.h"
#include "sim/api/representation.h"
#include "sim/api/reviews.h"
#include "sim/api/subresources.h"
#include "sim/schema/field_validation.h"

namespace tutti::sim {
namespace {

constexpr int64_t kLongestWatchSeconds = 86'400;

ApiResult<Selectors> SelectorsOf(const HttpRequest& request, const ApiResource& resource) {
  Selectors selectors;
  auto labels = LabelSelector::Parse(request.Param("labelSelector"));
  if (!labels) return Refuse(labels.error());
  auto fields = FieldSelector::Parse(request.Param("fieldSelector"), resource);
  if (!fields) return Refuse(fields.error());
  selectors.labels = std::move(*labels);
  selectors.fields = std::move(*fields);
  return selectors;
}

ApiResult<int64_t> NumberParam(const HttpRequest& request, const char* name) {
  const std::string text = request.Param(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty()) return 0;
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return Refuse(BadRequest(fmt::format("invalid value for the query parameter {}: \"{}\"", name, text)));
  }
  return value;
}

ApiResult<PatchType> PatchTypeOf(const std::string& content_type) {
  const std::string type = content_type.substr(0, content_type.find(';'));
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  return Refuse(UnsupportedMediaType(fmt::format(
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
      "application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml; got \"{}\"",
      type)));
}

ApiError TooLargeResourceVersion(int64_t asked, int64_t current) {
  ApiError error{504, "Timeout", fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current),
                 Json::object()};
  error.details = {
      {"retryAfterSeconds", 1},
      {"causes", Json::array({{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}})}};
  return error;
}

HttpResponse Text(const char* text) { return {.content_type = "text/plain", .body = text}; }

HttpResponse NoSuchPage() { return {.code = 404, .content_type = "text/plain", .body = "404 page not found\n"}; }

HttpResponse VersionInfo() {
  return JsonResponse({{"major", "1"},
                       {"minor", "36"},
                       {"gitVersion", "v1.36.0+tutti.sim"},
                       {"gitCommit", ""},
                       {"gitTreeState", "clean"},
                       {"buildDate", "1970-01-01T00:00:00Z"},
                       {"goVersion", ""},
                       {"compiler", "gcc"},
                       {"platform", "linux/amd64"}});
}

HttpResponse RootPaths(const ResourceTable& resources) {
  Json paths = {"/api", "/api/v1", "/apis"};
  for (const GroupVersion& gv : ServedGroupVersions(resources)) {
    if (!gv.group.empty()) paths.push_back(fmt::format("/apis/{}/{}", gv.group, gv.version));
  }
  for (const char* path : {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"})
    paths.push_back(path);
  return JsonResponse({{"paths", std::move(paths)}});
}

}  // namespace

struct ApiHandler::Target {
  ApiResource resource;  // a copy: the table may change once the door is left
  std::string version;
  std::string ns;
  std::string name;
  std::string subresource;

  // Of the object itself, in part.
  bool is_object() const { return subresource.empty() || part() != Part::kMain; }
  Part part() const {
    if (subresource == "status") return Part::kStatus;
    return subresource == "resize" && resource.id == kPods ? Part::kResize : Part::kMain;
  }
};

ApiHandler::ApiHandler(Door& door, Warnings warnings)
    : door_(door), warnings_(std::move(warnings)), born_ms_(now_ms()) {
  hub_ = door_.With([](Store& store) { return std::make_unique<WatchHub>(store); });
}

ApiHandler::~ApiHandler() {
  door_.With([this](Store&) { hub_.reset(); });
}

void ApiHandler::CloseWatches() { hub_->Close(); }

base::Millis ApiHandler::now_ms() {
  return door_.With([](Store& store) { return store.now_ms(); });
}

HttpResponse ApiHandler::Handle(const HttpRequest& request) {
  const std::string& path = request.path;
  if (path == "/healthz" || path.starts_with("/livez") || path.starts_with("/readyz")) return Text("ok");
  if (path == "/version" || path == "/version/") return VersionInfo();
  if (auto review = AnswerReview(request)) return std::move(*review);
  try {
    auto other = door_.With([&](Store& store) -> std::optional<HttpResponse> {
      if (path == "/") return RootPaths(store.resources());
      // The revision begins again with each life of this cluster.
      const std::string tag = fmt::format("\"{}-{}\"", born_ms_, store.resources().revision());
      if (auto found = Discover(store.resources(), tag, request)) return found;
      return AnswerOpenApi(store.resources(), request);
    });
    if (other) return std::move(*other);
    const auto parsed = ParseResourcePath(path);
    if (!parsed) return NoSuchPage();
    const auto target = Resolve(*parsed);
    if (!target) return IsServed(*parsed) ? ErrorResponse(target.error()) : NoSuchPage();
    auto response = HandleResource(request, *target);
    return response ? std::move(*response) : ErrorResponse(response.error());
  } catch (const Json::exception& error) {
    // A body whose JSON types are not what its kind prescribes and no check has named.
    return ErrorResponse(BadRequest(fmt::format("the request cannot be decoded: {}", error.what())));
  }
}

bool ApiHandler::IsServed(const ResourcePath& path) {
  return door_.With([&](Store& store) {
    return std::ranges::any_of(ServedGroupVersions(store.resources()), [&](const GroupVersion& gv) {
      return gv.group == path.group && gv.version == path.version;
    });
  });
}

ApiResult<ApiHandler::Target> ApiHandler::Resolve(const ResourcePath& path) {
  return door_.With([&](Store& store) -> ApiResult<Target> {
    const ApiResource* resource = store.resources().Find(path.group, path.resource);
    const ApiVersion* version = resource ? resource->FindVersion(path.version) : nullptr;
    if (!version || !version->served) return Refuse(PathNotFound());
    const bool needs_namespace = resource->namespaced && !path.name.empty();
    if (needs_namespace && path.ns.empty()) return Refuse(PathNotFound());
    if (!resource->namespaced && !path.ns.empty()) return Refuse(PathNotFound());
    if (path.subresource == "status" && !version->has_status) return Refuse(PathNotFound());
    return Target{*resource, path.version, path.ns, path.name, path.subresource};
  });
}

ApiResult<HttpResponse> ApiHandler::HandleResource(const HttpRequest& request, const Target& target) {
  if (target.name.empty()) return HandleCollection(request, target);
  if (target.is_object()) return HandleObject(request, target);
  return door_.With([&](Store& store) {
    return CallSubresource(store, {target.resource, target.version, target.ns, target.name, target.subresource},
                           request);
  });
}

ApiResult<HttpResponse> ApiHandler::HandleCollection(const HttpRequest& request, const Target& target) {
  if (request.method == "GET") return request.Flag("watch") ? Watch(request, target) : List(request, target);
  if (const auto accepts = CheckAccept(request); !accepts) return Refuse(accepts.error());
  if (request.method == "POST") return Create(request, target);
  if (request.method == "DELETE") return DeleteCollection(request, target);
  return Refuse(MethodNotAllowed());
}

ApiResult<HttpResponse> ApiHandler::HandleObject(const HttpRequest& request, const Target& target) {
  if (request.method == "GET") {
    const auto object = door_.With([&](Store& store) { return store.Get(target.resource.id, target.ns, target.name); });
    if (!object) return Refuse(object.error());
    return Answer(request, target, *object, 200);
  }
  if (const auto accepts = CheckAccept(request); !accepts) return Refuse(accepts.error());
  if (request.method == "PUT") return Update(request, target);
  if (request.method == "PATCH") return Patch(request, target);
  if (request.method == "DELETE" && target.subresource.empty()) return Delete(request, target);
  return Refuse(MethodNotAllowed());
}

ApiResult<HttpResponse> ApiHandler::Answer(const HttpRequest& request, const Target& target, const Object& object,
                                           int code) {
  if (request.bodyless) return HttpResponse{.code = code, .body = {}};
  const auto representation = Representation::Negotiate(request, target.resource, target.version);
  if (!representation) return Refuse(representation.error());
  return HttpResponse{.code = code, .body = representation->Print(object, now_ms()) + "\n"};
}

// --- Reading ---

ApiResult<HttpResponse> ApiHandler::List(const HttpRequest& request, const Target& target) {
  const auto representation = Representation::Negotiate(request, target.resource, target.version);
  if (!representation) return Refuse(representation.error());
  auto selectors = SelectorsOf(request, target.resource);
  if (!selectors) return Refuse(selectors.error());
  const auto limit = NumberParam(request, "limit");
  const auto version = NumberParam(request, "resourceVersion");
  if (!limit || !version) return Refuse(limit ? version.error() : limit.error());
  ListOptions options{std::move(*selectors), size_t(*limit), request.Param("continue")};
  auto list = door_.With([&](Store& store) -> ApiResult<ListResult> {
    if (*version > store.resource_version()) {
      return Refuse(TooLargeResourceVersion(*version, store.resource_version()));
    }
    return store.List(target.resource.id, target.ns, options);
  });
  if (!list) return Refuse(list.error());
  Json meta = {{"resourceVersion", std::to_string(list->resource_version)}};
  if (!list->continue_token.empty()) meta["continue"] = list->continue_token;
  if (list->remaining > 0) meta["remainingItemCount"] = list->remaining;
  return HttpResponse{.body = representation->RenderList(list->items, meta, now_ms())};
}

ApiResult<HttpResponse> ApiHandler::Watch(const HttpRequest& request, const Target& target) {
  auto representation = Representation::Negotiate(request, target.resource, target.version);
  if (!representation) return Refuse(representation.error());
  auto selectors = SelectorsOf(request, target.resource);
  if (!selectors) return Refuse(selectors.error());
  const auto after = NumberParam(request, "resourceVersion");
  const auto seconds = NumberParam(request, "timeoutSeconds");
  if (!after || !seconds) return Refuse(after ? seconds.error() : after.error());

  WatchOptions options;
  options.ns = target.ns;
  options.selectors = std::move(*selectors);
  options.bookmarks = request.Flag("allowWatchBookmarks");
  options.timeout_ms = std::min(*seconds, kLongestWatchSeconds) * 1000;
  const bool streams_list = request.Flag("sendInitialEvents");
  const std::string match = request.Param("resourceVersionMatch");
  if (streams_list && match != "NotOlderThan") {
    return Refuse(Invalid("meta.k8s.io", "ListOptions", "",
                          {ForbiddenField("resourceVersionMatch",
                                          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")}));
  }
  if (streams_list) {
    options.initial_bookmark = options.bookmarks;
  } else if (request.params.contains("sendInitialEvents")) {
    options.initial_events = false;
  } else if (*after > 0) {
    options.after = *after;
  }
  HttpResponse response;
  // Spelled so that no server compresses it, which would hold events back.
  response.content_type = "application/json;stream=watch";
  auto opened = door_.With([&](Store& store) -> ApiResult<std::shared_ptr<WatchStream>> {
    if (streams_list && *after > store.resource_version()) {
      return Refuse(TooLargeResourceVersion(*after, store.resource_version()));
    }
    if (!store.resources().Find(target.resource.id)) return Refuse(PathNotFound());  // gone since it was looked up
    return hub_->Open(target.resource, std::move(*representation), std::move(options));
  });
  if (!opened) return Refuse(opened.error());
  response.watch = std::move(*opened);
  return response;
}

// --- Writing ---

namespace {

// Completes what the URL says and refuses what contradicts it.
ApiResult<void> FitToUrl(const ApiResource& resource, const std::string& version, const std::string& ns,
                         const std::string& name, Json& object) {
  if (!object.is_object()) return Refuse(BadRequest("the body of the request is not a JSON object"));
  const std::string api_version = JoinApiVersion(resource.id.group, version);
  if (DigString(object, "apiVersion").empty()) object["apiVersion"] = api_version;
  if (DigString(object, "kind").empty()) object["kind"] = resource.kind;
  if (DigString(object, "kind") != resource.kind) {
    return Refuse(
        BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is registered here",
                               resource.kind, version, resource.kind, DigString(object, "kind"))));
  }
  if (DigString(object, "apiVersion") != api_version) {
    return Refuse(
        BadRequest(fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                               DigString(object, "apiVersion"), api_version)));
  }
  if (!object.contains("metadata") || object["metadata"].is_null()) object["metadata"] = Json::object();
  if (!object["metadata"].is_object()) return Refuse(BadRequest("metadata is not an object"));
  if (resource.namespaced) {
    const std::string& given = NamespaceOf(object);
    if (!given.empty() && given != ns) {
      return Refuse(
          BadRequest("the namespace of the provided object does not match the namespace sent on the request"));
    }
    object["metadata"]["namespace"] = ns;
  }
  if (!name.empty()) {
    if (NameOf(object).empty()) object["metadata"]["name"] = name;
    if (NameOf(object) != name) {
      return Refuse(BadRequest(
          fmt::format("the name of the object ({}) does not match the name on the URL ({})", NameOf(object), name)));
    }
  }
  return {};
}

bool IsDryRun(const HttpRequest& request) { return request.Param("dryRun") == "All"; }

}  // namespace

void ApiHandler::Warn(const Target& target, const Object& before, const Object& object, std::string warning,
                      HttpResponse& response) const {
  if (warnings_ && target.subresource.empty()) {
    const std::vector<std::string> known = before ? warnings_(target.resource, *before) : std::vector<std::string>();
    for (const std::string& line : warnings_(target.resource, *object)) {
      if (std::ranges::count(known, line) == 0) warning += (warning.empty() ? "" : "\n") + line;
    }
  }
  response.warning = std::move(warning);
}

ApiResult<HttpResponse> ApiHandler::Create(const HttpRequest& request, const Target& target) {
  if (target.resource.namespaced && target.ns.empty()) return Refuse(MethodNotAllowed());
  auto body = ParseBody(request);
  if (!body) return Refuse(body.error());
  if (auto fits = FitToUrl(target.resource, target.version, target.ns, "", *body); !fits) return Refuse(fits.error());
  const auto warning = CheckFields(request.Param("fieldValidation"), target.resource, target.version, *body);
  if (!warning) return Refuse(warning.error());
  const auto made = door_.With(
      [&](Store& store) { return store.Create(std::move(*body), {.restore = false, .dry_run = IsDryRun(request)}); });
  if (!made) return Refuse(made.error());
  auto response = Answer(request, target, *made, 201);
  if (response) Warn(target, nullptr, *made, *warning, *response);
  return response;
}

ApiResult<HttpResponse> ApiHandler::Update(const HttpRequest& request, const Target& target) {
  auto body = ParseBody(request);
  if (!body) return Refuse(body.error());
  if (auto fits = FitToUrl(target.resource, target.version, target.ns, target.name, *body); !fits) {
    return Refuse(fits.error());
  }
  const auto warning = CheckFields(request.Param("fieldValidation"), target.resource, target.version, *body);
  if (!warning) return Refuse(warning.error());
  Object before;
  const auto updated = door_.With([&](Store& store) {
    before = store.Find(target.resource.id, target.ns, target.name);
    return store.Update(std::move(*body), target.part(), {.dry_run = IsDryRun(request)});
  });
  if (!updated) return Refuse(updated.error());
  auto response = Answer(request, target, *updated, 200);
  if (response) Warn(target, before, *updated, *warning, *response);
  return response;
}

ApiResult<HttpResponse> ApiHandler::Patch(const HttpRequest& request, const Target& target) {
  const auto type = PatchTypeOf(request.content_type);
  if (!type) return Refuse(type.error());
  auto body = ParseBody(request);
  if (!body) return Refuse(body.error());
  std::string warning;
  if (*type == PatchType::kApply) {
    if (auto fits = FitToUrl(target.resource, target.version, target.ns, target.name, *body); !fits) {
      return Refuse(fits.error());
    }
    if (request.Param("fieldManager").empty()) {
      return Refuse(
          Invalid("meta.k8s.io", "PatchOptions", "", {RequiredField("fieldManager", "is required for apply patch")}));
    }
  }
  if (*type == PatchType::kApply || *type == PatchType::kMerge) {
    auto checked = CheckFields(request.Param("fieldValidation"), target.resource, target.version, *body);
    if (!checked) return Refuse(checked.error());
    warning = std::move(*checked);
  }
  Object before;
  const auto patched = door_.With([&](Store& store) {
    before = store.Find(target.resource.id, target.ns, target.name);
    return store.Patch(target.resource.id, target.ns, target.name, *type, *body, target.part(),
                       {.dry_run = IsDryRun(request)});
  });
  if (!patched) return Refuse(patched.error());
  auto response = Answer(request, target, *patched, before ? 200 : 201);
  if (response) Warn(target, before, *patched, warning, *response);
  return response;
}

ApiResult<HttpResponse> ApiHandler::Delete(const HttpRequest& request, const Target& target) {
  const auto options = DeleteOptionsOf(request);
  if (!options) return Refuse(options.error());
  const auto deleted =
      door_.With([&](Store& store) { return store.Delete(target.resource.id, target.ns, target.name, *options); });
  if (!deleted) return Refuse(deleted.error());
  if (!deleted->removed || target.resource.id == kPods) return Answer(request, target, deleted->object, 200);
  Json details = {{"name", target.name}, {"kind", target.resource.id.resource}, {"uid", UidOf(*deleted->object)}};
  if (!target.resource.id.group.empty()) details["group"] = target.resource.id.group;
  return JsonResponse({{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object()},
                       {"status", "Success"},
                       {"details", std::move(details)}});
}

ApiResult<HttpResponse> ApiHandler::DeleteCollection(const HttpRequest& request, const Target& target) {
  const auto options = DeleteOptionsOf(request);
  if (!options) return Refuse(options.error());
  auto selectors = SelectorsOf(request, target.resource);
  if (!selectors) return Refuse(selectors.error());
  const auto representation = Representation::Negotiate(request, target.resource, target.version);
  if (!representation) return Refuse(representation.error());
  int64_t version = 0;
  const auto deleted = door_.With([&](Store& store) {
    auto result = store.DeleteCollection(target.resource.id, target.ns, *selectors, *options);
    version = store.resource_version();
    return result;
  });
  if (!deleted) return Refuse(deleted.error());
  const Json meta = {{"resourceVersion", std::to_string(version)}};
  return HttpResponse{.body = representation->RenderList(*deleted, meta, now_ms())};
}

}  // namespace tutti::sim
