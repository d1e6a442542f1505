// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/limits/large_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/limits/pod_wire.h"
#include "cluster/json_text.h"

namespace tutti::bench {

const model::ObjectKind kVolcanoPodGroup{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}};

namespace {

const model::ObjectKind kRayCluster{"ray.io", "rayclusters", "RayCluster", {"v1"}};
constexpr size_t kAnnotations = 256 * 1024;  // the most bytes of annotations that the API server accepts

constexpr const char* kNodeTerms =
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
constexpr const char* kPreferredNodeTerms =
    "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kAntiAffinity = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferredPodTerms = "/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution";

Json List(int many, const std::function<Json(int)>& one) {
  Json list = Json::array();
  for (int i = 0; i < many; ++i) list.push_back(one(i));
  return list;
}

// Makes a map in key order, because any other order would take quadratic time.
Json Map(int many, const char* prefix, const Json& value) {
  Json map = Json::object();
  for (int i = 0; i < many; ++i) map[fmt::format("{}{:06}", prefix, i)] = value;
  return map;
}

// Makes pods with a list of so many items at `pointer`.
std::function<Json(int)> Items(const char* pointer, std::function<Json(int)> one) {
  return [pointer, one = std::move(one)](int many) { return With(Pod(), pointer, List(many, one)); };
}

std::function<Json(int)> Entries(const char* pointer, const char* prefix) {
  return [pointer, prefix](int many) { return With(Pod(), pointer, Map(many, prefix, "1")); };
}

Json Labels(const std::string& key) { return {{"matchLabels", {{key, "v"}}}}; }
std::string Key(int i) { return fmt::format("k{}", i); }

// Returns the i-th port's address: each address has all port numbers.
std::string Address(int i) { return fmt::format("10.0.0.{}", i / 65'535); }

Json NodeTerm(int i) { return {{"matchExpressions", {{{"key", Key(i)}, {"operator", "In"}, {"values", {"v"}}}}}}; }
Json PodTerm(int i) { return {{"topologyKey", "rack"}, {"labelSelector", Labels(Key(i))}}; }

// Makes one term of node affinity with so many values.
std::function<Json(int)> Values(const char* where, const char* key) {
  return [where, key](int many) {
    Json values = List(many, [](int i) { return fmt::format("v{}", i); });
    return With(Pod(), kNodeTerms,
                Json::array({{{where, {{{"key", key}, {"operator", "In"}, {"values", std::move(values)}}}}}}));
  };
}

// Makes a pod with many init containers: half of its bytes are init containers without requests, the other half
// resources of the sidecar before them.
Json InitContainers(int many) {
  Json sidecar = {{"name", "s"}, {"restartPolicy", "Always"}};
  sidecar["resources"]["requests"] = Map(many / 2, "example.com/r", "1");
  Json containers = Json::array({std::move(sidecar)});
  for (int i = 0; i < many; ++i) containers.push_back({{"name", Key(i)}});
  return With(Pod(), "/spec/initContainers", std::move(containers));
}

Json Object(const model::ObjectKind& kind, Json spec) {
  return {{"kind", kind.kind}, {"metadata", {{"name", "g"}, {"namespace", "default"}}}, {"spec", std::move(spec)}};
}

Json PodGroup(Json spec) {
  spec.emplace("minMember", 2);
  return Object(kVolcanoPodGroup, std::move(spec));
}

Json WithConditions(int many) {
  Json group = PodGroup(Json::object());
  group["status"]["conditions"] = List(many, [](int i) { return Json{{"type", Key(i)}}; });
  return group;
}

Json RayGroups(int many) {
  return Object(kRayCluster, {{"workerGroupSpecs", List(many, [](int i) {
                                 return Json{{"groupName", fmt::format("g{}", i)},
                                             {"replicas", 2147483647},
                                             {"maxReplicas", 2147483647}};
                               })}});
}

Json TaskGroups(const Json& groups) {
  return With(With(Pod(), "/metadata/annotations/yunikorn.apache.org~1task-groups", groups.dump()),
              "/metadata/annotations/yunikorn.apache.org~1app-id", "g");
}

Json MemberOf(const char* pointer) {
  Json pod = With(Pod(), pointer, "g");
  pod["metadata"]["name"] = pod["metadata"]["uid"] = "member";
  return pod;
}

std::vector<LargeObject> PodGroups() {
  const Json member = MemberOf("/metadata/annotations/scheduling.k8s.io~1group-name");
  const Json ray_pod = With(With(MemberOf("/metadata/labels/ray.io~1cluster"), "/metadata/labels/ray.io~1group", "g1"),
                            "/metadata/labels/ray.io~1node-type", "worker");
  const auto in_spec = [](const char* field, auto many_of) {
    return [field, many_of](int many) { return PodGroup({{field, many_of(many)}}); };
  };
  const auto nothings = [](int many) { return List(many, [](int) { return Json::object(); }); };
  return {
      {"RayCluster's groups", RayGroups, kRayCluster, ray_pod},
      {"PodGroup's task minima",
       [](int many) { return PodGroup({{"minMember", many}, {"minTaskMember", Map(many, "r", 1)}}); }, kVolcanoPodGroup,
       member},
      {"PodGroup's minResources", in_spec("minResources", [](int many) { return Map(many, "example.com/r", "1"); }),
       kVolcanoPodGroup, member},
      {"PodGroup's subgroups", in_spec("subGroupPolicy", nothings), kVolcanoPodGroup, member},
      {"PodGroup's subgroups of racks",
       in_spec("subGroupPolicy",
               [](int many) {
                 return List(many, [](int i) {
                   return Json{{"name", Key(i)},
                               {"matchLabelKeys", {"part"}},
                               {"networkTopology", {{"highestTierAllowed", 1}}}};
                 });
               }),
       kVolcanoPodGroup, member},
      {"PodGroup's conditions", WithConditions, kVolcanoPodGroup, member},
      {"PodGroup, deep",
       [](int) {
         return PodGroup({{"minMember", cluster::ParseJson(std::string(100'000, '[') + std::string(100'000, ']'))}});
       },
       kVolcanoPodGroup, member},
      {"task groups",
       [](int many) { return TaskGroups(List(many, [](int i) { return Json{{"name", Key(i)}, {"minMember", 1}}; })); },
       {},
       {},
       kAnnotations},
      {"task groups without a name", [nothings](int many) { return TaskGroups(nothings(many)); }, {}, {}, kAnnotations},
  };
}

}  // namespace

Json Pod() {
  return {{"kind", "Pod"},
          {"metadata",
           {{"name", "large"}, {"namespace", "default"}, {"uid", "u"}, {"creationTimestamp", "2026-01-02T03:04:05Z"}}},
          {"spec", {{"schedulerName", "default-scheduler"}, {"containers", {{{"name", "c"}}}}}}};
}

Json With(Json object, const char* pointer, Json value) {
  object[Json::json_pointer(pointer)] = std::move(value);
  return object;
}

size_t LargeObject::BytesOf(const Json& object) const {
  return is_pod() ? PodMessage(object).size() : object.dump().size();
}

// Returns the largest number that fits. Names grow with the number, so the first guess is too high.
int LargeObject::Most() const {
  int many = 1'000;
  if (BytesOf(with(many)) == BytesOf(with(1))) return 1;
  for (int guess = 0; guess < 4; ++guess) {
    const size_t bytes = BytesOf(with(many));
    many = static_cast<int>(static_cast<double>(many) * static_cast<double>(most_bytes) / static_cast<double>(bytes));
  }
  return many;
}

std::vector<LargeObject> LargeObjects() {
  const Json huge = {{"requests", {{"cpu", "9223372036854775807"}, {"memory", "8Ei"}}}};
  std::vector<LargeObject> objects = {
      {"an ordinary pod", [](int) { return Pod(); }},
      {"labels", Entries("/metadata/labels", "label-")},
      {"containers of 9.2E cpu",
       Items("/spec/containers", [huge](int) { return Json{{"name", "c"}, {"resources", huge}}; })},
      {"init containers after a sidecar", InitContainers},
      {"resource names", Entries("/spec/containers/0/resources/requests", "example.com/r")},
      {"tolerations", Items("/spec/tolerations", [](int i) { return Json{{"key", Key(i)}, {"operator", "Exists"}}; })},
      {"node selector", Entries("/spec/nodeSelector", "label-")},
      {"node affinity terms", Items(kNodeTerms, NodeTerm)},
      {"empty node affinity terms", Items(kNodeTerms, [](int) { return Json::object(); })},
      {"preferred terms",
       Items(kPreferredNodeTerms, [](int i) { return Json{{"weight", 1}, {"preference", NodeTerm(i)}}; })},
      {"pod anti-affinity terms", Items(kAntiAffinity, PodTerm)},
      {"anti-affinity to all pods", Items(kAntiAffinity,
                                          [](int i) {
                                            return Json{{"topologyKey", Key(i)},
                                                        {"labelSelector", Json::object()},
                                                        {"namespaceSelector", Json::object()}};
                                          })},
      {"values of one affinity term", Values("matchExpressions", "kubernetes.io/hostname")},
      {"names of one affinity term", Values("matchFields", "metadata.name")},
      {"preferred pod terms",
       Items(kPreferredPodTerms, [](int i) { return Json{{"weight", 1}, {"podAffinityTerm", PodTerm(i)}}; })},
      {"spread constraints", Items("/spec/topologySpreadConstraints",
                                   [](int i) {
                                     return Json{{"maxSkew", 1},
                                                 {"topologyKey", Key(i)},
                                                 {"whenUnsatisfiable", i % 2 == 0 ? "DoNotSchedule" : "ScheduleAnyway"},
                                                 {"labelSelector", {{"matchLabels", {{"a", "b"}}}}}};
                                   })},
      {"host ports",
       Items("/spec/containers/0/ports",
             [](int i) { return Json{{"hostPort", i % 65'535 + 1}, {"containerPort", 1}, {"hostIP", Address(i)}}; })},
      {"claims", Items("/spec/volumes",
                       [](int i) {
                         return Json{{"name", "v"}, {"persistentVolumeClaim", {{"claimName", fmt::format("c{}", i)}}}};
                       })},
  };
  std::ranges::move(PodGroups(), std::back_inserter(objects));
  return objects;
}

}  // namespace tutti::bench
