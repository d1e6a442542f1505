// SPDX-License-Identifier: Apache-2.0
// What the KubeRay operator adds for each --batch-scheduler, in release 1.4 and later.
#include "sim/kuberay/ray_batch_scheduler.h"

#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

const GroupResource kVolcanoPodGroups{"scheduling.volcano.sh", "podgroups"};
const GroupResource kPluginPodGroups{"scheduling.x-k8s.io", "podgroups"};

Json Definition(const std::string& group, const char* version) {
  Json versions = Json::array();
  versions.push_back(
      {{"name", version},
       {"served", true},
       {"storage", true},
       {"schema", {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}});
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "podgroups." + group}}},
          {"spec",
           {{"group", group},
            {"scope", "Namespaced"},
            {"names",
             {{"plural", "podgroups"}, {"singular", "podgroup"}, {"kind", "PodGroup"}, {"listKind", "PodGroupList"}}},
            {"versions", versions}}}};
}

constexpr const char* kBatchCluster = R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: c
  namespace: default
  labels:
    volcano.sh/queue-name: q
    ray.io/gang-scheduling-enabled: "true"
    yunikorn.apache.org/app-id: app
    yunikorn.apache.org/queue: root.q
    kai.scheduler/queue: team
spec:
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers:
        - {name: h, image: ray, resources: {requests: {cpu: "1", memory: 2Gi}}}
  workerGroupSpecs:
  - groupName: w
    replicas: 2
    minReplicas: 1
    maxReplicas: 3
    numOfHosts: 2
    template:
      spec:
        tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]
        containers:
        - {name: w, image: ray, resources: {requests: {cpu: "1", memory: 1Gi}}}
)";

WorldOptions With(BatchScheduler scheduler, KubeRayRelease release = KubeRayRelease::k1_4) {
  WorldOptions options;
  options.kuberay = {scheduler, release};
  return options;
}

struct BatchFixture : WorldFixture {
  explicit BatchFixture(WorldOptions options) : WorldFixture(std::move(options)) {
    Apply(Definition("scheduling.volcano.sh", "v1beta1"));
    Apply(Definition("scheduling.x-k8s.io", "v1alpha1"));
    AddNode("n", {{"cpu", "64"}, {"memory", "256Gi"}});
  }
  Object Worker() { return PodsLabelled("ray.io/node-type", "worker").at(0); }
  void Start() {
    ApplyYaml(kBatchCluster);
    world.Pump();
  }
};

TEST_CASE("Volcano: a PodGroup of the cluster's size, and pods that name it") {
  BatchFixture f(With(BatchScheduler::kVolcano));
  f.Start();
  const Object group = f.Get(kVolcanoPodGroups, "ray-c-pg");
  CHECK(IntOf(Dig(*group, "spec", "minMember")) == 5);
  CHECK(Dig(*group, "spec", "minResources") == Json{{"cpu", "5"}, {"memory", "6Gi"}});
  CHECK(DigString(*group, "spec", "queue") == "q");
  CHECK(DigString(*group, "status", "phase") == "Pending");
  CHECK(DigString(ControllerOf(*group), "kind") == "RayCluster");
  const Object worker = f.Worker();
  CHECK(AnnotationOf(*worker, "scheduling.k8s.io/group-name") == "ray-c-pg");
  CHECK(AnnotationOf(*worker, "volcano.sh/task-spec") == "w");
  CHECK(LabelOf(*worker, "volcano.sh/queue-name") == "q");
  CHECK(DigString(*worker, "spec", "schedulerName") == "volcano");

  f.Modify(kRayClusters, "c", [](Json& c) { c["spec"]["workerGroupSpecs"][0]["replicas"] = 3; });
  f.world.Pump();
  CHECK(IntOf(Dig(*f.Get(kVolcanoPodGroups, "ray-c-pg"), "spec", "minMember")) == 7);
}

TEST_CASE("Volcano with autoscaling: the gang is the head and the minima, without the sidecar") {
  BatchFixture f(With(BatchScheduler::kVolcano));
  f.ApplyYaml(kBatchCluster);
  f.Modify(kRayClusters, "c", [](Json& c) { c["spec"]["enableInTreeAutoscaling"] = true; });
  f.world.Pump();
  const Object group = f.Get(kVolcanoPodGroups, "ray-c-pg");
  CHECK(IntOf(Dig(*group, "spec", "minMember")) == 3);
  CHECK(Dig(*group, "spec", "minResources") == Json{{"cpu", "3"}, {"memory", "4Gi"}});
}

