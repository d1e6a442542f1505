// SPDX-License-Identifier: Apache-2.0
#include "dialects/scheduler_plugins.h"

#include "tests/dialects/objects.h"

namespace tutti::dialects {
namespace {

std::shared_ptr<const model::Object> PluginsGroup(const std::string& spec, const std::string& status = "{}",
                                                  const std::string& version = "1") {
  return ObjectFrom("scheduling.x-k8s.io/v1alpha1", "podgroups",
                    R"({"kind":"PodGroup","metadata":{"namespace":"ns","name":"g","uid":"u","resourceVersion":")" +
                        version + R"("},"spec":)" + spec + R"(,"status":)" + status + "}");
}

const model::GangKey kPluginsGang{"scheduler-plugins", "ns", "g"};

}  // namespace

TEST_CASE("a scheduler-plugins PodGroup is read") {
  SchedulerPlugins dialect;
  CHECK(Put(dialect, PluginsGroup(R"({"minMember":3,"minResources":{"cpu":"2"},"scheduleTimeoutSeconds":90})"))
            .gangs.contains(kPluginsGang));
  const model::GangSpec gang = dialect.Describe(kPluginsGang);
  CHECK(gang.problem == "");
  CHECK(gang.min_member == 3);
  CHECK(gang.min_resources->Get("cpu") == 2000);
  CHECK(gang.start_timeout_ms == 90'000);
  CHECK(gang.queue == "");
}

TEST_CASE("what cannot be read in a scheduler-plugins PodGroup is said") {
  const std::pair<const char*, const char*> hostile[] = {
      {"{}", "PodGroup ns/g: spec.minMember: is missing; write a whole number from 1"},
      {R"({"minMember":0})", "PodGroup ns/g: spec.minMember: 0 cannot be; write a whole number from 1 to 2147483647"},
      {R"({"minMember":-1})", "PodGroup ns/g: spec.minMember: -1 cannot be; write a whole number from 1 to 2147483647"},
      {R"({"minMember":1,"scheduleTimeoutSeconds":-5})",
       "PodGroup ns/g: spec.scheduleTimeoutSeconds: -5 cannot be; write a whole number from 0 to 2147483647"},
      {R"({"minMember":1,"minResources":{"cpu":"1e30"}})",
       "PodGroup ns/g: spec.minResources.cpu: \"1e30\" is more than any cluster has; write a smaller amount"},
  };
  for (const auto& [spec, problem] : hostile) {
    SchedulerPlugins dialect;
    Put(dialect, PluginsGroup(spec));
    CHECK(dialect.Describe(kPluginsGang).problem == problem);
  }
}

TEST_CASE("of more than 256 resources in minResources none is read") {
  Json resources = Json::object();
  for (int i = 0; i < 257; ++i) resources["r" + std::to_string(i)] = 1;
  SchedulerPlugins dialect;
  Put(dialect, PluginsGroup(Json{{"minMember", 1}, {"minResources", std::move(resources)}}.dump()));
  CHECK_FALSE(dialect.Describe(kPluginsGang).min_resources);
  CHECK(dialect.Describe(kPluginsGang).problem ==
        "PodGroup ns/g: spec.minResources: 257 items are more than the 256 that are looked at; write fewer");
}

TEST_CASE("a pod of a scheduler-plugins gang") {
  SchedulerPlugins dialect;
  CHECK_FALSE(dialect.MembershipOf(PodFrom("{}")));
  const auto lone = dialect.MembershipOf(PodFrom(R"({"labels":{"scheduling.x-k8s.io/pod-group":"g"}})"));
  REQUIRE(lone);
  CHECK(lone->gang == kPluginsGang);
  CHECK(lone->role == "");
  const auto worker = dialect.MembershipOf(PodFrom(
      R"({"labels":{"scheduling.x-k8s.io/pod-group":"c","ray.io/cluster":"c","ray.io/group":"w","ray.io/node-type":"worker"}})"));
  CHECK(worker->role == "w");
  CHECK(worker->needs_head);
  CHECK(
      dialect
          .MembershipOf(PodFrom(
              R"({"labels":{"scheduling.x-k8s.io/pod-group":"c","ray.io/cluster":"c","ray.io/group":"headgroup","ray.io/node-type":"head"}})"))
          ->head);
}

TEST_CASE("no more pods are waited for than the RayCluster makes of which KubeRay made the PodGroup") {
  SchedulerPlugins dialect;
  const auto group = [](const char* owner) {
    return ObjectFrom("scheduling.x-k8s.io/v1alpha1", "podgroups",
                      std::string(R"({"kind":"PodGroup","metadata":{"namespace":"ns","name":"g","uid":"u",)") + owner +
                          R"("resourceVersion":"1"},"spec":{"minMember":4,"minResources":{"cpu":"4"}}})");
  };
  constexpr const char* kOwned =
      R"("ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayCluster","name":"g","uid":"r"}],)";
  const auto cluster = [](int replicas) {
    return ObjectFrom("ray.io/v1", "rayclusters",
                      R"({"kind":"RayCluster","metadata":{"namespace":"ns","name":"g","uid":"r"},"spec":
                          {"workerGroupSpecs":[{"groupName":"w","replicas":)" +
                          std::to_string(replicas) + "}]}}");
  };
  Put(dialect, group(kOwned));
  CHECK(dialect.Describe(kPluginsGang).min_member == 4);
  CHECK(Put(dialect, cluster(3)).gangs.empty());
  CHECK(dialect.Describe(kPluginsGang).min_member == 4);
  CHECK(Put(dialect, cluster(2)).gangs.contains(kPluginsGang));
  const model::GangSpec gang = dialect.Describe(kPluginsGang);
  CHECK(gang.min_member == 3);
  CHECK_FALSE(gang.min_resources);
  CHECK(gang.remark == "PodGroup ns/g has minMember 4, but RayCluster ns/g makes 3 pods: no more are waited for.");
  Put(dialect, cluster(9));
  CHECK(dialect.Describe(kPluginsGang).min_member == 4);
  CHECK(dialect.Describe(kPluginsGang).remark.empty());
  Put(dialect, cluster(0));
  CHECK(dialect.Describe(kPluginsGang).min_member == 1);
  Touched touched;
  dialect.Drop("rayclusters.ray.io", "ns", "g", &touched);
  CHECK(touched.gangs.contains(kPluginsGang));
  CHECK(dialect.Describe(kPluginsGang).min_member == 4);
  Put(dialect, cluster(2));
  Put(dialect, group(""));  // another owner's
  CHECK(dialect.Describe(kPluginsGang).min_member == 4);
}

TEST_CASE("phases are its controller's") {
  struct Row {
    GangState state;
    int64_t pending, bound, running, succeeded, failed;
    const char* before;
    const char* phase;
  };
  const Row rows[] = {
      {GangState::kWaitingForMembers, 2, 0, 0, 0, 0, "", "Pending"},
      {GangState::kInvalid, 3, 0, 0, 0, 0, "", "Pending"},
      {GangState::kWaitingForNodes, 3, 0, 0, 0, 0, "Pending", "Scheduling"},
      {GangState::kBinding, 2, 1, 0, 0, 0, "Scheduling", "Scheduling"},
      {GangState::kWhole, 0, 1, 2, 0, 0, "Scheduling", "Scheduling"},
      {GangState::kWhole, 0, 0, 3, 0, 0, "Scheduling", "Running"},
      {GangState::kWhole, 0, 0, 2, 1, 0, "Running", "Running"},
      {GangState::kWhole, 0, 0, 2, 0, 1, "Running", "Failed"},
      {GangState::kWhole, 0, 0, 3, 0, 0, "Failed", "Running"},
      {GangState::kFinished, 0, 0, 0, 3, 0, "Running", "Finished"},
      {GangState::kFinished, 0, 0, 0, 0, 0, "Finished", "Finished"},
      {GangState::kFinished, 0, 0, 0, 2, 0, "Finished", "Finished"},  // cleaned up one by one
      {GangState::kWaitingForMembers, 0, 0, 1, 0, 0, "Failed", "Failed"},
      {GangState::kTerminating, 0, 0, 1, 0, 0, "Running", "Running"},
      {GangState::kWaitingForNodes, 3, 0, 0, 0, 0, "Finished", "Scheduling"},  // and run again
  };
  for (const Row& row : rows) {
    SchedulerPlugins dialect;
    Put(dialect, PluginsGroup(R"({"minMember":3})", std::string(R"({"phase":")") + row.before + "\"}"));
    const model::GangSpec spec = dialect.Describe(kPluginsGang);
    GangReport report;
    report.spec = &spec;
    report.state = row.state;
    report.pending = row.pending;
    report.bound = row.bound;
    report.running = row.running;
    report.succeeded = row.succeeded;
    report.failed = row.failed;
    report.total = row.pending + row.bound + row.running + row.succeeded + row.failed;
    const auto patch = Teller(dialect).Write(report);
    const std::string phase = patch ? StatusIn(patch)["phase"].get<std::string>() : row.before;
    CAPTURE(static_cast<int>(row.state), row.before, row.running, row.failed);
    CHECK(phase == row.phase);
  }
}

TEST_CASE("scheduleStartTime is set once") {
  SchedulerPlugins dialect;
  Teller teller(dialect);
  Put(dialect, PluginsGroup(R"({"minMember":2})"));
  const model::GangSpec spec = dialect.Describe(kPluginsGang);
  GangReport report;
  report.spec = &spec;
  report.state = GangState::kWaitingForNodes;
  report.total = report.pending = 2;
  report.now_wall_ms = kNow;
  const auto patch = teller.Write(report);
  CHECK(patch->status);
  CHECK(
      StatusIn(patch) ==
      Json::parse(
          R"({"phase":"Scheduling","scheduleStartTime":"2026-08-20T10:00:00Z","running":null,"succeeded":null,"failed":null})"));
  report.now_wall_ms += 60'000;
  CHECK_FALSE(teller.Write(report));
  report.state = GangState::kWhole;
  report.pending = 0;
  report.running = 2;
  CHECK(StatusIn(teller.Write(report))["scheduleStartTime"] == "2026-08-20T10:00:00Z");
  Put(dialect, PluginsGroup(R"({"minMember":2})",
                            R"({"phase":"Running","running":2,"scheduleStartTime":"2026-08-20T10:00:00Z"})", "2"));
  CHECK_FALSE(teller.Write(report));
}

}  // namespace tutti::dialects
