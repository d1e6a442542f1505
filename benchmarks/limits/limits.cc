// SPDX-License-Identifier: Apache-2.0
// limits: what one object as large as the API server takes (1.5 MiB) costs. Decoding is the kube-io thread's; the
// longest cycle is what the scheduler thread stood still for everybody else.
//
//   limits [NODES]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/json.h"
#include "base/random.h"
#include "benchmarks/engine/world.h"
#include "cluster/json_decode.h"
#include "cluster/json_text.h"

namespace tutti::bench {
namespace {

using Json = base::Json;

constexpr size_t kMostBytes = 3 * 512 * 1024;
constexpr int kLookedAt = 125;  // that many are, of most things
int many = 10'000;

Json Pod() {
  return {{"kind", "Pod"},
          {"metadata",
           {{"name", "large"}, {"namespace", "default"}, {"uid", "u"}, {"creationTimestamp", "2026-01-02T03:04:05Z"}}},
          {"spec", {{"schedulerName", "default-scheduler"}, {"containers", {{{"name", "c"}}}}}}};
}

// `one` of `i`, as many times as the API server would take.
Json Fill(const std::function<Json(int)>& one, int most = many) {
  Json list = Json::array();
  size_t bytes = 1024;
  for (int i = 0; i < most; ++i) {
    list.push_back(one(i));
    if ((bytes += list.back().dump().size() + 1) > kMostBytes) break;
  }
  return list;
}

Json With(Json object, const char* pointer, Json value) {
  object[Json::json_pointer(pointer)] = std::move(value);
  return object;
}

Json Labels() {
  Json labels = Json::object();
  for (int i = 0; i < many; ++i) labels[fmt::format("label-{}", i)] = "v";
  return labels;
}

Json Values() {
  Json values = Json::array();
  for (int i = 0; i < 10 * many; ++i) values.push_back(fmt::format("v{}", i));
  return values;
}

Json Term(int i) {
  return {{"matchExpressions", {{{"key", fmt::format("k{}", i)}, {"operator", "In"}, {"values", {"v"}}}}}};
}

// A pod affinity term that selects all pods, under a key of its own.
Json Everybody(int i) {
  return {
      {"topologyKey", fmt::format("k{}", i)}, {"labelSelector", Json::object()}, {"namespaceSelector", Json::object()}};
}

struct Case {
  std::string name;
  Json object;
  model::ObjectKind kind = {};
};

std::vector<Case> Cases() {
  const model::ObjectKind ray{"ray.io", "rayclusters", "RayCluster", {"v1"}};
  const model::ObjectKind volcano{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}};
  const auto object = [](const char* kind, Json spec) {
    return Json{{"kind", kind}, {"metadata", {{"name", "g"}, {"namespace", "default"}}}, {"spec", std::move(spec)}};
  };
  Json members = Json::object();
  for (int i = 0; i < many; ++i) members[fmt::format("role-{}", i)] = 1;
  const Json huge = {{"requests", {{"cpu", "9223372036854775807"}, {"memory", "8Ei"}}}};
  Json resources = Json::object();
  for (int i = 0; i < many; ++i) resources[fmt::format("example.com/r{}", i)] = "1";
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  return {
      {"an ordinary pod", Pod()},
      {"labels", With(Pod(), "/metadata/labels", Labels())},
      {"containers of 9.2E cpu",
       With(Pod(), "/spec/containers", Fill([&](int) { return Json{{"name", "c"}, {"resources", huge}}; }))},
      {"resource names", With(Pod(), "/spec/containers/0/resources", {{"requests", resources}})},
      {"tolerations", With(Pod(), "/spec/tolerations",
                           Fill([](int i) { return Json{{"key", fmt::format("k{}", i)}, {"operator", "Exists"}}; }))},
      {"node selector", With(Pod(), "/spec/nodeSelector", Labels())},
      {"node affinity terms",
       With(Pod(), "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
            Fill(Term))},
      {"preferred terms", With(Pod(), "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution",
                               Fill([](int i) { return Json{{"weight", 1}, {"preference", Term(i)}}; }))},
      {"pod anti-affinity terms",
       With(Pod(), "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution", Fill([](int i) {
              return Json{{"topologyKey", "rack"},
                          {"labelSelector", {{"matchLabels", {{fmt::format("k{}", i), "v"}}}}}};
            }))},
      {"anti-affinity to everybody",
       With(Pod(), "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution", Fill(Everybody))},
      {"values of one affinity term",
       With(Pod(), "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
            {{{"matchExpressions", {{{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", Values()}}}}}})},
      {"names of one affinity term",
       With(Pod(), "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
            {{{"matchFields", {{{"key", "metadata.name"}, {"operator", "In"}, {"values", Values()}}}}}})},
      {"preferred pod terms",
       With(Pod(), "/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution", Fill([](int i) {
              return Json{
                  {"weight", 1},
                  {"podAffinityTerm",
                   {{"topologyKey", "rack"}, {"labelSelector", {{"matchLabels", {{fmt::format("k{}", i), "v"}}}}}}}};
            }))},
      {"spread constraints", With(Pod(), "/spec/topologySpreadConstraints",
                                  Fill(
                                      [](int i) {
                                        return Json{{"maxSkew", 1},
                                                    {"topologyKey", fmt::format("k{}", i)},
                                                    {"whenUnsatisfiable", "DoNotSchedule"},
                                                    {"labelSelector", {{"matchLabels", {{"a", "b"}}}}}};
                                      },
                                      many > kLookedAt ? many : 64))},
      {"host ports", With(Pod(), "/spec/containers/0/ports",
                          Fill([](int i) { return Json{{"hostPort", i + 1}, {"containerPort", 1}}; }))},
      {"claims", With(Pod(), "/spec/volumes", Fill([](int i) {
                        return Json{{"name", "v"}, {"persistentVolumeClaim", {{"claimName", fmt::format("c{}", i)}}}};
                      }))},
      {"RayCluster's groups", object("RayCluster", {{"workerGroupSpecs", Fill([](int i) {
                                                       return Json{{"groupName", fmt::format("g{}", i)},
                                                                   {"replicas", 2147483647},
                                                                   {"maxReplicas", 2147483647}};
                                                     })}}),
       ray},
      {"PodGroup's task minima", object("PodGroup", {{"minMember", many}, {"minTaskMember", members}}), volcano},
      {"PodGroup's minResources", object("PodGroup", {{"minMember", 1}, {"minResources", resources}}), volcano},
      {"PodGroup, deep", object("PodGroup", {{"minMember", cluster::ParseJson(deep)}}), volcano},
  };
}

double Milliseconds(const std::function<void()>& work) {
  const auto started = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
}

double LongestCycle(World& world, int cycles) {
  double longest = 0;
  for (int i = 0; i < cycles; ++i) {
    longest = std::max(longest, 1e3 * world.RunOnce());
    world.clock.Advance(1'000);
  }
  return longest;
}

void Run(const Case& one, size_t nodes) {
  World world;
  for (size_t i = 0; i < nodes; ++i) world.Post(MakeNode(i));
  world.Settle();
  const std::string text = one.object.dump();
  std::shared_ptr<const Json> json;
  const double parse = Milliseconds([&] { json = std::make_shared<const Json>(cluster::ParseJson(text)); });
  cluster::FeedEvent event = cluster::KindSynced{"pods"};
  std::vector<std::string> problems;
  const double decode = Milliseconds([&] {
    if (one.kind.resource.empty())
      event = cluster::PodChanged{std::make_shared<const model::Pod>(cluster::DecodePodLeniently(*json, &problems))};
    else if (auto object = cluster::DecodeObject(one.kind, json))
      event = cluster::ObjectChanged{std::make_shared<const model::Object>(std::move(*object))};
  });
  if (const auto* pod = std::get_if<cluster::PodChanged>(&event))
    world.Arrive(pod->pod);
  else
    world.Post(std::move(event));
  const double arrives = LongestCycle(world, 5);
  world.Post(MakeNode(nodes));  // what a change of one node costs while it is there
  const double later = LongestCycle(world, 5);
  fmt::print("{:28} {:8.0f} {:10.1f} {:10.1f} {:12.2f} {:12.2f}\n", one.name, static_cast<double>(text.size()) / 1024,
             parse, decode, arrives, later);
}

cluster::FeedEvent Applied(const model::ObjectKind& kind, const Json& object) {
  return cluster::ObjectChanged{
      std::make_shared<const model::Object>(*cluster::DecodeObject(kind, std::make_shared<const Json>(object)))};
}

// Forty such pods of one tenant run on one node, whoever brought them there: the longest cycle as each comes, that of
// a pod of somebody else that has a disk, of a node that comes, and the longest as each goes.
void RunNeighbours(const Case& one, size_t nodes) {
  World world;
  for (size_t i = 0; i < nodes; ++i) world.Post(MakeNode(i));
  const Json driver = {{"name", "pd.csi.storage.gke.io"}, {"nodeID", "n"}, {"allocatable", {{"count", 100}}}};
  world.Post(Applied(
      {"storage.k8s.io", "csinodes", "CSINode", {"v1"}},
      {{"kind", "CSINode"}, {"metadata", {{"name", MakeNode(0).meta.name}}}, {"spec", {{"drivers", {driver}}}}}));
  world.Settle();
  std::vector<std::string> problems;
  const auto decode = [&](const Json& pod) {
    return std::make_shared<const model::Pod>(cluster::DecodePodLeniently(pod, &problems));
  };
  std::vector<std::shared_ptr<const model::Pod>> pods;
  double comes = 0, goes = 0;
  for (int p = 0; p < 40; ++p) {
    Json pod = one.object;
    pod["metadata"]["name"] = pod["metadata"]["uid"] = fmt::format("neighbour-{}", p);
    pod["spec"]["nodeName"] = MakeNode(0).meta.name;
    pod["spec"]["priority"] = p;  // a class of its own
    world.Post(cluster::PodChanged{pods.emplace_back(decode(pod))});
    comes = std::max(comes, LongestCycle(world, 2));
  }
  const Json disk = {{"name", "v"}, {"gcePersistentDisk", {{"pdName", "disk"}}}};
  world.Arrive(decode(With(With(Pod(), "/metadata/namespace", "other"), "/spec/volumes", {disk})));
  const double another = LongestCycle(world, 5);
  world.Post(MakeNode(nodes));
  const double node = LongestCycle(world, 5);
  for (const auto& pod : pods) {
    world.Post(cluster::PodGone{pod->meta.ns, pod->meta.name, pod->meta.uid});
    goes = std::max(goes, LongestCycle(world, 2));
  }
  fmt::print("{:28} {:12.2f} {:12.2f} {:12.2f} {:12.2f}\n", one.name, comes, another, node, goes);
}

// A gang of so many subgroups of so many one-GPU pods, each subgroup in one rack and all in one cluster; `full` nodes
// have no GPU left. The longest cycle while its pods come, and that in which the last came.
void RunSubGroups(size_t subgroups, size_t size, size_t nodes, size_t full) {
  World world;
  for (size_t i = 0; i < nodes; ++i) world.Post(MakeNode(i, i < full ? 0 : 8));
  const model::ObjectKind hyper{"topology.volcano.sh", "hypernodes", "HyperNode", {"v1alpha1"}};
  const auto hyper_node = [&](const std::string& name, int tier, const Json& member) {
    world.Post(Applied(
        hyper,
        {{"kind", "HyperNode"}, {"metadata", {{"name", name}}}, {"spec", {{"tier", tier}, {"members", {member}}}}}));
  };
  for (int rack = 0; rack < 50; ++rack)
    hyper_node(
        fmt::format("rack-{}", rack), 1,
        {{"type", "Node"}, {"selector", {{"labelMatch", {{"matchLabels", {{"rack", fmt::format("r{}", rack)}}}}}}}});
  hyper_node("all", 2, {{"type", "HyperNode"}, {"selector", {{"regexMatch", {{"pattern", "^rack-"}}}}}});
  const model::ObjectKind volcano{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}};
  const Json policy = {{"name", "workers"},
                       {"subGroupSize", size},
                       {"minSubGroups", subgroups},
                       {"matchLabelKeys", {"part"}},
                       {"networkTopology", {{"highestTierAllowed", 1}}}};
  world.Post(Applied(volcano, {{"kind", "PodGroup"},
                               {"metadata", {{"name", "g"}, {"namespace", "default"}}},
                               {"spec",
                                {{"minMember", subgroups * size},
                                 {"networkTopology", {{"highestTierAllowed", 2}}},
                                 {"subGroupPolicy", {policy}}}}}));
  world.Settle();
  const auto spec = std::make_shared<const model::PodSpec>(MakeSpec(1000, int64_t{1} << 30, 1));
  double arriving = 0, last = 0;
  for (size_t i = 0; i < subgroups * size; ++i) {
    auto pod = MakePod(fmt::format("p-{:05}", i), spec, 1'000'000);
    pod->meta.labels = {{"part", std::to_string(i / size)}};
    pod->meta.annotations = {{"scheduling.k8s.io/group-name", "g"}};
    world.Arrive(std::move(pod));
    if (i % 100 != 99 && i + 1 != subgroups * size) continue;
    arriving = std::max(arriving, last);
    last = 1e3 * world.RunOnce();
  }
  const double later = 1e3 * world.Settle();
  fmt::print("{:>10} {:>6} {:>10} {:>12.2f} {:>12.2f} {:>12.2f}\n", subgroups, size, world.bound, arriving, last,
             later);
}

// One gang of so many pods, all of one second: the longest cycle while they come a hundred at a time, that in which the
// last came, the longest after it, and that in which all of them go, as after a list.
void RunLargeGang(size_t members, bool fits, size_t nodes) {
  World world;
  for (size_t i = 0; i < nodes; ++i) world.Post(MakeNode(i, fits ? 8 : 0));
  const model::ObjectKind volcano{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}};
  world.Post(Applied(volcano, {{"kind", "PodGroup"},
                               {"metadata", {{"name", "g"}, {"namespace", "default"}}},
                               {"spec", {{"minMember", members}}}}));
  world.Settle();
  const auto spec = std::make_shared<const model::PodSpec>(MakeSpec(1000, int64_t{1} << 30, 1));
  std::vector<std::shared_ptr<const model::Pod>> pods;
  double comes = 0, last = 0, after = 0;
  for (size_t i = 0; i < members; ++i) {
    auto pod = MakePod(fmt::format("p-{:05}", i * 7919 % members), spec, 1'000'000);
    pod->meta.annotations = {{"scheduling.k8s.io/group-name", "g"}};
    world.Arrive(pods.emplace_back(std::move(pod)));
    if (i % 100 != 99 && i + 1 != members) continue;
    comes = std::max(comes, last);
    last = 1e3 * world.RunOnce();
  }
  for (uint64_t bound = members; bound != world.bound || world.bound == 0;) {
    bound = world.bound;
    after = std::max(after, LongestCycle(world, 20));
    if (!fits) break;
  }
  for (const auto& pod : pods) world.Post(cluster::PodGone{pod->meta.ns, pod->meta.name, pod->meta.uid});
  const double go = 1e3 * world.RunOnce();
  fmt::print("{:>10} {:>10} {:>12.2f} {:>12.2f} {:>12.2f} {:>12.2f}\n", members, world.bound, comes, last, after, go);
}

struct Unlike {
  const char* name;
  size_t kinds, of_each, racks;
  std::string annotation, value;  // what the pods ask for beside room
  bool together = false;          // by pod affinity, in one rack
  int own = 0;                    // resources of its own that each pod asks for, which no node has
};

// A gang whose members are of many sizes that do not quite go into the nodes: so many kinds of so many pods each, on
// nodes of 32 cpu, of which the gang asks for 99 %. The longest cycle while it is found that it cannot start, or that
// this takes too long to find; and the longest after that, while pods elsewhere come and go.
void RunUnlike(const Unlike& one) {
  World world;
  base::Random random(1);
  std::vector<int64_t> sizes;
  int64_t sum = 0;
  for (size_t k = 0; k < one.kinds; ++k) sum += sizes.emplace_back(random.Between(5'000, 17'000)) * one.of_each;
  const size_t nodes = static_cast<size_t>(sum / 32'000 * 100 / 99) + 1;
  for (size_t i = 0; i < nodes; ++i) {
    model::Node node = MakeNode(i);
    node.meta.labels = {{"kubernetes.io/hostname", node.meta.name}, {"rack", fmt::format("r{}", i % one.racks)}};
    world.Post(std::move(node));
  }
  world.Post(Applied({"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}},
                     {{"kind", "PodGroup"},
                      {"metadata", {{"name", "g"}, {"namespace", "default"}}},
                      {"spec", {{"minMember", one.kinds * one.of_each}}}}));
  world.Settle();
  std::vector<std::string> problems;
  for (size_t k = 0; k < one.kinds; ++k)
    for (size_t i = 0; i < one.of_each; ++i) {
      Json pod = With(Pod(), "/metadata/annotations/scheduling.k8s.io~1group-name", "g");
      pod["metadata"]["name"] = pod["metadata"]["uid"] = fmt::format("p-{}-{}", k, i);
      pod["metadata"]["labels"] = {{"app", "g"}};
      pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = fmt::format("{}m", sizes[k]);
      for (int r = 0; r < one.own; ++r)
        pod["spec"]["containers"][0]["resources"]["requests"][fmt::format("example.com/r{}-{}-{}", k, i, r)] = "1";
      if (!one.annotation.empty()) pod["metadata"]["annotations"][one.annotation] = one.value;
      if (one.annotation == "tutti.dev/topology-slice") pod["metadata"]["annotations"][one.annotation + "-size"] = "4";
      if (one.together)
        pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {
            {{"topologyKey", "rack"}, {"labelSelector", {{"matchLabels", {{"app", "g"}}}}}}};
      world.Arrive(std::make_shared<const model::Pod>(cluster::DecodePodLeniently(pod, &problems)));
    }
  const double decided = LongestCycle(world, 5);
  world.Post(MakeNode(nodes));
  const double later = LongestCycle(world, 5);
  fmt::print("{:44} {:>6} {:>6} {:>6} {:>6} {:>12.2f} {:>12.2f}\n", one.name, one.kinds, one.kinds * one.of_each, nodes,
             world.bound, decided, later);
}

}  // namespace
}  // namespace tutti::bench

int main(int argc, char** argv) {
  const size_t nodes = argc > 1 ? std::stoul(argv[1]) : 5'000;
  for (const auto& [what, how_many] : {std::pair("as large as the API server takes", 10'000),
                                       std::pair("as large as is looked at", tutti::bench::kLookedAt)}) {
    tutti::bench::many = how_many;
    fmt::print("\n{}; {} nodes; milliseconds\n{:28} {:>8} {:>10} {:>10} {:>12} {:>12}\n", what, nodes,
               "one object with many", "KiB", "parse", "decode", "cycle", "node comes");
    for (const auto& one : tutti::bench::Cases()) tutti::bench::Run(one, nodes);
    fmt::print("\n{:28} {:>12} {:>12} {:>12} {:>12}\n", "40 pods that run, each with", "comes", "another pod",
               "node comes", "goes");
    for (const auto& one : tutti::bench::Cases())
      if (one.kind.resource.empty()) tutti::bench::RunNeighbours(one, nodes);
  }
  fmt::print("\nsubgroups of one gang, each in one HyperNode; milliseconds\n{:>10} {:>6} {:>10} {:>12} {:>12} {:>12}\n",
             "subgroups", "of", "bound", "pods come", "decided", "and after");
  for (const size_t full : {size_t{0}, nodes - nodes / 50})
    for (const auto& [subgroups, size] :
         {std::pair<size_t, size_t>{2, 8}, {4, 8}, {8, 8}, {64, 8}, {128, 4}, {500, 2}, {2000, 2}})
      tutti::bench::RunSubGroups(subgroups, size, nodes, full);
  fmt::print("\none gang of many pods; milliseconds\n{:>10} {:>10} {:>12} {:>12} {:>12} {:>12}\n", "pods", "bound",
             "pods come", "decided", "and after", "all go");
  for (const bool fits : {true, false})
    for (const size_t members : {100, 1'000, 10'000}) tutti::bench::RunLargeGang(members, fits, nodes);
  fmt::print(
      "\none gang of unlike pods that ask for 99 % of all nodes; milliseconds\n{:44} {:>6} {:>6} {:>6} {:>6} {:>12} "
      "{:>12}\n",
      "it is", "kinds", "pods", "nodes", "bound", "decided", "node comes");
  for (const tutti::bench::Unlike& one : std::initializer_list<tutti::bench::Unlike>{
           {"anywhere", 4, 30, 60, "", ""},
           {"anywhere", 12, 10, 60, "", ""},
           {"anywhere", 120, 1, 60, "", ""},
           {"anywhere", 1'000, 1, 60, "", ""},
           {"in one of 2 racks", 12, 10, 2, "tutti.dev/topology-required", "rack"},
           {"in slices of 4 of a rack", 12, 10, 20, "tutti.dev/topology-slice", "rack"},
           {"better in one of 60 racks", 12, 10, 60, "tutti.dev/topology-preferred", "rack"},
           {"better in one of 60 racks", 120, 1, 60, "tutti.dev/topology-preferred", "rack"},
           {"better in one of 60 racks, and with affinity", 12, 10, 60, "tutti.dev/topology-preferred", "rack", true},
           {"better in one of 60 racks, and with affinity", 120, 8, 60, "tutti.dev/topology-preferred", "rack", true},
           {"with affinity", 12, 10, 60, "", "", true},
           {"with affinity", 1'000, 1, 60, "", "", true},
           {"each pod with 200 resources of its own", 1'000, 1, 60, "", "", false, 200}})
    tutti::bench::RunUnlike(one);
}