TEST_CASE("Volcano: without its PodGroup served no pod is made, until it is") {
  WorldFixture f(With(BatchScheduler::kVolcano));
  f.ApplyYaml(kBatchCluster);
  f.world.Pump();
  CHECK(f.Pods().empty());
  f.Apply(Definition("scheduling.volcano.sh", "v1beta1"));
  f.Advance(1000);
  CHECK(f.Pods().size() == 5);
}

TEST_CASE("scheduler-plugins: a PodGroup named as the cluster, not controlled by it, and replicas without hosts") {
  BatchFixture f(With(BatchScheduler::kSchedulerPlugins));
  f.Start();
  const Object group = f.Get(kPluginPodGroups, "c");
  CHECK(IntOf(Dig(*group, "spec", "minMember")) == 3);
  CHECK(ControllerOf(*group).is_null());
  CHECK(Dig(*group, "metadata", "ownerReferences").size() == 1);
  CHECK(LabelOf(*f.Worker(), "scheduling.x-k8s.io/pod-group") == "c");
  CHECK(DigString(*f.Worker(), "spec", "schedulerName") == "default-scheduler");

  BatchFixture later(With(BatchScheduler::kSchedulerPlugins, KubeRayRelease::k1_7));
  later.Start();
  CHECK(DigString(*later.Worker(), "spec", "schedulerName") == "scheduler-plugins-scheduler");
}

TEST_CASE("YuniKorn: labels, and task groups in the order of Go's structs") {
  BatchFixture f(With(BatchScheduler::kYunikorn));
  f.Start();
  const Object worker = f.Worker();
  CHECK(LabelOf(*worker, "applicationId") == "app");
  CHECK(LabelOf(*worker, "queue") == "root.q");
  CHECK(DigString(*worker, "spec", "schedulerName") == "yunikorn");
  CHECK(AnnotationOf(*worker, "yunikorn.apache.org/task-group-name") == "w");
  CHECK(AnnotationOf(*worker, "yunikorn.apache.org/task-groups") ==
        R"([{"minResource":{"cpu":"1","memory":"2Gi"},"name":"headgroup","minMember":1},)"
        R"({"minResource":{"cpu":"1","memory":"1Gi"},"name":"w",)"
        R"("tolerations":[{"key":"gpu","operator":"Exists","effect":"NoSchedule"}],"minMember":1}])");
}

TEST_CASE("kai-scheduler is of later releases: its queue's label and name, and numbered replicas") {
  CHECK_FALSE(ParseBatchScheduler("kai-scheduler", KubeRayRelease::k1_4));
  CHECK(ParseBatchScheduler("kai-scheduler", KubeRayRelease::k1_7) == BatchScheduler::kKai);
  BatchFixture f(With(BatchScheduler::kKai, KubeRayRelease::k1_7));
  f.Start();
  CHECK(LabelOf(*f.Worker(), "kai.scheduler/queue") == "team");
  CHECK(DigString(*f.Worker(), "spec", "schedulerName") == "kai-scheduler");
  std::vector<std::string> places;
  for (const Object& pod : f.PodsLabelled("ray.io/node-type", "worker")) {
    places.push_back(LabelOf(*pod, "ray.io/worker-group-replica-index") + "." +
                     LabelOf(*pod, "ray.io/replica-host-index"));
  }
  std::ranges::sort(places);
  CHECK(places == std::vector<std::string>{"0.0", "0.1", "1.0", "1.1"});
}

TEST_CASE("Without an integration pods keep the scheduler of their template") {
  BatchFixture f(With(BatchScheduler::kNone));
  f.ApplyYaml(kBatchCluster);
  f.Modify(kRayClusters, "c",
           [](Json& c) { c["spec"]["headGroupSpec"]["template"]["spec"]["schedulerName"] = "tutti"; });
  f.world.Pump();
  CHECK(DigString(*f.PodsLabelled("ray.io/node-type", "head").at(0), "spec", "schedulerName") == "tutti");
  CHECK(AnnotationOf(*f.Worker(), "scheduling.k8s.io/group-name").empty());
  CHECK(f.store().All(kVolcanoPodGroups).empty());
}

}  // namespace
}  // namespace tutti::sim
