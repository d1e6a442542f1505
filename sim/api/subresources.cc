// SPDX-License-Identifier: Apache-2.0
#include "sim/api/subresources.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/api/representation.h"
#include "sim/store/patch.h"

namespace tutti::sim {
namespace {

Json Success() {
  return {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Success"}, {"code", 201}};
}

bool IsDryRun(const HttpRequest& request) { return request.Param("dryRun") == "All"; }

// A dotted path ("spec.replicas") into an object.
const Json& AtPath(const Json& object, const std::string& dotted) {
  const Json* at = &object;
  size_t begin = 0;
  while (begin <= dotted.size()) {
    const size_t dot = std::min(dotted.find('.', begin), dotted.size());
    at = &Child(*at, std::string_view(dotted).substr(begin, dot - begin));
    begin = dot + 1;
  }
  return *at;
}

void SetPath(Json& object, const std::string& dotted, const Json& value) {
  std::string pointer = "/" + dotted;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  object[Json::json_pointer(pointer)] = value;
}

// --- Binding, eviction ---

ApiResult<HttpResponse> Bind(Store& store, const SubresourceCall& call, const HttpRequest& request) {
  auto body = ParseBody(request);
  if (!body) return Refuse(body.error());
  Json& binding = *body;
  if (!Child(binding, "metadata").is_object()) binding["metadata"] = Json::object();
  const std::string& named = NameOf(binding);
  if (!named.empty() && !call.name.empty() && named != call.name) {
    return Refuse(BadRequest(fmt::format("name in URL does not match name in Binding object")));
  }
  if (!call.name.empty()) binding["metadata"]["name"] = call.name;
  binding["metadata"]["namespace"] = call.ns;
  auto bound = store.Bind(binding, {.dry_run = IsDryRun(request)});
  if (!bound) return Refuse(bound.error());
  return JsonResponse(Success(), 201);
}

bool IsHealthy(const Json& pod) { return !IsTerminating(pod) && IsTrue(pod, "Ready"); }

// minAvailable and maxUnavailable: a number, or a percentage of `total` rounded up.
int64_t Amount(const Json& value, int64_t total) {
  if (value.is_number_integer()) return value.get<int64_t>();
  const std::string& text = StringOf(value);
  return text.ends_with("%") ? (std::atoll(text.c_str()) * total + 99) / 100 : 0;
}

// How many of its pods a budget lets go now. The real cluster keeps that number in its status.
int64_t Allowed(const Store& store, const Json& budget, const LabelSelector& selector) {
  int64_t total = 0, healthy = 0;
  for (const Object& pod : store.All(kPods, NamespaceOf(budget))) {
    if (!selector.Matches(*pod)) continue;
    ++total;
    healthy += IsHealthy(*pod);
  }
  const Json& most = Dig(budget, "spec", "maxUnavailable");
  const int64_t needed =
      most.is_null() ? Amount(Dig(budget, "spec", "minAvailable"), total) : total - Amount(most, total);
  return std::max<int64_t>(0, healthy - needed);
}

ApiResult<HttpResponse> Evict(Store& store, const SubresourceCall& call, const HttpRequest& request) {
  auto body = ParseBody(request);
  if (!body) return Refuse(body.error());
  const auto pod = store.Get(kPods, call.ns, call.name);
  if (!pod) return Refuse(pod.error());
  const bool guarded = PhaseOf(**pod) != "Pending" && !IsFinishedPod(**pod) && !IsTerminating(**pod);
  for (const Object& budget : store.All({"policy", "poddisruptionbudgets"}, call.ns)) {
    const auto selector = LabelSelector::FromJson(Dig(*budget, "spec", "selector"));
    if (!guarded || !selector || !selector->Matches(**pod) || Allowed(store, *budget, *selector) > 0) continue;
    ApiError error{429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {}};
    error.details = {
        {"causes",
         Json::array({{{"reason", "DisruptionBudget"},
                       {"message", fmt::format("The disruption budget {} does not allow it now", NameOf(*budget))}}})}};
    return Refuse(std::move(error));
  }
  const Json& asked = Child(*body, "deleteOptions");
  DeleteOptions options{.uid = DigString(asked, "preconditions", "uid"), .dry_run = IsDryRun(request)};
  if (const Json& grace = Child(asked, "gracePeriodSeconds"); grace.is_number_integer()) options.grace_seconds = grace;
  if (!options.dry_run) {
    store.Modify(
        kPods, call.ns, call.name,
        [&](Json& object) {
          SetCondition(object, {"DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting"},
                       store.now_ms());
        },
        Part::kStatus);
  }
  auto deleted = store.Delete(kPods, call.ns, call.name, options);
  if (!deleted) return Refuse(deleted.error());
  return JsonResponse(Success(), 201);
}

// --- Scale ---

Json SelectorText(const Json& object) {
  std::string text;
  const Json& selector = Dig(object, "spec", "selector");
  const Json& labels = Child(selector, "matchLabels");
  for (const auto& [key, value] : MapOf(labels.is_null() ? selector : labels).items()) {
    if (value.is_string()) text += (text.empty() ? "" : ",") + key + "=" + StringOf(value);
  }
  return text;
}

Json ScaleOf(const Json& object, const ScalePaths& paths) {
  const Json& meta = Child(object, "metadata");
  Json scale = {{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}};
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (meta.contains(field)) scale["metadata"][field] = meta[field];
  }
  scale["spec"]["replicas"] = IntOf(AtPath(object, paths.spec_replicas));
  scale["status"]["replicas"] = IntOf(AtPath(object, paths.status_replicas));
  scale["status"]["selector"] =
      paths.label_selector.empty() ? SelectorText(object) : Json(StringOf(AtPath(object, paths.label_selector)));
  return scale;
}

ApiResult<PatchType> PatchTypeOf(const HttpRequest& request) {
  const std::string& type = request.content_type;
  if (type.find("json-patch") != std::string::npos) return PatchType::kJson;
  if (type.find("strategic-merge-patch") != std::string::npos) return PatchType::kMerge;  // a Scale has no lists
  if (type.find("merge-patch") != std::string::npos) return PatchType::kMerge;
  if (type.find("apply-patch") != std::string::npos) return PatchType::kMerge;
  return Refuse(UnsupportedMediaType("the body of the request was in an unknown format"));
}

ApiResult<HttpResponse> Scale(Store& store, const SubresourceCall& call, const HttpRequest& request) {
  const auto object = store.Get(call.resource.id, call.ns, call.name);
  if (!object) return Refuse(object.error());
  const ScalePaths paths = *call.resource.FindVersion(call.version)->scale;
  Json scale = ScaleOf(**object, paths);
  if (request.method == "GET") return JsonResponse(scale);
  auto body = ParseBody(request);
  if (!body) return Refuse(body.error());
  if (request.method == "PUT") {
    scale = std::move(*body);
  } else if (request.method == "PATCH") {
    const auto type = PatchTypeOf(request);
    if (!type) return Refuse(type.error());
    if (auto patched = ApplyPatch(call.resource, *type, *body, scale); !patched) return Refuse(patched.error());
  } else {
    return Refuse(MethodNotAllowed());
  }
  const Json& replicas = Dig(scale, "spec", "replicas");
  if (!replicas.is_null() && (!replicas.is_number_integer() || IntOf(replicas) < 0)) {
    return Refuse(Invalid("autoscaling", "Scale", call.name,
                          {InvalidField("spec.replicas", replicas, "must be greater than or equal to 0")}));
  }
  const Json version = Dig(scale, "metadata", "resourceVersion");
  auto changed = store.Modify(call.resource.id, call.ns, call.name, [&](Json& next) {
    SetPath(next, paths.spec_replicas, IntOf(replicas));
    if (version.is_string() && request.method == "PUT") next["metadata"]["resourceVersion"] = version;
  });
  if (!changed) return Refuse(changed.error());
  return JsonResponse(ScaleOf(**changed, paths));
}

ApiResult<HttpResponse> Finalize(Store& store, const SubresourceCall& call, const HttpRequest& request) {
  auto body = ParseBody(request);
  if (!body) return Refuse(body.error());
  const Json finalizers = Dig(*body, "spec", "finalizers");
  auto changed = store.Modify(kNamespaces, "", call.name,
                              [&](Json& object) { object["spec"]["finalizers"] = ArrayOf(finalizers); });
  if (!changed) return Refuse(changed.error());
  return JsonResponse(**changed);
}

}  // namespace

ApiResult<HttpResponse> CallSubresource(Store& store, const SubresourceCall& call, const HttpRequest& request) {
  const bool on_pod = call.resource.id == kPods;
  const std::string& sub = call.subresource;
  const bool post = request.method == "POST";
  if (on_pod && sub == "binding") return post ? Bind(store, call, request) : Refuse(MethodNotAllowed());
  if (on_pod && sub == "eviction") return post ? Evict(store, call, request) : Refuse(MethodNotAllowed());
  if (call.resource.id == kNamespaces && sub == "finalize" && request.method == "PUT") {
    return Finalize(store, call, request);
  }
  const ApiVersion* version = call.resource.FindVersion(call.version);
  if (sub == "scale" && version && version->scale) return Scale(store, call, request);
  static const std::set<std::string> of_kubelet = {"log", "exec", "attach", "portforward", "proxy"};
  if (of_kubelet.contains(sub) && (on_pod || call.resource.id == kNodes || call.resource.id == kServices)) {
    return Refuse(ApiError{501, "NotImplemented",
                           fmt::format("{} is not available in the embedded cluster: its pods run no process", sub),
                           Json::object()});
  }
  return Refuse(PathNotFound());
}

std::vector<SubresourceInfo> SubresourcesOf(const ApiResource& resource, const ApiVersion& version) {
  std::vector<SubresourceInfo> all;
  if (resource.id == kPods) {
    all.push_back({"binding", {"", "v1"}, "Binding", {"create"}});
    all.push_back({"eviction", {"policy", "v1"}, "Eviction", {"create"}});
    all.push_back({"resize", {"", "v1"}, "Pod", {"get", "patch", "update"}});
  }
  if (resource.id == kNamespaces) all.push_back({"finalize", {"", "v1"}, "Namespace", {"update"}});
  if (version.scale) all.push_back({"scale", {"autoscaling", "v1"}, "Scale", {"get", "patch", "update"}});
  return all;
}

}  // namespace tutti::sim
