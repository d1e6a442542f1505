// SPDX-License-Identifier: Apache-2.0
#include "app/evaluate.h"

#include <fmt/format.h>

#include "base/json.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

using namespace tutti;
using Catch::Matchers::Contains;
using json = base::Json;

namespace {

json Typed(json object, const char* kind) {
  object["kind"] = kind;
  return object;
}

std::vector<json> Cluster() {
  return {Typed(tests::NodeManifest({{"name", "roomy"}}), "Node"),
          Typed(tests::NodeManifest({{"name", "cordoned"}, {"unschedulable", true}}), "Node"),
          Typed(tests::NodeManifest({{"name", "full"}, {"allocatable", {{"cpu", "1"}}}}), "Node"),
          Typed(tests::PodManifest({{"name", "other"}, {"node", "full"}, {"requests", {{"cpu", "1"}}}}), "Pod"),
          Typed(tests::PodManifest({{"name", "asked"}, {"schedulerName", "s"}, {"requests", {{"cpu", "1"}}}}), "Pod")};
}

}  // namespace

TEST_CASE("evaluate says for each node which filter refuses it, and what each score adds") {
  const auto result = app::Evaluate(Cluster(), {plugins::DefaultProfile("s")}, "default", "asked");
  REQUIRE(result);
  CHECK((*result)["pod"] == "default/asked");
  const auto& nodes = (*result)["nodes"];
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0]["rejectedBy"].dump() ==
        R"([{"plugin":"NodeUnschedulable","reasons":["node(s) were unschedulable"],"resolvable":false}])");
  CHECK(nodes[1]["rejectedBy"].dump() ==
        R"([{"plugin":"NodeResourcesFit","reasons":["Insufficient cpu"],"resolvable":true}])");
  CHECK(nodes[2]["feasible"] == true);
  int64_t sum = 0;
  for (const auto& [plugin, score] : nodes[2]["scores"].items()) sum += score["weighted"].get<int64_t>();
  CHECK(nodes[2]["total"] == sum);
  CHECK(nodes[2]["scores"]["TaintToleration"].dump() == R"({"raw":0,"normalized":100,"weighted":300})");
  CHECK_THAT((*result)["summary"].get<std::string>(), Contains("1/3 nodes are available; the best is roomy"));
  CHECK_THAT(app::EvaluationTable(*result), Contains("Insufficient cpu"));
}

TEST_CASE("evaluate asks about a pod that a scheduler bound as if it were not there") {
  auto objects = Cluster();
  objects.back()["spec"]["nodeName"] = "cordoned";
  objects.back()["status"]["conditions"] = {{{"type", "PodScheduled"}, {"status", "True"}}};
  const auto result = app::Evaluate(objects, {plugins::DefaultProfile("s")}, "default", "asked");
  REQUIRE(result);
  CHECK_THAT((*result)["summary"].get<std::string>(), Contains("1/3 nodes are available; the best is roomy"));
}

TEST_CASE("evaluate takes the node that a pod names without having been scheduled for its wish") {
  auto objects = Cluster();
  objects.back()["spec"]["nodeName"] = "full";
  const auto result = app::Evaluate(objects, {plugins::DefaultProfile("s")}, "default", "asked");
  REQUIRE(result);
  CHECK((*result)["summary"] ==
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match the requested node name, "
        "1 node(s) were unschedulable.");
}

