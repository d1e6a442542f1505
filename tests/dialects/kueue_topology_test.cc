// SPDX-License-Identifier: Apache-2.0
// Topologies of Kueue: levels, what gangs ask of them, and the places that Workloads state.
#include <map>
#include <string>
#include <vector>

#include "tests/dialects/kueue_objects.h"

namespace tutti::dialects::kueue {

using Texts = std::vector<std::string>;

TEST_CASE("a Workload says in which domains of its flavor's topology its pods have places") {
  Cluster cluster;
  cluster.Add("topologies",
              Named("Topology", "t", Json::parse(R"({"levels":[{"nodeLabel":"block"},{"nodeLabel":"rack"}]})")));
  cluster.Add("resourceflavors", Named("ResourceFlavor", "default-flavor", {{"topologyName", "t"}}));
  CHECK(cluster.dialect.DescribeFlavor("default-flavor")->levels == Texts{"block", "rack"});
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  model::Node node;
  node.meta.name = "n";
  node.meta.labels = model::StringMap{{"block", "b"}, {"rack", "r"}};
  model::StringMap none;
  Touched touched;
  cluster.dialect.AddNodeLabels(node, &none, &touched);
  cluster.report.quota.has = HeldBy(key, "uid-j");
  cluster.report.nodes_by_role = {{"head", {{"n", 1}}}};
  cluster.Settle(key);
  CHECK(cluster.At("Workload", key.name)["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] ==
        Json::parse(R"({"levels":["block","rack"],"domains":[{"values":["b","r"],"count":1}],
          "slices":[{"domainCount":1,"podCounts":{"individual":[1]},"valuesPerLevel":[
            {"individual":{"roots":["b"]}},{"individual":{"roots":["r"]}}]}]})"));
  cluster.dialect.DropNode("n");
  cluster.report.nodes_by_role = {{"head", {{"n", 1}}}};
  cluster.Settle(key);
  CHECK_FALSE(
      cluster.At("Workload", key.name)["status"]["admission"]["podSetAssignments"][0].contains("topologyAssignment"));
}

namespace {

// The Workload ns/w of one pod set, which has what `set` says, too.
Json Jobless(const Json& set) {
  Json workload = Json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns","name":"w",
      "uid":"w","creationTimestamp":"2026-08-20T09:59:00Z"},"spec":{"queueName":"user-queue","podSets":[
      {"name":"one","count":4,"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  workload["spec"]["podSets"][0].update(set);
  return workload;
}

Json OfLevels(const Texts& labels) {
  Json levels = Json::array();
  for (const std::string& label : labels) levels.push_back({{"nodeLabel", label}});
  return {{"levels", levels}};
}

model::StringMap LabelsAdded(Cluster& cluster, model::StringMap own) {
  model::Node node;
  node.meta.name = "n";
  node.meta.labels = std::move(own);
  model::StringMap added;
  Touched touched;
  cluster.dialect.AddNodeLabels(node, &added, &touched);
  return added;
}

}  // namespace

TEST_CASE("a domain of a Topology is known by those around it, a node by its name alone") {
  Cluster cluster;
  cluster.touched = {};
  cluster.Add("topologies", Named("Topology", "t", OfLevels({"block", "rack", "kubernetes.io/hostname"})));
  CHECK(cluster.touched.nodes);
  CHECK(LabelsAdded(cluster, {{"block", "b"}, {"kubernetes.io/hostname", "n"}, {"rack", "r"}}) ==
        model::StringMap{{"kueue.x-k8s.io/levels/block,rack", "b,r"}});
  CHECK(LabelsAdded(cluster, {{"rack", "r"}}).empty());
}

TEST_CASE("a gang asks for its levels by the Topologies of its queue's flavors, and in their labels") {
  Cluster cluster;
  cluster.Add("workloads", Jobless({{"topologyRequest",
                                     {{"required", "rack"},
                                      {"podSetSliceRequiredTopology", "kubernetes.io/hostname"},
                                      {"podSetSliceSize", 2}}}}));
  const model::GangKey key{"kueue", "ns", "w"};
  const auto asked = [&] { return cluster.dialect.Describe(key).roles.at(0).topology; };
  CHECK(asked().required == "rack");
  cluster.Add("topologies", Named("Topology", "t", OfLevels({"block", "rack", "kubernetes.io/hostname"})));
  CHECK(asked().required == "rack");
  cluster.touched = {};
  cluster.Add("resourceflavors", Named("ResourceFlavor", "default-flavor", {{"topologyName", "t"}}));
  CHECK(cluster.touched.gangs == std::set{key});
  CHECK(asked().required == "kueue.x-k8s.io/levels/block,rack");
  CHECK(asked().slice_level == "kubernetes.io/hostname");
  cluster.Add("topologies", Named("Topology", "t", OfLevels({"zone", "rack"})));
  CHECK(asked().required == "kueue.x-k8s.io/levels/zone,rack");
  cluster.Add("topologies", Named("Topology", "t", OfLevels({"rack"})));
  CHECK(asked().required == "rack");
}

TEST_CASE("places that a Workload's status states are in domains that are known by those around them") {
  Cluster cluster;
  const auto places = [&](const char* assignment) {
    Json workload = Jobless(Json::object());
    workload["status"] = {
        {"conditions", Json::array({{{"type", "QuotaReserved"}, {"status", "True"}}})},
        {"admission",
         {{"clusterQueue", "cluster-queue"},
          {"podSetAssignments", Json::array({{{"name", "one"}, {"topologyAssignment", Json::parse(assignment)}}})}}}};
    cluster.Add("workloads", workload);
    const auto has = cluster.dialect.Describe({"kueue", "ns", "w"}).quota->has;
    REQUIRE(has);
    std::map<std::string, int64_t> counts;
    for (const auto& place : has->roles.at(0).places)
      counts[place.level + "=" + place.value] = place.count;
    return counts;
  };
  const std::map<std::string, int64_t> two{{"kueue.x-k8s.io/levels/block,rack=a,r1", 1},
                                           {"kueue.x-k8s.io/levels/block,rack=b,r1", 2}};
  CHECK(places(R"({"levels":["block","rack"],"domains":[{"values":["a","r1"],"count":1},{"values":["b","r1"],"count":2}]})") == two);
  CHECK(places(R"({"levels":["block","rack"],"slices":[{"domainCount":2,"podCounts":{"individual":[1,2]},"valuesPerLevel":[
      {"individual":{"roots":["a","b"]}},{"universal":"r1"}]}]})") == two);
  // However many domains a status says it has, so many are read.
  CHECK(places(R"({"levels":["block"],"slices":[{"domainCount":2147483647,"podCounts":{"universal":1},"valuesPerLevel":[
      {"universal":"x"}]}]})") == std::map<std::string, int64_t>{{"block=x", 20'000}});
}

}  // namespace tutti::dialects::kueue
