// SPDX-License-Identifier: Apache-2.0
#include "dialects/kuberay.h"

#include "tests/dialects/objects.h"

namespace tutti::dialects {
namespace {

std::shared_ptr<const model::Object> Cluster(const std::string& spec, const std::string& labels = "{}",
                                             const std::string& version = "v1") {
  return ObjectFrom("ray.io/" + version, "rayclusters",
                    R"({"kind":"RayCluster","metadata":{"namespace":"ns","name":"c","uid":"u","labels":)" + labels +
                        R"(},"spec":)" + spec + "}");
}

const model::GangKey kRayGang{"kuberay", "ns", "c"};

model::GangSpec ReadRay(const std::string& spec) {
  KubeRay dialect;
  Put(dialect, Cluster(spec));
  return dialect.Describe(kRayGang);
}

model::Pod RayPodOf(const std::string& type, const std::string& group) {
  return PodFrom(R"({"labels":{"ray.io/cluster":"c","ray.io/group":")" + group + R"(","ray.io/node-type":")" + type +
                 R"("}})");
}

}  // namespace

TEST_CASE("a RayCluster is its head and its worker groups") {
  const model::GangSpec gang = ReadRay(R"({"headGroupSpec":{},"workerGroupSpecs":[
      {"groupName":"small","replicas":2,"minReplicas":1,"maxReplicas":5},
      {"groupName":"multi","replicas":3,"numOfHosts":4}]})");
  CHECK(gang.problem == "");
  CHECK(gang.uid == "u");
  CHECK(gang.roles == std::vector<model::RoleSpec>{{"headgroup", 1, 1}, {"multi", 12, 4}, {"small", 2, 1}});
  CHECK(gang.min_member == 15);
  CHECK(gang.queue == "");
}

TEST_CASE("in KAI's queue the gang is what KAI's pod grouper makes of it: minReplicas, else replicas") {
  KubeRay dialect;
  Put(dialect, Cluster(R"({"workerGroupSpecs":[{"groupName":"a","replicas":5,"minReplicas":2,"numOfHosts":2},
      {"groupName":"b","replicas":3},{"groupName":"c","replicas":3,"minReplicas":0}]})",
                       R"({"kai.scheduler/queue":"q"})"));
  const model::GangSpec gang = dialect.Describe(kRayGang);
  CHECK(gang.queue == "");
  CHECK(gang.roles == std::vector<model::RoleSpec>{{"a", 4, 2}, {"b", 3, 1}, {"c", 3, 1}, {"headgroup", 1, 1}});
}

TEST_CASE("replicas are those that KubeRay will keep") {
  struct Row {
    const char* group;
    int64_t fixed, autoscaled;
  };
  const Row rows[] = {
      {R"({"replicas":2})", 2, 0},
      {R"({})", 0, 0},
      {R"({"minReplicas":3})", 3, 3},
      {R"({"replicas":1,"minReplicas":3})", 3, 3},
      {R"({"replicas":9,"maxReplicas":4})", 4, 0},
      {R"({"replicas":2,"minReplicas":6,"maxReplicas":4})", 4, 4},
      {R"({"replicas":5,"minReplicas":2,"suspend":true})", 0, 0},
      {R"({"replicas":5,"minReplicas":2,"numOfHosts":2})", 10, 4},
      {R"({"replicas":2147483647,"numOfHosts":2147483647})", 2147483647ll * 2147483647ll, 0},
  };
  for (const Row& row : rows) {
    Json group = Json::parse(row.group);
    group["groupName"] = "w";
    CAPTURE(row.group);
    CHECK(ReadRay(Json{{"workerGroupSpecs", {group}}}.dump()).min_member == 1 + row.fixed);
    CHECK(ReadRay(Json{{"workerGroupSpecs", {group}}, {"enableInTreeAutoscaling", true}}.dump()).min_member ==
          1 + row.autoscaled);
  }
}

TEST_CASE("a RayCluster without worker groups is its head") {
  for (const char* spec : {R"({"headGroupSpec":{}})", R"({"workerGroupSpecs":[]})", R"({"workerGroupSpecs":null})"}) {
    CHECK(ReadRay(spec).problem == "");
    CHECK(ReadRay(spec).min_member == 1);
  }
}