TEST_CASE("evaluate knows what selects the pod, and label keys beside selectors, in any order of the objects") {
  const auto host = [](const char* name) {
    return Typed(tests::NodeManifest({{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}), "Node");
  };
  json asked = tests::PodManifest({{"name", "asked"}, {"schedulerName", "s"}, {"labels", {{"app", "a"}, {"v", "2"}}}});
  asked["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {
      {{"topologyKey", "kubernetes.io/hostname"},
       {"labelSelector", {{"matchLabels", {{"app", "a"}}}}},
       {"matchLabelKeys", {"v"}}}};
  const json service = {{"kind", "Service"},
                        {"metadata", {{"name", "a"}, {"namespace", "default"}}},
                        {"spec", {{"selector", {{"app", "a"}}}}}};
  const auto result = app::Evaluate(
      {Typed(asked, "Pod"), host("x"), host("y"), host("z"),
       Typed(tests::PodManifest({{"name", "old"}, {"node", "x"}, {"labels", {{"app", "a"}, {"v", "1"}}}}), "Pod"),
       Typed(tests::PodManifest({{"name", "new"}, {"node", "y"}, {"labels", {{"app", "a"}, {"v", "2"}}}}), "Pod"),
       service},
      {plugins::DefaultProfile("s")}, "default", "asked");
  REQUIRE(result);
  const auto& nodes = (*result)["nodes"];
  CHECK(nodes[0]["scores"]["PodTopologySpread"]["normalized"] < 100);
  CHECK(nodes[1]["rejectedBy"][0]["plugin"] == "InterPodAffinity");
  CHECK(nodes[2]["scores"]["PodTopologySpread"]["normalized"] == 100);
}

namespace {

base::Result<std::vector<json>> Prepared(const std::string& yaml) {
  auto manifests = sim::ParseManifests(yaml, "f.yaml");
  if (!manifests) return tl::make_unexpected(manifests.error());
  return app::PrepareToEvaluate(*std::move(manifests));
}

std::string PodYaml(const std::string& spec, const std::string& version = "v1") {
  return fmt::format("---\napiVersion: {}\nkind: Pod\nmetadata: {{name: p}}\nspec: {{{}}}\n", version, spec);
}

}  // namespace

TEST_CASE("evaluate refuses what the API server would, and says where it stands") {
  const std::string one = "containers: [{name: c, image: i}]";
  const std::string prefer =
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Inn, values: [b]}]}]}}}, ";
  for (const std::string& bad :
       {PodYaml("containers: [{name: c, image: i, resources: [a]}]"),
        PodYaml("tolerations: [{operator: Exist}], " + one), PodYaml(prefer + one),
        PodYaml("topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}], " +
                one),
        PodYaml("containers: []"), PodYaml("nodeSelectorr: {a: b}, " + one), PodYaml(one, "v2")}) {
    const auto prepared = Prepared(bad);
    INFO(bad);
    REQUIRE_FALSE(prepared);
    CHECK_THAT(prepared.error().message,
               Catch::StartsWith("f.yaml:5: ") || Catch::StartsWith("f.yaml: document 1, line 2: "));
  }
  CHECK_THAT(
      Prepared("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {taints: [{key: a, effect: NoSchedul}]}\n")
          .error()
          .message,
      Contains("f.yaml:3: ") && Contains("NoSchedul"));
  CHECK_THAT(Prepared(PodYaml(one) + PodYaml(one)).error().message,
             Contains("f.yaml: document 2, line 7: ") && Contains("already exists"));
}

TEST_CASE("evaluate takes what the API server takes, with its defaults, and leaves the rest aside") {
  const auto prepared = Prepared(
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: 4, memory: 8Gi, pods: 10}}\n" +
      PodYaml("schedulerName: s, priorityClassName: high, containers: [{name: c, image: i, resources: {limits: {cpu: "
              "3}}}]") +
      "---\napiVersion: serving.example.com/v1\nkind: Service\nmetadata: {name: s}\nspec: {template: {}}\n"
      "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n");
  INFO((prepared ? "" : prepared.error().message));
  REQUIRE(prepared);
  REQUIRE(prepared->size() == 2);
  const auto result = app::Evaluate(*prepared, {plugins::DefaultProfile("s")}, "default", "p");
  REQUIRE(result);
  CHECK_THAT((*result)["summary"].get<std::string>(), Contains("1/1 nodes are available"));
}

