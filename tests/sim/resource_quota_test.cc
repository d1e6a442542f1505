// SPDX-License-Identifier: Apache-2.0
// ResourceQuotas: what is used, by which objects, and that it is free again. What is refused, and in which words, is
// compared with a real API server (apiserver_comparison.py).
#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

struct QuotaFixture : WorldFixture {
  QuotaFixture() { AddNode("n"); }
  void AddQuota(const std::string& spec) {
    ApplyYaml("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: default}\nspec: " + spec + "\n");
    world.Pump();
  }
  // status.used, as one line.
  std::string Used() {
    world.Pump();
    return Dig(*store().Find(kResourceQuotas, "default", "q"), "status", "used").dump();
  }
  void SetPhase(const std::string& pod, const char* phase) {
    REQUIRE(
        store().Modify(kPods, "default", pod, [&](Json& object) { object["status"]["phase"] = phase; }, Part::kStatus));
  }
  // Why such a pod is not created; empty: it is.
  std::string Refused(const std::string& name, const std::string& cpu, Json spec = Json::object()) {
    spec["containers"] = {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}};
    const auto created = store().Create({{"apiVersion", "v1"},
                                         {"kind", "Pod"},
                                         {"metadata", {{"name", name}, {"namespace", "default"}}},
                                         {"spec", std::move(spec)}});
    return created ? "" : created.error().message;
  }
};

TEST_CASE("a pod counts for its quota until it has ended, and an object until it is gone") {
  QuotaFixture w;
  w.AddPod("before", "1");
  w.AddQuota("{hard: {pods: '2', requests.cpu: '3', count/pods: '3'}}");
  CHECK(w.Used() == R"({"count/pods":"1","pods":"1","requests.cpu":"1"})");
  CHECK(w.Refused("a", "2500m") ==
        "pods \"a\" is forbidden: exceeded quota: q, requested: requests.cpu=2500m, used: requests.cpu=1, limited: "
        "requests.cpu=3");
  CHECK(w.Refused("a", "500m").empty());
  CHECK(w.Used() == R"({"count/pods":"2","pods":"2","requests.cpu":"1500m"})");
  CHECK_FALSE(w.Refused("b", "100m").empty());
  w.SetPhase("before", "Succeeded");
  CHECK(w.Used() == R"({"count/pods":"2","pods":"1","requests.cpu":"500m"})");
  CHECK(w.Refused("b", "2").empty());
  REQUIRE(w.store().Delete(kPods, "default", "before"));
  REQUIRE(w.store().Delete(kPods, "default", "b", {.grace_seconds = 0}));
  CHECK(w.Used() == R"({"count/pods":"1","pods":"1","requests.cpu":"500m"})");
}

TEST_CASE("a quota with scopes is for the pods of these alone") {
  QuotaFixture w;
  w.AddQuota(
      "{hard: {pods: '0'}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: "
      "[system-node-critical]}]}}");
  CHECK(w.Refused("plain", "1").empty());
  CHECK_THAT(w.Refused("urgent", "1", {{"priorityClassName", "system-node-critical"}}),
             Catch::Contains("exceeded quota: q"));
  CHECK(w.Used() == R"({"pods":"0"})");
}

TEST_CASE("what is limited by an edit of the quota is counted from then on") {
  QuotaFixture w;
  w.AddQuota("{hard: {pods: '1'}}");
  w.AddPod("a", "1");
  REQUIRE(w.store().Modify(kResourceQuotas, "default", "q",
                           [](Json& quota) { quota["spec"]["hard"] = {{"cpu", "1"}, {"pods", "5"}}; }));
  CHECK(w.Used() == R"({"cpu":"1","pods":"1"})");
  CHECK_THAT(w.Refused("b", "1"), Catch::Contains("requested: cpu=1, used: cpu=1, limited: cpu=1"));
  REQUIRE(w.store().Delete(kResourceQuotas, "default", "q"));
  CHECK(w.Refused("b", "1").empty());
}

}  // namespace
}  // namespace tutti::sim
