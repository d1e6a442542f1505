// SPDX-License-Identifier: Apache-2.0
// Elastic jobs: what they ask for, and their Workloads.
#include "dialects/kueue/deadlines.h"
#include "dialects/kueue/slices.h"
#include "tests/dialects/kueue_objects.h"

namespace tutti::dialects::kueue {

namespace {

// An elastic job that runs, with two pods, and its first Workload, which says so.
model::GangKey AddElastic(Cluster* cluster) {
  cluster->Add("jobs", Json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
      "metadata":{"namespace":"ns","name":"e","uid":"uid-e","creationTimestamp":"2026-08-20T09:59:00Z",
        "labels":{"kueue.x-k8s.io/queue-name":"user-queue"},"annotations":{"kueue.x-k8s.io/elastic-job":"true"}},
      "spec":{"suspend":true,"parallelism":2,"completions":100,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}})"));
  const model::GangKey key{"kueue", "ns", WorkloadName("Job", "batch", "e", "uid-e")};
  cluster->Create(key);
  cluster->Edit("Workload", key.name, Json::parse(R"({"status":{
      "conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":""},
                    {"type":"Admitted","status":"True","reason":"Admitted","message":""}],
      "admission":{"clusterQueue":"cluster-queue","podSetAssignments":[
        {"name":"main","count":2,"flavors":{"cpu":"default-flavor"},"resourceUsage":{"cpu":"2"}}]}}})"));
  cluster->Edit("Job", "e", {{"spec", {{"suspend", false}}}});
  return key;
}

// Adds a larger form of that Workload, with so many pods.
void AddNext(Cluster* cluster, const model::GangKey& key, int64_t count) {
  Json next = cluster->At("Workload", key.name);
  next["metadata"]["name"] = "next";
  next["metadata"]["uid"] = "uid-next";
  next["metadata"]["annotations"] = {{"kueue.x-k8s.io/workload-slice-replacement-for", "ns/" + key.name}};
  next["spec"]["podSets"][0]["count"] = count;
  next.erase("status");
  cluster->Add("workloads", next);
}

int64_t AskedBy(const Cluster& cluster, const model::GangKey& key) {
  const model::GangSpec gang = cluster.dialect.Describe(key);
  REQUIRE(gang.quota);
  REQUIRE(gang.promised.size() == 1);
  CHECK(gang.promised[0].count == gang.quota->ask.roles.at(0).count);
  return gang.quota->ask.roles[0].count;
}

}  // namespace

