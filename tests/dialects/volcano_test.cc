// SPDX-License-Identifier: Apache-2.0
#include "dialects/volcano.h"

#include <algorithm>

#include "tests/dialects/objects.h"
#include "tests/dialects/volcano_objects.h"

namespace tutti::dialects {
namespace {

std::shared_ptr<const model::Object> Class(const std::string& name, const std::string& value) {
  return ObjectFrom("scheduling.k8s.io/v1", "priorityclasses",
                    R"({"kind":"PriorityClass","metadata":{"name":")" + name + R"("},"value":)" + value + "}");
}

// What KubeRay writes, read, and reported on.
struct VolcanoFixture {
  Volcano volcano;
  Teller teller{volcano};
  model::GangSpec spec;
  GangReport report;

  explicit VolcanoFixture(
      const std::string& group_spec = R"({"minMember":3,"minResources":{"cpu":"3","memory":"4Gi"},"queue":"q"})",
      const std::string& status = "{}") {
    Put(volcano, VolcanoGroup("g", group_spec, status));
    spec = volcano.Describe(kVolcanoGang);
    report.spec = &spec;
    report.now_wall_ms = kNow;
    Waiting(3);
  }
  void Waiting(int64_t pending) {
    report.state = GangState::kWaitingForQueue;
    report.total = report.pending = pending;
    report.pending_reasons = {{"Unschedulable", pending}};
  }
  void Whole(int64_t bound, int64_t running) {
    report.state = GangState::kWhole;
    report.total = bound + running;
    report.pending = 0;
    report.bound = bound;
    report.running = running;
    report.pending_reasons.clear();
    report.sentence.clear();
  }
};

}  // namespace

TEST_CASE("a Volcano PodGroup is read") {
  Volcano volcano;
  Put(volcano, Class("high", "1000"));
  const Touched touched =
      Put(volcano, VolcanoGroup("g", R"({"minMember":4,"minTaskMember":{"worker":2,"head":1,"none":0},"queue":"q",
      "minResources":{"cpu":"3500m","memory":4294967296},"priorityClassName":"high"})"));
  REQUIRE(touched.gangs == std::set<model::GangKey>{kVolcanoGang});
  REQUIRE(touched.queues == std::set<std::string>{"q", "root"});
  const model::GangSpec gang = volcano.Describe(kVolcanoGang);
  CHECK(gang.problem == "");
  CHECK(gang.uid == "u-g");
  CHECK(gang.created_ms == kNow - 3600 * 1000);
  CHECK(gang.min_member == 4);
  CHECK(gang.roles == std::vector<model::RoleSpec>{{"head", 1, 1}, {"worker", 2, 1}});
  CHECK(gang.min_resources->Get("cpu") == 3500);
  CHECK(gang.min_resources->Get("memory") == int64_t{4} << 30);
  CHECK(gang.queue == "q");
  CHECK(gang.priority == 1000);
  CHECK(volcano.EventTarget(kVolcanoGang)->uid() == "u-g");
}

TEST_CASE("a PodGroup that says little means what Volcano means") {
  Volcano volcano;
  Put(volcano, VolcanoGroup("g", "{}"));
  const model::GangSpec gang = volcano.Describe(kVolcanoGang);
  CHECK(gang.problem == "");
  CHECK(gang.min_member == 0);
  CHECK(gang.queue == "default");
  CHECK_FALSE(gang.min_resources);
  CHECK_FALSE(gang.priority);
}

TEST_CASE(
    "what minResources names in the words of a ResourceQuota, as Volcano's controllers do, is no node's resource") {
  Volcano volcano;
  Put(volcano, VolcanoGroup("g", R"({"minMember":1,"minResources":{
      "cpu":"1","memory":"1Gi","pods":"1","ephemeral-storage":"2","hugepages-2Mi":"3","nvidia.com/gpu":"4",
      "count/pods":"1","requests.cpu":"1","requests.memory":"1Gi","limits.cpu":"2","limits.memory":"2Gi",
      "requests.nvidia.com/gpu":"4","requests.hugepages-2Mi":"3","requests.storage":"5","persistentvolumeclaims":"1",
      "fast.storageclass.storage.k8s.io/requests.storage":"5","fast.storageclass.storage.k8s.io/persistentvolumeclaims":"1"
      }})"));
  const model::GangSpec gang = volcano.Describe(kVolcanoGang);
  CHECK(gang.problem == "");
  REQUIRE(gang.min_resources);
  std::vector<std::string> names;
  for (const auto& [name, amount] : *gang.min_resources) names.push_back(name);
  std::ranges::sort(names);
  CHECK(names ==
        std::vector<std::string>{"cpu", "ephemeral-storage", "hugepages-2Mi", "memory", "nvidia.com/gpu", "pods"});
}