TEST_CASE("evaluate names what it cannot answer") {
  const auto profiles = std::vector{plugins::DefaultProfile("s")};
  CHECK_THAT(app::Evaluate(Cluster(), profiles, "default", "missing").error().message,
             Contains("no Pod default/missing"));
  CHECK_THAT(app::Evaluate(Cluster(), {plugins::DefaultProfile("t")}, "default", "asked").error().message,
             Contains("schedulerName is \"s\", which no profile serves"));
}

namespace {

std::string NodesYaml() {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: 4, memory: 8Gi, pods: 10}}\n"
         "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\nstatus: {capacity: {cpu: 4, memory: 8Gi, pods: 10}}\n"
         "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n";
}

// `more` goes into its spec.
std::string NamedPod(const std::string& name, int cpu, const std::string& more, const std::string& status = "") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}\nspec: {{schedulerName: s, {}containers: [{{name: c, "
      "image: "
      "i, resources: {{requests: {{cpu: {}}}}}}}]}}\n{}",
      name, more, cpu, status.empty() ? "" : fmt::format("status: {{{}}}\n", status));
}

nlohmann::ordered_json Asked(const std::string& yaml) {
  auto prepared = Prepared(yaml);
  INFO((prepared ? "" : prepared.error().message));
  REQUIRE(prepared);
  auto result = app::Evaluate(*std::move(prepared), {plugins::DefaultProfile("s")}, "default", "asked");
  REQUIRE(result);
  return *std::move(result);
}

}  // namespace

TEST_CASE("evaluate says which pods would be evicted for one that does not fit, by its PriorityClass") {
  const std::string running = NodesYaml() + NamedPod("a", 3, "nodeName: n1, ") + NamedPod("b", 3, "nodeName: n2, ") +
                              NamedPod("c", 1, "nodeName: n2, priorityClassName: high, ");
  const auto result = Asked(running + NamedPod("asked", 3, "priorityClassName: high, "));
  CHECK(result["preemption"].dump() ==
        R"({"eligible":true,"message":"0/2 nodes are available: 2 Insufficient cpu.","nominatedNode":"n1",)"
        R"("victims":["default/a"],"candidates":[{"node":"n1","victims":["default/a"],"pdbViolations":0},)"
        R"({"node":"n2","victims":["default/b"],"pdbViolations":0}],"note":"Which pods are of gangs is not looked at: )"
        R"(of a gang only what it can spare goes for this pod."})");
  CHECK_THAT(app::EvaluationTable(result), Contains("With default/a gone it fits n1, which would be chosen.") &&
                                               Contains("With default/b gone it fits n2.\nWhich pods are of gangs"));
  const auto none = Asked(running + NamedPod("asked", 3, ""));
  CHECK(
      none["preemption"]["message"] ==
      "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found "
      "for incoming pod.");
  CHECK(none["preemption"]["candidates"].empty());
  CHECK_FALSE(none["preemption"].contains("note"));
}

TEST_CASE("evaluate counts pods for which a node is kept, unless their priority is lower") {
  const std::string kept =
      NodesYaml() + NamedPod("waits", 3, "priorityClassName: high, ", "phase: Pending, nominatedNodeName: n1");
  const auto lower = Asked(kept + NamedPod("asked", 3, ""));
  CHECK(lower["nodes"][0]["feasible"] == false);
  CHECK(lower["nodes"][0]["rejectedBy"].dump() ==
        R"([{"plugin":"NodeResourcesFit","reasons":["Insufficient cpu"],"resolvable":true}])");
  CHECK(lower["nodes"][1]["feasible"] == true);
  CHECK_FALSE(lower.contains("preemption"));
  const auto equal = Asked(kept + NamedPod("asked", 3, "priorityClassName: high, "));
  CHECK(equal["nodes"][0]["feasible"] == false);
  const std::string low = NodesYaml() + NamedPod("waits", 3, "", "phase: Pending, nominatedNodeName: n1");
  CHECK(Asked(low + NamedPod("asked", 3, "priorityClassName: high, "))["nodes"][0]["feasible"] == true);
}