TEST_CASE("an elastic job asks for what it was given, as far as it needs that, until its Workloads say the last size") {
  Cluster cluster;
  const model::GangKey key = AddElastic(&cluster);
  const auto asked = [&](int64_t parallelism) {
    cluster.Edit("Job", "e", {{"spec", {{"parallelism", parallelism}}}});
    return AskedBy(cluster, key);
  };
  CHECK(asked(5) == 2);  // its larger form is not there yet
  AddNext(&cluster, key, 5);
  CHECK(asked(5) == 5);
  CHECK(asked(6) == 5);
  CHECK(asked(4) == 4);
  CHECK(asked(1) == 2);  // that is its first Workload's to say
  Json sets = cluster.At("Workload", "next")["spec"]["podSets"];
  sets[0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1m";
  cluster.Edit("Workload", "next", {{"spec", {{"podSets", sets}}}});
  CHECK(asked(5) == 2);
}

TEST_CASE("an elastic job loses the gate of its pods when it starts, and its own gates stay") {
  Cluster cluster;
  const model::GangKey key = AddElastic(&cluster);
  Json gates = Json::parse(R"([{"name":"kueue.x-k8s.io/elastic-job"},{"name":"own"}])");
  PodSetGrant grant;
  grant.name = "main";
  grant.count = 2;
  PodSet set;
  set.name = "main";
  set.count = 2;
  set.path = "/spec/template";
  const std::vector<PodSet> sets{set};
  Json body = cluster.At("Job", "e");
  body["spec"]["template"]["spec"]["schedulingGates"] = gates;
  const JobKind& kind = *FindJobKind("jobs.batch");
  CHECK(Started(kind, sets, {grant}, body)["spec"]["template"]["spec"]["schedulingGates"] ==
        Json::parse(R"([{"name":"own"}])"));
  gates.erase(1);
  body["spec"]["template"]["spec"]["schedulingGates"] = gates;
  CHECK_FALSE(Started(kind, sets, {grant}, body)["spec"]["template"]["spec"].contains("schedulingGates"));
  // Members that are to come have none either.
  Json pod_sets = cluster.At("Workload", key.name)["spec"]["podSets"];
  pod_sets[0]["template"]["spec"]["schedulingGates"] = gates;
  cluster.Edit("Workload", key.name, {{"spec", {{"podSets", pod_sets}}}});
  CHECK(cluster.dialect.Describe(key).promised.at(0).pod->scheduling_gates.empty());
}

TEST_CASE("a larger Workload gets what the job has also where the first one's status says as much, and is followed") {
  Cluster cluster;
  const model::GangKey key = AddElastic(&cluster);
  Json sets = cluster.At("Workload", key.name)["spec"]["podSets"];
  sets[0]["count"] = 1;
  cluster.Edit("Workload", key.name, {{"spec", {{"podSets", sets}}}});  // it was reduced; its status says two still
  AddNext(&cluster, key, 2);
  model::HeldQuota has = HeldBy(key, "uid-e");
  has.roles = {{"main", 2, {}, {{"cpu", "default-flavor"}}}};
  has.roles[0].requests.Set("cpu", 2000);
  cluster.report.quota.has = has;
  cluster.report.state = GangState::kWhole;
  cluster.Settle(key);
  CHECK(cluster.Condition(key.name, "Finished").starts_with("True WorkloadSliceReplaced"));
  CHECK(cluster.Condition("next", "QuotaReserved").starts_with("True QuotaReserved"));

  // With that deleted, it gets another: the first one's name is taken.
  const auto name_after = [](const std::string& last) { return WorkloadName("Job", "batch", "e", "uid-e\n" + last); };
  cluster.Remove("Workload", "next", "kueue.x-k8s.io");
  CHECK_FALSE(cluster.dialect.Describe(key).quota);
  cluster.Create(key);
  REQUIRE(cluster.Has("Workload", name_after("next")));
  CHECK(cluster.At("Workload", name_after("next"))["metadata"]["annotations"] ==
        Json{{"kueue.x-k8s.io/workload-slice-name", key.name}});
  CHECK(AskedBy(cluster, key) == 2);

  // So it does after a restart, where what the first one had is no more the job's.
  Cluster restarted;
  restarted.Add("workloads", cluster.At("Workload", key.name));
  restarted.Add("jobs", cluster.At("Job", "e"));
  CHECK_FALSE(restarted.dialect.Describe(key).quota);
  restarted.Create(key);
  CHECK(restarted.Has("Workload", name_after(key.name)));
}

TEST_CASE("new pods of an elastic job wait while checks are asked about its larger form, and those that run do not") {
  Cluster cluster;
  const model::GangKey key = AddElastic(&cluster);
  model::Pod pod;
  pod.meta.ns = "ns";
  pod.meta.labels = model::StringMap{{"kueue.x-k8s.io/podset", "main"}};
  pod.meta.annotations = {{"kueue.x-k8s.io/workload", key.name}};
  const auto waits = [&] { return cluster.dialect.MembershipOf(pod)->held; };
  cluster.Edit("Job", "e", {{"spec", {{"parallelism", 5}}}});
  AddNext(&cluster, key, 5);
  CHECK_FALSE(waits());  // its queue has no checks
  const Json agreed = {{"status", {{"admissionChecks", Json::array({{{"name", "budget"}, {"state", "Ready"}}})}}}};
  cluster.Edit("Workload", key.name, agreed);
  cluster.Add("admissionchecks", Named("AdmissionCheck", "budget", {{"controllerName", "example.com/budget"}}));
  cluster.Add("clusterqueues",
              ClusterQueue("cluster-queue", {{"admissionChecks", Json::array({"budget"})},
                                             {"resourceGroups", Json::array({Quota("default-flavor", {{"cpu", 9}})})}}));
  CHECK(waits());
  CHECK(cluster.touched.members.contains(key));
  pod.node_name = "n";
  CHECK_FALSE(waits());
  pod.node_name.clear();

  // It gets the rest, and what the checks have agreed to does not count for it.
  model::HeldQuota has = HeldBy(key, "uid-e");
  has.roles = {{"main", 5, {}, {{"cpu", "default-flavor"}}}};
  cluster.report.quota.has = has;
  cluster.report.state = GangState::kWhole;
  cluster.Settle(key);
  CHECK(cluster.Condition("next", "QuotaReserved").starts_with("True"));
  CHECK(cluster.Condition("next", "Admitted").empty());
  CHECK(cluster.At("Workload", "next")["status"]["admissionChecks"][0]["state"] == "Pending");
  CHECK(cluster.dialect.Describe(key).quota->awaits_checks);
  CHECK(cluster.dialect.Describe(key).quota->places_before_checks);
  CHECK(cluster.At("Job", "e")["spec"]["suspend"] == false);
  CHECK(waits());
  cluster.Edit("Workload", "next", agreed);
  CHECK_FALSE(waits());
  cluster.Settle(key);
  CHECK(cluster.Condition("next", "Admitted").starts_with("True"));
}

TEST_CASE("a larger Workload about which checks are asked again has what the job ran before") {
  const auto holds = [](const char* type, const char* since) {
    return Json{{"type", type}, {"status", "True"}, {"lastTransitionTime", since}};
  };
  const Json replaced = {{"accumulatedPastExecutionTimeSeconds", 60},
                         {"conditions",
                          {holds("Admitted", "2026-08-20T10:00:00Z"), holds("Finished", "2026-08-20T11:00:00Z")}}};
  const Json asked = SucceedingStatus(Json::object(), replaced, true);
  CHECK(PastSeconds(asked) == 3'660);
  CHECK(asked["conditions"].empty());
  CHECK(SucceedingStatus(asked, replaced, true) == asked);
  const Json goes_on = SucceedingStatus(Json::object(), replaced, false);
  CHECK(PastSeconds(goes_on) == 60);
  CHECK(goes_on["conditions"] == Json::array({holds("Admitted", "2026-08-20T10:00:00Z")}));
}

TEST_CASE("a Workload that becomes one of a job's is no gang of its own any more") {
  Cluster cluster;
  const model::GangKey key = AddElastic(&cluster), own{"kueue", "ns", "w"};
  Json alone = cluster.At("Workload", key.name);
  alone["metadata"] = {{"namespace", "ns"}, {"name", "w"}, {"uid", "uid-w"}};
  cluster.Add("workloads", alone);
  CHECK(cluster.dialect.Describe(own).uid == "uid-w");
  cluster.Edit("Workload", "w",
               {{"metadata",
                 {{"annotations", {{"kueue.x-k8s.io/workload-slice-name", key.name}}},
                  {"ownerReferences", cluster.At("Workload", key.name)["metadata"]["ownerReferences"]}}}});
  CHECK(cluster.dialect.Describe(own).uid.empty());
  CHECK(cluster.touched.gangs.contains(own));
}

}  // namespace tutti::dialects::kueue