TEST_CASE("minTaskMember counts only where minMember is at least its sum") {
  Volcano volcano;
  Put(volcano, VolcanoGroup("g", R"({"minMember":2,"minTaskMember":{"a":2,"b":1}})"));
  CHECK(volcano.Describe(kVolcanoGang).roles.empty());
  CHECK(volcano.Describe(kVolcanoGang).problem == "");
}

TEST_CASE("what cannot be read in a PodGroup is said, with the field and the remedy") {
  const std::pair<const char*, const char*> hostile[] = {
      {R"({"minMember":-1})", "PodGroup ns/g: spec.minMember: -1 cannot be; write a whole number from 0 to 2147483647"},
      {R"({"minMember":2147483648})",
       "PodGroup ns/g: spec.minMember: 2147483648 cannot be; write a whole number from 0 to 2147483647"},
      {R"({"minMember":18446744073709551615})",
       "PodGroup ns/g: spec.minMember: 18446744073709551615 cannot be; write a whole number from 0 to 2147483647"},
      {R"({"minMember":1.5})",
       "PodGroup ns/g: spec.minMember: 1.5 cannot be; write a whole number from 0 to 2147483647"},
      {R"({"minMember":"many\nmore"})",
       "PodGroup ns/g: spec.minMember: \"many\\nmore\" cannot be; write a whole number from 0 to 2147483647"},
      {R"({"minTaskMember":{"w":-3}})",
       "PodGroup ns/g: spec.minTaskMember.w: -3 cannot be; write a whole number from 0 to 2147483647"},
      {R"({"minTaskMember":[]})", "PodGroup ns/g: spec.minTaskMember: [] is not an object"},
      {R"({"minResources":{"cpu":"1e30"}})",
       "PodGroup ns/g: spec.minResources.cpu: \"1e30\" is more than any cluster has; write a smaller amount"},
      {R"({"minResources":{"cpu":"-1"}})", "PodGroup ns/g: spec.minResources.cpu: \"-1\" is negative; write 0 or more"},
      {R"({"queue":7})", "PodGroup ns/g: spec.queue: 7 is not a string"},
      {R"({"networkTopology":{"highestTierName":"spine"}})",
       "PodGroup ns/g: spec.networkTopology.highestTierName: no HyperNode has the tier \"spine\"; create it, or name "
       "another"},
      {R"({"networkTopology":{"highestTierAllowed":-1}})",
       "PodGroup ns/g: spec.networkTopology.highestTierAllowed: -1 cannot be; write a whole number from 0 to "
       "2147483647"},
      {R"({"subGroupPolicy":[{"minSubGroups":-2}]})",
       "PodGroup ns/g: spec.subGroupPolicy[0].minSubGroups: -2 cannot be; write a whole number from 0 to 2147483647"},
      {R"({"subGroupPolicy":[{},{"subGroupSize":0}]})",
       "PodGroup ns/g: spec.subGroupPolicy[1].subGroupSize: 0 cannot be; write a whole number from 1 to 2147483647"},
  };
  for (const auto& [spec, problem] : hostile) {
    Volcano volcano;
    Put(volcano, VolcanoGroup("g", spec));
    CHECK(volcano.Describe(kVolcanoGang).problem == problem);
  }
  Volcano volcano;
  Put(volcano, VolcanoGroup("g", R"({"minResources":{"cpu":"abc"}})"));
  CHECK_THAT(volcano.Describe(kVolcanoGang).problem,
             Catch::StartsWith("PodGroup ns/g: spec.minResources.cpu: \"abc\" is not a quantity"));
  Put(volcano, VolcanoGroup("g", R"({"minMember":2147483647,"networkTopology":{"mode":"soft"}})"));
  CHECK(volcano.Describe(kVolcanoGang).problem == "");
  CHECK(volcano.Describe(kVolcanoGang).min_member == 2147483647);
}