TEST_CASE("what is wrong in a RayCluster is said") {
  const std::pair<const char*, const char*> hostile[] = {
      {R"({"suspend":true})", "RayCluster ns/c: spec.suspend: the cluster is suspended; set it to false to start it"},
      {R"({"workerGroupSpecs":{}})", "RayCluster ns/c: spec.workerGroupSpecs: {} is not a list"},
      {R"({"workerGroupSpecs":[{"replicas":1}]})",
       "RayCluster ns/c: spec.workerGroupSpecs[0].groupName: is missing; give each worker group a name"},
      {R"({"workerGroupSpecs":[{"groupName":"a","replicas":-1}]})",
       "RayCluster ns/c: spec.workerGroupSpecs[0].replicas: -1 cannot be; write a whole number from 0 to 2147483647"},
      {R"({"workerGroupSpecs":[{"groupName":"a","numOfHosts":0}]})",
       "RayCluster ns/c: spec.workerGroupSpecs[0].numOfHosts: 0 cannot be; write a whole number from 1 to 2147483647"},
      {R"({"workerGroupSpecs":[{"groupName":"a"},{"groupName":"a"}]})",
       "RayCluster ns/c: spec.workerGroupSpecs[1]: groupName a is taken; give the group a name of its own"},
      {R"({"workerGroupSpecs":[{"groupName":"headgroup"}]})",
       "RayCluster ns/c: spec.workerGroupSpecs[0]: groupName headgroup is reserved for the head; give the group "
       "another name"},
  };
  for (const auto& [spec, problem] : hostile) CHECK(ReadRay(spec).problem == problem);
  KubeRay dialect;
  CHECK(dialect.Describe(kRayGang).problem ==
        "RayCluster ns/c does not exist in API group ray.io; create it, or take its name out of the pods' label "
        "ray.io/cluster");
}