TEST_CASE("a subGroupPolicy says how large its subgroups are and how many there must be") {
  Volcano volcano;
  Put(volcano, VolcanoGroup("g", R"({"minMember":4,"subGroupPolicy":[
      {"name":"workers","subGroupSize":2,"minSubGroups":3,"matchLabelKeys":["part"]},{"labelSelector":{"matchLabels":{"a":"b"}}}]})"));
  const model::GangSpec gang = volcano.Describe(kVolcanoGang);
  CHECK(gang.problem == "");
  CHECK(gang.units == std::vector<model::UnitSpec>{{"workers", 2, 3}, {"spec.subGroupPolicy[1]", 1, 0}});
  const auto unit = [&](const std::string& labels) {
    return volcano
        .MembershipOf(PodFrom(R"({"annotations":{"scheduling.k8s.io/group-name":"g"},"labels":)" + labels + "}"))
        ->unit;
  };
  const auto first = unit(R"({"part":"0"})");
  REQUIRE(first);
  CHECK(first->spec == 0);
  CHECK(unit(R"({"part":"0","x":"y"})")->name == first->name);
  CHECK(unit(R"({"part":"1"})")->name != first->name);
  CHECK_FALSE(unit(R"({"a":"b"})"));  // nothing is asked of those
  CHECK_FALSE(unit("{}"));
}