TEST_CASE("of more than a thousand worker groups none is read") {
  const auto with = [](int groups) {
    Json list = Json::array();
    for (int i = 0; i < groups; ++i) list.push_back({{"groupName", "g" + std::to_string(i)}, {"replicas", 1}});
    return ReadRay(Json{{"workerGroupSpecs", std::move(list)}}.dump());
  };
  CHECK(with(1'000).problem == "");
  CHECK(with(1'000).min_member == 1'001);
  CHECK(with(1'001).roles.size() == 1);
  CHECK(with(1'001).problem ==
        "RayCluster ns/c: spec.workerGroupSpecs: 1001 items are more than the 1000 that are looked at; write fewer");
}

TEST_CASE("a RayCluster's status, of which nothing is ours, is no news") {
  KubeRay dialect;
  Put(dialect, Cluster("{}"));
  Json body = *Cluster("{}")->body;
  body["status"] = {{"state", "ready"}};
  const Touched touched = Put(dialect, ObjectFrom("ray.io/v1", "rayclusters", body.dump()));
  CHECK(touched.gangs.empty());
  CHECK(touched.desires.empty());
}

TEST_CASE("a Ray pod's place") {
  KubeRay dialect;
  const auto head = dialect.MembershipOf(RayPodOf("head", "headgroup"));
  REQUIRE(head);
  CHECK(head->gang == kRayGang);
  CHECK(head->role == "headgroup");
  CHECK(head->head);
  CHECK_FALSE(head->needs_head);
  const auto worker = dialect.MembershipOf(RayPodOf("worker", "w"));
  CHECK(worker->role == "w");
  CHECK_FALSE(worker->head);
  CHECK(worker->needs_head);
  CHECK_FALSE(dialect.MembershipOf(RayPodOf("redis-cleanup", "headgroup")));  // runs when the cluster is gone
  CHECK_FALSE(dialect.MembershipOf(PodFrom(R"({"labels":{"ray.io/node-type":"worker"}})")));
}

TEST_CASE("the hosts of a replica that KubeRay names are a unit") {
  KubeRay dialect;
  const auto put = [&](const char* groups) {
    return Put(dialect, Cluster(R"({"enableInTreeAutoscaling":true,"workerGroupSpecs":)" + std::string(groups) + "}"));
  };
  const auto unit = [&](const std::string& group, const std::string& replica) {
    return dialect
        .MembershipOf(PodFrom(R"({"labels":{"ray.io/cluster":"c","ray.io/node-type":"worker","ray.io/group":")" +
                              group + R"(","ray.io/worker-group-replica-name":")" + replica + R"("}})"))
        ->unit;
  };
  CHECK_FALSE(unit("pair", "pair-x"));  // there is no RayCluster yet
  CHECK(put(R"([{"groupName":"single","replicas":2},{"groupName":"pair","minReplicas":3,"numOfHosts":2},
                {"groupName":"four","numOfHosts":4}])")
            .members == std::set<model::GangKey>{kRayGang});
  const model::GangSpec gang = dialect.Describe(kRayGang);
  CHECK(gang.units == std::vector<model::UnitSpec>{{"four", 4, 0, "four"}, {"pair", 2, 3, "pair"}});
  CHECK(gang.roles == std::vector<model::RoleSpec>{{"four", 0, 4}, {"headgroup", 1, 1}, {"pair", 6, 2}, {"single", 0}});
  REQUIRE(unit("pair", "pair-x"));
  CHECK(unit("pair", "pair-x")->spec == 1);
  CHECK(unit("four", "four-x")->spec == 0);
  CHECK(unit("pair", "pair-x")->name == unit("pair", "pair-x")->name);
  CHECK(unit("pair", "pair-x")->name != unit("pair", "pair-y")->name);
  CHECK(unit("pair", "x")->name != unit("four", "x")->name);
  CHECK_FALSE(unit("pair", ""));
  CHECK_FALSE(unit("single", "single-x"));
  CHECK_FALSE(unit("none", "none-x"));
  CHECK_FALSE(dialect.MembershipOf(RayPodOf("worker", "pair"))->unit);  // KubeRay before 1.5 names none

  // The number of workers says nothing about which pod is in which group; the list of groups does.
  const Touched more =
      put(R"([{"groupName":"pair","minReplicas":4,"numOfHosts":2},{"groupName":"four","numOfHosts":4}])");
  CHECK(more.gangs.size() == 1);
  CHECK(more.members.empty());
  CHECK(put(R"([{"groupName":"pair","minReplicas":4,"numOfHosts":2}])").members.size() == 1);
  CHECK(unit("pair", "pair-x")->spec == 0);
  Touched touched;
  dialect.Drop("rayclusters.ray.io", "ns", "c", &touched);
  CHECK(touched.members.size() == 1);
  CHECK_FALSE(unit("pair", "pair-x"));
}

TEST_CASE("where no RayCluster is served, pods with no more than Ray's labels are left to the next dialect") {
  KubeRay dialect;
  Touched touched;
  dialect.Served("rayclusters.ray.io", false, &touched);
  CHECK(touched.memberships);
  CHECK_FALSE(dialect.MembershipOf(RayPodOf("worker", "w")));
  // But what a RayCluster made waits for it: an API server that starts leaves kinds out until it has read them.
  model::Pod made = RayPodOf("worker", "w");
  made.meta.controller = model::OwnerReference{"RayCluster", "c", "u", "ray.io/v1"};
  const auto waits = dialect.MembershipOf(made);
  REQUIRE(waits);
  CHECK(dialect.Describe(waits->gang)
            .problem.find("cannot exist, for the API server does not serve rayclusters.ray.io") != std::string::npos);
  made.meta.controller = model::OwnerReference{"RayCluster", "c", "u", "example.com/v1"};
  CHECK_FALSE(dialect.MembershipOf(made));
  touched = {};
  dialect.Served("rayclusters.ray.io", true, &touched);
  CHECK(touched.memberships);
  CHECK(dialect.MembershipOf(RayPodOf("worker", "w")));
  touched = {};
  dialect.Served("rayclusters.ray.io", false, &touched);  // and when it goes again they wait for it
  CHECK_FALSE(touched.memberships);
  CHECK(dialect.MembershipOf(RayPodOf("worker", "w")));
}

TEST_CASE("the priority class is a label on the RayCluster, and KAI's queue is not read") {
  KubeRay dialect;
  const Touched touched =
      Put(dialect,
          Cluster("{}", R"({"kai.scheduler/queue":"team-a","ray.io/priority-class-name":"system-cluster-critical"})",
                  "v1alpha1"));
  CHECK(touched.queues.empty());
  CHECK(dialect.Describe(kRayGang).queue == "");
  CHECK(dialect.Describe(kRayGang).priority == 2'000'000'000);
  CHECK_FALSE(dialect.DescribeQueue("team-a"));
  CHECK(dialect.EventTarget(kRayGang)->version == "v1alpha1");
}

}  // namespace tutti::dialects