TEST_CASE("a list longer than any group's is not read, and the limit is said") {
  const auto with = [](const char* field, Json value) {
    Volcano volcano;
    Put(volcano, VolcanoGroup("g", Json{{"minMember", 2'000}, {field, std::move(value)}}.dump()));
    return volcano.Describe(kVolcanoGang);
  };
  const auto named = [](int count) {
    Json map = Json::object();
    for (int i = 0; i < count; ++i) map["n" + std::to_string(i)] = 1;
    return map;
  };
  const auto selecting = [](size_t values) {  // eight beside the values
    return Json::array(
        {{{"labelSelector",
           {{"matchExpressions",
             {{{"key", "k"}, {"operator", "In"}, {"values", std::vector<std::string>(values, "v")}}}}}}}});
  };
  CHECK(with("minTaskMember", named(1'000)).roles.size() == 1'000);
  CHECK(with("minResources", named(256)).min_resources->items().size() == 256);
  CHECK(with("subGroupPolicy", std::vector<Json>(256, Json::object())).units.size() == 256);
  CHECK(with("subGroupPolicy", selecting(4'096 - 8)).problem == "");

  const model::GangSpec tasks = with("minTaskMember", named(1'001));
  CHECK(tasks.roles.empty());
  CHECK(tasks.problem ==
        "PodGroup ns/g: spec.minTaskMember: 1001 items are more than the 1000 that are looked at; write fewer");
  const model::GangSpec resources = with("minResources", named(257));
  CHECK_FALSE(resources.min_resources);
  CHECK(resources.problem ==
        "PodGroup ns/g: spec.minResources: 257 items are more than the 256 that are looked at; write fewer");
  const model::GangSpec policies = with("subGroupPolicy", std::vector<Json>(257, Json::object()));
  CHECK(policies.units.empty());
  CHECK(policies.problem ==
        "PodGroup ns/g: spec.subGroupPolicy: 257 items are more than the 256 that are looked at; write fewer");
  const model::GangSpec values = with("subGroupPolicy", selecting(4'096 - 7));
  CHECK(values.units.empty());
  CHECK(values.problem ==
        "PodGroup ns/g: spec.subGroupPolicy: it holds more than the 4096 values that are looked at; write fewer");
}

TEST_CASE("a missing PodGroup is said in one line whatever its name holds") {
  Volcano volcano;
  CHECK(volcano.Describe(kVolcanoGang).problem ==
        "PodGroup ns/g does not exist in API group scheduling.volcano.sh; create it, or take its name out of the pods' "
        "annotation "
        "scheduling.k8s.io/group-name");
  const std::string hostile = "a\nb\x01\xff" + std::string(10000, 'x');
  const std::string problem = volcano.Describe({"volcano", "ns", hostile}).problem;
  CHECK(problem.size() < 400);
  CHECK_THAT(problem, Catch::StartsWith("PodGroup ns/\"a b ?xxx"));
  Touched touched;
  volcano.Served("podgroups.scheduling.volcano.sh", false, &touched);
  CHECK(volcano.Describe(kVolcanoGang).problem ==
        "PodGroup ns/g cannot exist, for the API server does not serve podgroups.scheduling.volcano.sh; install its "
        "CustomResourceDefinition");
}

TEST_CASE("a change of a PodGroup touches its gang when the declaration changed") {
  Volcano volcano;
  Put(volcano, VolcanoGroup("g", R"({"minMember":3})"));
  CHECK(Put(volcano, VolcanoGroup("g", R"({"minMember":3})")).gangs.empty());
  CHECK(Put(volcano, VolcanoGroup("g", R"({"minMember":3})", R"({"phase":"Running"})")).gangs.empty());
  CHECK(Put(volcano, VolcanoGroup("g", R"({"minMember":4})")).gangs.size() == 1);
  Touched touched;
  volcano.Drop("podgroups.scheduling.volcano.sh", "ns", "g", &touched);
  CHECK(touched.gangs.size() == 1);
  CHECK_THAT(volcano.Describe(kVolcanoGang).problem, Catch::Contains("does not exist"));
}

TEST_CASE("a PriorityClass may come after the PodGroup that names it, and go") {
  Volcano volcano;
  Put(volcano, VolcanoGroup("g", R"({"priorityClassName":"high"})"));
  CHECK_FALSE(volcano.Describe(kVolcanoGang).priority);
  CHECK(Put(volcano, Class("other", "7")).gangs.empty());
  CHECK(Put(volcano, Class("high", "7")).gangs.size() == 1);
  CHECK(volcano.Describe(kVolcanoGang).priority == 7);
  Touched touched;
  volcano.Drop("priorityclasses.scheduling.k8s.io", "", "high", &touched);
  CHECK(touched.gangs.size() == 1);
  CHECK_FALSE(volcano.Describe(kVolcanoGang).priority);
  Put(volcano, VolcanoGroup("g", R"({"priorityClassName":"system-node-critical"})"));
  CHECK(volcano.Describe(kVolcanoGang).priority == 2000001000);
}

TEST_CASE("a pod of a Volcano gang") {
  Volcano volcano;
  CHECK_FALSE(volcano.MembershipOf(PodFrom("{}")));
  CHECK_FALSE(volcano.MembershipOf(PodFrom(R"({"annotations":{"scheduling.k8s.io/group-name":""}})")));
  CHECK_FALSE(volcano.MembershipOf(PodFrom(R"({"annotations":{"scheduling.volcano.sh/group-name":"g"}})")));

  auto member = volcano.MembershipOf(PodFrom(
      R"({"annotations":{"scheduling.k8s.io/group-name":"g","volcano.sh/task-spec":"t"},"labels":{"volcano.sh/task-spec":"label"}})"));
  REQUIRE(member);
  CHECK(member->gang == kVolcanoGang);
  CHECK(member->role == "t");
  CHECK_FALSE(member->head);
  CHECK(volcano
            .MembershipOf(PodFrom(
                R"({"annotations":{"scheduling.k8s.io/group-name":"g"},"labels":{"volcano.sh/task-spec":"label"}})"))
            ->role == "label");
}

TEST_CASE("a Ray head is a head in a Volcano gang, and a worker of KubeRay's gang needs one") {
  Volcano volcano;
  const auto pod = [&](const std::string& group, const std::string& type) {
    return *volcano.MembershipOf(PodFrom(R"({"annotations":{"scheduling.k8s.io/group-name":")" + group + R"("},
        "labels":{"ray.io/cluster":"c","ray.io/group":"x","ray.io/node-type":")" +
                                         type + R"("}})"));
  };
  CHECK(pod("ray-c-pg", "head").head);
  CHECK_FALSE(pod("ray-c-pg", "head").needs_head);
  CHECK(pod("ray-c-pg", "worker").needs_head);
  CHECK(pod("ray-c-pg", "worker").role == "x");
  CHECK_FALSE(pod("workers-only", "worker").needs_head);
}

TEST_CASE("the group that Volcano's controller makes for the strays of a RayCluster is no gang") {
  Volcano volcano;
  const auto pod = [&](const std::string& kind) {
    return volcano.MembershipOf(
        PodFrom(R"({"annotations":{"scheduling.k8s.io/group-name":"podgroup-123"},"labels":{"ray.io/cluster":"c",
        "ray.io/node-type":"worker"},"ownerReferences":[{"apiVersion":"x","kind":")" +
                kind + R"(","name":"c","uid":"123","controller":true}]})"));
  };
  CHECK_FALSE(pod("RayCluster"));
  CHECK(pod("ReplicaSet"));
}

TEST_CASE("a full queue: Pending and Unschedulable in Volcano's words, then why") {
  VolcanoFixture f;
  f.report.sentence =
      "gang ns/g cannot start 3 of its 3 members: queue \"q\" is full: cpu capability 4, used 3, asked 3 (short by 2).";
  const auto patch = f.teller.Write(f.report);
  REQUIRE(patch);
  CHECK(patch->status);
  CHECK(patch->type == cluster::Patch::Type::kMerge);
  CHECK(patch->object.uid() == "u-g");
  CHECK(patch->object.resource == "podgroups");
  const Json status = StatusIn(patch);
  CHECK(status["phase"] == "Pending");
  CHECK(status["running"].is_null());
  REQUIRE(status["conditions"].size() == 1);
  const Json& condition = status["conditions"][0];
  CHECK(condition["type"] == "Unschedulable");
  CHECK(condition["status"] == "True");
  CHECK(condition["reason"] == "NotEnoughResources");
  CHECK(condition["message"] ==
        "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable. "
        "Origin reason is " +
            f.report.sentence);
  CHECK(condition["lastTransitionTime"] == "2026-08-20T10:00:00Z");
  CHECK(condition["transitionID"].get<std::string>().size() == 36);
}

TEST_CASE("the message without a sentence of ours is Volcano's to the letter") {
  VolcanoFixture f;
  CHECK(StatusIn(f.teller.Write(f.report))["conditions"][0]["message"] ==
        "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable");
}

TEST_CASE("the counts are sorted by bytes, and what is short is never more than there is") {
  VolcanoFixture f(R"({"minMember":20})");
  f.report.state = GangState::kWaitingForNodes;
  f.report.total = 13;
  f.report.pending = 10;
  f.report.bound = 1;
  f.report.running = 2;
  f.report.pending_reasons = {{"SchedulerError", 1}, {"Unschedulable", 9}};
  f.report.nodes_sentence = "0/4 nodes are available: 4 Insufficient cpu.";
  CHECK(StatusIn(f.teller.Write(f.report))["conditions"][0]["message"] ==
        "13/13 tasks in gang unschedulable: pod group is not ready, 1 Bound, 10 Pending, 2 Running, 20 minAvailable; "
        "Pending: 1 SchedulerError, 9 Unschedulable. Origin reason is 0/4 nodes are available: 4 Insufficient cpu.");
}

TEST_CASE("an invalid PodGroup says so in its condition") {
  VolcanoFixture f(R"({"minMember":-1})");
  f.report.state = GangState::kInvalid;
  f.report.sentence = f.spec.problem;
  const Json status = StatusIn(f.teller.Write(f.report));
  CHECK(status["phase"] == "Pending");
  CHECK(status["conditions"][0]["message"] ==
        "3/3 tasks in gang unschedulable: PodGroup ns/g: spec.minMember: -1 cannot be; write a whole number from 0 to "
        "2147483647");
}

TEST_CASE(
    "a gang that starts after waiting keeps the old condition and gains Scheduled, even before its first write is "
    "seen") {
  VolcanoFixture f;
  REQUIRE(f.teller.Write(f.report));
  f.report.now_wall_ms += 5000;
  f.Whole(1, 2);
  const Json status = StatusIn(f.teller.Write(f.report));
  CHECK(status["phase"] == "Running");
  CHECK(status["running"] == 2);
  REQUIRE(status["conditions"].size() == 2);
  CHECK(status["conditions"][0]["type"] == "Unschedulable");
  CHECK(status["conditions"][0]["lastTransitionTime"] == "2026-08-20T10:00:00Z");
  CHECK(status["conditions"][1]["type"] == "Scheduled");
  CHECK(status["conditions"][1]["reason"] == "tasks in gang are ready to be scheduled");
  CHECK(status["conditions"][1]["status"] == "True");
  CHECK_FALSE(status["conditions"][1].contains("message"));
  CHECK(status["conditions"][1]["lastTransitionTime"] == "2026-08-20T10:00:05Z");
}

TEST_CASE("phases are Volcano's") {
  struct Row {
    GangState state;
    int64_t pending, bound, running, succeeded, failed;
    const char* before;
    const char* phase;
  };
  const Row rows[] = {
      {GangState::kWaitingForMembers, 1, 0, 0, 0, 0, "", "Inqueue"},
      {GangState::kWaitingForQueue, 3, 0, 0, 0, 0, "Inqueue", "Pending"},
      {GangState::kWaitingForNodes, 3, 0, 0, 0, 0, "Pending", "Inqueue"},
      {GangState::kInvalid, 3, 0, 0, 0, 0, "", "Pending"},
      {GangState::kBinding, 2, 1, 0, 0, 0, "Pending", "Inqueue"},
      {GangState::kBinding, 1, 1, 1, 0, 0, "Inqueue", "Inqueue"},
      {GangState::kWhole, 0, 3, 0, 0, 0, "Inqueue", "Running"},
      {GangState::kWhole, 1, 0, 3, 0, 0, "Running", "Running"},
      {GangState::kWhole, 0, 0, 1, 2, 0, "Running", "Running"},
      {GangState::kWhole, 0, 0, 0, 2, 1, "Running", "Completed"},
      {GangState::kWhole, 2, 0, 0, 0, 0, "", "Pending"},
      {GangState::kFinished, 0, 0, 0, 3, 0, "Running", "Completed"},
      // Whole once, now a member short.
      {GangState::kWaitingForNodes, 1, 0, 2, 0, 0, "Running", "Unknown"},
      {GangState::kBinding, 1, 0, 2, 0, 0, "Unknown", "Unknown"},
      // All have ended but one, which waits.
      {GangState::kWhole, 1, 0, 0, 3, 0, "Running", "Running"},
      // They are being deleted.
      {GangState::kTerminating, 0, 0, 1, 0, 0, "Running", "Running"},
  };
  for (const Row& row : rows) {
    VolcanoFixture f(R"({"minMember":3})", std::string(R"({"phase":")") + row.before + "\"}");
    f.report.state = row.state;
    f.report.pending = row.pending;
    f.report.bound = row.bound;
    f.report.running = row.running;
    f.report.succeeded = row.succeeded;
    f.report.failed = row.failed;
    f.report.total = row.pending + row.bound + row.running + row.succeeded + row.failed;
    const auto patch = f.teller.Write(f.report);
    const std::string phase = patch ? StatusIn(patch)["phase"].get<std::string>() : row.before;
    CAPTURE(static_cast<int>(row.state), row.pending, row.bound, row.running);
    CHECK(phase == row.phase);
  }
}

TEST_CASE("a status is written once, and not when the object says it already") {
  VolcanoFixture f;
  const auto first = f.teller.Write(f.report);
  REQUIRE(first);
  f.report.now_wall_ms += 1000;
  CHECK_FALSE(f.teller.Write(f.report));  // on its way

  Json status = StatusIn(first);
  for (const char* counter : {"running", "succeeded", "failed"}) status.erase(counter);
  Put(f.volcano, VolcanoGroup("g", R"({"minMember":3,"queue":"q"})", status.dump(), "2"));
  CHECK_FALSE(f.teller.Write(f.report));  // there

  VolcanoFixture again(R"({"minMember":3})", status.dump());  // a restart
  CHECK_FALSE(again.teller.Write(again.report));

  Put(f.volcano, VolcanoGroup("g", R"({"minMember":3,"queue":"q"})", "{}", "3"));  // another writer wiped it
  CHECK(f.teller.Write(f.report));
}

TEST_CASE("going back to what is observed is written while another write is on its way") {
  VolcanoFixture f(
      R"({"minMember":3})",
      R"({"phase":"Running","running":3,"conditions":[{"type":"Scheduled","status":"True","reason":"tasks in gang are ready to be scheduled"}]})");
  f.Whole(0, 3);
  CHECK_FALSE(f.teller.Write(f.report));
  f.Whole(1, 2);
  CHECK(StatusIn(f.teller.Write(f.report))["running"] == 2);
  f.Whole(0, 3);
  CHECK(StatusIn(f.teller.Write(f.report))["running"] == 3);
}

TEST_CASE("nothing is reported of a PodGroup that is gone, or of a gang without pods") {
  VolcanoFixture f;
  f.Waiting(0);
  CHECK_FALSE(StatusIn(f.teller.Write(f.report)).contains("conditions"));
  Touched touched;
  f.volcano.Drop("podgroups.scheduling.volcano.sh", "ns", "g", &touched);
  f.Waiting(3);
  CHECK_FALSE(f.teller.Write(f.report));
}

TEST_CASE("a status that another filled with nonsense is overwritten") {
  VolcanoFixture f(R"({"minMember":3})",
                   R"({"phase":7,"conditions":[3,{"type":null},{"type":"Unschedulable"}],"running":"x"})");
  const Json status = StatusIn(f.teller.Write(f.report));
  CHECK(status["phase"] == "Pending");
  CHECK(status["conditions"][2]["reason"] == "NotEnoughResources");
}

TEST_CASE("others' conditions stay, and where there are far too many nothing is said beside them") {
  const auto reported = [](size_t others, size_t bytes) {
    Json conditions(others, {{"type", "Theirs"}, {"message", std::string(bytes, 'x')}});
    conditions.push_back({{"type", "Scheduled"}, {"status", "True"}, {"reason", "ours"}});
    VolcanoFixture f(R"({"minMember":3})", Json{{"phase", "Running"}, {"conditions", std::move(conditions)}}.dump());
    return StatusIn(f.teller.Write(f.report));
  };
  CHECK(reported(64, 1)["conditions"].size() == 66);
  CHECK(reported(1, 16'000)["conditions"].size() == 3);
  for (const Json& status : {reported(65, 1), reported(2, 8'192), reported(63, 16'384)}) {
    CHECK(status["phase"] == "Pending");
    CHECK_FALSE(status.contains("conditions"));
  }
}

TEST_CASE("a condition of ours that is longer than ours are stays, and so do others that came meanwhile") {
  const std::string spec = R"({"minMember":3,"queue":"q"})";
  const auto status = [](const char* type, size_t bytes) {
    return Json{{"conditions", {{{"type", type}, {"message", std::string(bytes, 'x')}}}}}.dump();
  };
  VolcanoFixture f(spec, status("Unschedulable", 20'000));
  CHECK_FALSE(StatusIn(f.teller.Write(f.report)).contains("conditions"));
  Put(f.volcano, VolcanoGroup("g", spec, status("Theirs", 10), "2"));
  const Json conditions = StatusIn(f.teller.Write(f.report))["conditions"];
  REQUIRE(conditions.size() == 2);
  CHECK(conditions[0]["type"] == "Theirs");
}

TEST_CASE("what others write into a PodGroup's status is no news, and nothing is written for it") {
  VolcanoFixture f;
  Json status = StatusIn(f.teller.Write(f.report));
  for (const char* counter : {"running", "succeeded", "failed"}) status.erase(counter);
  const std::string spec = R"({"minMember":3,"queue":"q"})";
  CHECK(Put(f.volcano, VolcanoGroup("g", spec, status.dump(), "2")).gangs.size() == 1);  // without minResources
  status["theirs"] = 1;
  for (int i = 0; i < 64; ++i) status["conditions"].push_back({{"type", "Theirs"}});
  CHECK(Put(f.volcano, VolcanoGroup("g", spec, status.dump(), "3")).desires.empty());
  CHECK_FALSE(f.teller.Write(f.report));
  status["conditions"].erase(0);
  Put(f.volcano, VolcanoGroup("g", spec, status.dump(), "4"));
  CHECK(StatusIn(f.teller.Write(f.report))["conditions"].size() == 65);
}

TEST_CASE("that others' conditions have become so many, or so few, that ours may stand beside them is news") {
  VolcanoFixture f(R"({"minMember":3,"queue":"q"})");
  const auto put = [&](int others, const char* version) {
    Json status = {{"phase", "Pending"}};
    for (int i = 0; i < others; ++i) status["conditions"].push_back({{"type", "Theirs"}});
    return Put(f.volcano, VolcanoGroup("g", R"({"minMember":3,"queue":"q"})", status.dump(), version)).desires.size();
  };
  put(65, "2");
  f.teller.Write(f.report);
  CHECK(put(64, "3") == 1);
  CHECK(StatusIn(f.teller.Write(f.report))["conditions"].size() == 65);
  CHECK(put(63, "4") == 0);
}

}  // namespace tutti::dialects
