// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_cluster_controller.h"

#include "sim/kuberay/ray_names.h"
#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

constexpr const char* kCluster = R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: c
  namespace: default
  labels: {volcano.sh/queue-name: q}
spec:
  rayVersion: 2.46.0
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers:
        - name: ray-head
          image: ray
          resources: {limits: {cpu: "1500m", memory: 2Gi}}
  workerGroupSpecs:
  - groupName: w
    replicas: 2
    minReplicas: 1
    maxReplicas: 5
    template:
      spec:
        containers:
        - name: ray-worker
          image: ray
          resources: {limits: {cpu: "1", memory: 1Gi, nvidia.com/gpu: 1}}
)";

struct ClusterFixture : WorldFixture {
  explicit ClusterFixture(WorldOptions options = {}) : WorldFixture(std::move(options)) {
    AddNode("n", {{"cpu", "64"}, {"memory", "256Gi"}, {"nvidia.com/gpu", "64"}});
  }
  Json Status() { return Child(*Get(kRayClusters, "c"), "status"); }
  std::string Condition(const char* type) { return DigString(ConditionOf(*Get(kRayClusters, "c"), type), "status"); }
  Object Head() {
    const auto heads = PodsLabelled("ray.io/node-type", "head");
    REQUIRE(heads.size() == 1);
    return heads[0];
  }
  std::vector<Object> Workers() { return PodsLabelled("ray.io/node-type", "worker"); }
  static std::string Env(const Json& container, const char* name) {
    for (const Json& each : Child(container, "env")) {
      if (DigString(each, "name") == name) return DigString(each, "value");
    }
    return "absent";
  }
};

// What admission refuses in a pod of kCluster, written over `from`.
std::string Refused(const std::string& from, const std::string& to) {
  std::string text = kCluster;
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE_METHOD(ClusterFixture, "A RayCluster whose pods are refused is tried again later, and never without end") {
  const std::string head_limits = "{limits: {cpu: \"1500m\", memory: 2Gi}}";
  const std::string worker_limits = "{limits: {cpu: \"1\", memory: 1Gi, nvidia.com/gpu: 1}}";
  const std::string spec = "      spec:\n        containers:\n        - name: ray-";
  const std::string yaml = GENERATE_COPY(
      Refused("          image: ray\n          resources: " + head_limits, "          resources: " + head_limits),
      Refused(head_limits, "{requests: {cpu: 2}, limits: {cpu: 1}}"),
      Refused(worker_limits, "{requests: {cpu: 2}, limits: {cpu: 1}}"),
      Refused(spec, "      spec:\n        priorityClassName: missing\n        containers:\n        - name: ray-"),
      Refused(spec,
              "      spec:\n        tolerations: [{operator: Exist}]\n        containers:\n        - name: ray-"));
  ApplyYaml(yaml);
  world.Pump();
  const int64_t version = store().resource_version();
  world.Pump();
  CHECK(store().resource_version() == version);
  CHECK(Condition("ReplicaFailure") == "True");
  REQUIRE(world.NextDeadline());
  CHECK(*world.NextDeadline() > clock.MonotonicMs());
  Advance(3'600'000);
  CHECK(store().Count(kEvents) < 100);
}

TEST_CASE_METHOD(ClusterFixture, "A RayCluster becomes a head service, a head and its workers") {
  ApplyYaml(kCluster);
  world.Pump();
  const Object head = Head();
  CHECK(Pods().size() == 3);
  CHECK(NameOf(*head).starts_with("c-head-"));
  CHECK(DigString(ControllerOf(*head), "apiVersion") == "ray.io/v1");
  CHECK(LabelOf(*head, "ray.io/group") == "headgroup");
  CHECK(LabelOf(*head, "ray.io/cluster") == "c");
  CHECK(LabelOf(*head, "ray.io/identifier") == "c-head");
  CHECK(LabelOf(*head, "ray.io/is-ray-node") == "yes");
  CHECK(AnnotationOf(*head, "ray.io/ft-enabled") == "false");
  for (const Object& worker : Workers()) {
    CHECK(NameOf(*worker).starts_with("c-w-worker-"));
    CHECK(LabelOf(*worker, "ray.io/group") == "w");
    const Json& init = Dig(*worker, "spec", "initContainers")[0];
    CHECK(DigString(init, "name") == "wait-gcs-ready");
    CHECK(DigString(init, "resources", "requests", "cpu") == "200m");
    CHECK(DigString(init, "resources", "requests", "memory") == "256Mi");
  }
  const Object service = Get(kServices, "c-head-svc");
  CHECK(DigString(*service, "spec", "clusterIP") == "None");
  CHECK(DigString(*service, "spec", "selector", "ray.io/node-type") == "head");
  std::vector<std::string> ports;
  for (const Json& port : Dig(*service, "spec", "ports")) ports.push_back(DigString(port, "name"));
  CHECK(ports == std::vector<std::string>{"client", "dashboard", "gcs-server", "metrics", "serve"});
}

TEST_CASE_METHOD(ClusterFixture, "Containers get their start command, environment, shared memory and probes") {
  ApplyYaml(kCluster);
  world.Pump();
  const Json head = Dig(*Head(), "spec", "containers")[0];
  CHECK(StringOf(Child(head, "args")[0]) ==
        "ulimit -n 65536; ray start --head  --block  --dashboard-agent-listen-port=52365  --dashboard-host=0.0.0.0  "
        "--memory=2147483648  --metrics-export-port=8080  --num-cpus=2 ");
  CHECK(Env(head, "RAY_ADDRESS") == "127.0.0.1:6379");
  CHECK(Env(head, "RAY_USAGE_STATS_EXTRA_TAGS") == "kuberay_version=v1.4.2;kuberay_crd=RayCluster");
  CHECK(DigString(Child(head, "volumeMounts")[0], "mountPath") == "/dev/shm");
  CHECK(DigString(Dig(*Head(), "spec", "volumes")[0], "emptyDir", "sizeLimit") == "2Gi");
  CHECK(IntOf(Dig(head, "livenessProbe", "failureThreshold")) == 120);

  const Json worker = Dig(*Workers()[0], "spec", "containers")[0];
  CHECK(StringOf(Child(worker, "args")[0]) ==
        "ulimit -n 65536; ray start  --address=c-head-svc.default.svc.cluster.local:6379  --block  "
        "--dashboard-agent-listen-port=52365  --memory=1073741824  --metrics-export-port=8080  --num-cpus=1  "
        "--num-gpus=1 ");
  CHECK(Env(worker, "FQ_RAY_IP") == "c-head-svc.default.svc.cluster.local");
  CHECK(Env(worker, "RAY_IP") == "c-head-svc");
  CHECK(Env(worker, "RAY_ADDRESS") == "c-head-svc.default.svc.cluster.local:6379");
}

TEST_CASE_METHOD(ClusterFixture, "A user's own command runs before ray start, and one that starts Ray is left alone") {
  ApplyYaml(kCluster);
  Modify(kRayClusters, "c", [](Json& cluster) {
    cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["args"] = {"echo", "hi"};
    cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["command"] =
        Json::array({"ray start --block"});
  });
  world.Pump();
  CHECK_THAT(StringOf(Child(Dig(*Head(), "spec", "containers")[0], "args")[0]),
             Catch::StartsWith(" echo  hi  && ulimit -n 65536; ray start --head"));
  CHECK(StringOf(Child(Dig(*Workers()[0], "spec", "containers")[0], "command")[0]) == "ray start --block");
}

TEST_CASE_METHOD(ClusterFixture, "The status counts, sums up, and turns ready when all run") {
  ApplyYaml(kCluster);
  world.Pump();
  CHECK(DigString(Status(), "state").empty());
  CHECK(IntOf(Child(Status(), "desiredWorkerReplicas")) == 2);
  CHECK(IntOf(Child(Status(), "minWorkerReplicas")) == 1);
  CHECK(IntOf(Child(Status(), "maxWorkerReplicas")) == 5);
  CHECK(DigString(Status(), "desiredCPU") == "3500m");
  CHECK(DigString(Status(), "desiredMemory") == "4Gi");
  CHECK(DigString(Status(), "desiredGPU") == "2");
  CHECK(DigString(Status(), "desiredTPU") == "0");
  CHECK(Condition("RayClusterProvisioned") == "False");
  BindAll("n");
  CHECK(DigString(Status(), "state") == "ready");
  CHECK(IntOf(Child(Status(), "readyWorkerReplicas")) == 2);
  CHECK(IntOf(Child(Status(), "availableWorkerReplicas")) == 2);
  CHECK(Condition("RayClusterProvisioned") == "True");
  CHECK(Condition("HeadPodReady") == "True");
  CHECK(DigString(Status(), "head", "podName") == NameOf(*Head()));
  CHECK(DigString(Status(), "head", "serviceName") == "c-head-svc");
  CHECK(DigString(Status(), "endpoints", "dashboard") == "8265");
  CHECK_FALSE(DigString(Status(), "stateTransitionTimes", "ready").empty());
}

TEST_CASE_METHOD(ClusterFixture, "Replicas stay within their bounds, and follow the spec") {
  ApplyYaml(kCluster);
  BindAll("n");
  const auto scale = [&](int replicas) {
    Modify(kRayClusters, "c", [&](Json& c) { c["spec"]["workerGroupSpecs"][0]["replicas"] = replicas; });
    BindAll("n");
    return Workers().size();
  };
  CHECK(scale(9) == 5);
  CHECK(scale(0) == 1);
  CHECK(scale(3) == 3);
  CHECK(DigString(Status(), "state") == "ready");
}

TEST_CASE_METHOD(ClusterFixture, "A group whose size is below zero has no pods, and its cluster a status of its own") {
  std::string text = kCluster;
  text.replace(text.find("maxReplicas: 5"), 14, "maxReplicas: -5");
  ApplyYaml(text + "status: {endpoints: \"none\"}\n");
  BindAll("n");
  CHECK(Workers().empty());
  CHECK(Child(Status(), "endpoints").is_object());
}

TEST_CASE_METHOD(ClusterFixture, "Lost pods are replaced under new names") {
  ApplyYaml(kCluster);
  BindAll("n");
  const std::string head = NameOf(*Head()), worker = NameOf(*Workers()[0]);
  for (const std::string& name : {head, worker}) {
    Modify(kPods, name, [](Json& pod) { pod["status"]["phase"] = "Failed"; }, Part::kStatus);
  }
  BindAll("n");
  CHECK(NameOf(*Head()) != head);
  CHECK(Workers().size() == 2);
  CHECK_FALSE(Pod(worker));
  REQUIRE(store().Delete(kPods, "default", NameOf(*Workers()[0])));
  BindAll("n");
  CHECK(Workers().size() == 2);
  CHECK(DigString(Status(), "state") == "ready");
}

TEST_CASE_METHOD(ClusterFixture, "workersToDelete names the workers that go") {
  ApplyYaml(kCluster);
  BindAll("n");
  const std::string victim = NameOf(*Workers()[1]), other = NameOf(*Workers()[0]);
  Modify(kRayClusters, "c", [&](Json& c) {
    c["spec"]["workerGroupSpecs"][0]["replicas"] = 1;
    c["spec"]["workerGroupSpecs"][0]["scaleStrategy"]["workersToDelete"] = Json::array({victim});
  });
  world.Pump();
  REQUIRE(Workers().size() == 1);
  CHECK(NameOf(*Workers()[0]) == other);
}

TEST_CASE_METHOD(ClusterFixture, "Suspending deletes all pods, and resuming starts over") {
  ApplyYaml(kCluster);
  BindAll("n");
  Modify(kRayClusters, "c", [](Json& c) { c["spec"]["suspend"] = true; });
  world.Pump();
  CHECK(Pods().empty());
  CHECK(DigString(Status(), "state") == "suspended");
  CHECK(Condition("RayClusterSuspended") == "True");
  CHECK(Condition("RayClusterSuspending") == "False");
  CHECK(Condition("RayClusterProvisioned") == "False");
  Modify(kRayClusters, "c", [](Json& c) { c["spec"]["suspend"] = false; });
  BindAll("n");
  CHECK(Pods().size() == 3);
  CHECK(DigString(Status(), "state") == "ready");
  CHECK(Condition("RayClusterSuspended") == "False");
}

TEST_CASE_METHOD(ClusterFixture, "A cluster created suspended has no pods") {
  std::string text = kCluster;
  text.replace(text.find("spec:\n  rayVersion"), 5, "spec:\n  suspend: true");
  ApplyYaml(text);
  world.Pump();
  CHECK(Pods().empty());
  CHECK(DigString(Status(), "state") == "suspended");
}

TEST_CASE_METHOD(ClusterFixture, "Deleting a cluster takes its pods and services along") {
  ApplyYaml(kCluster);
  BindAll("n");
  REQUIRE(store().Delete(kRayClusters, "default", "c"));
  world.Pump();
  CHECK(Pods().empty());
  CHECK(store().All(kServices).empty());
}

TEST_CASE_METHOD(ClusterFixture,
                 "v1alpha1 is served, and a multi-host group counts its hosts and gets a headless service") {
  std::string text = kCluster;
  text.replace(text.find("ray.io/v1\n"), 9, "ray.io/v1alpha1");
  text.replace(text.find("    replicas: 2"), 15, "    rayStartParams: {}\n    replicas: 2");
  ApplyYaml(text);
  world.Pump();
  CHECK(Workers().size() == 2);
  Modify(kRayClusters, "c", [](Json& c) { c["spec"]["workerGroupSpecs"][0]["numOfHosts"] = 4; });
  world.Pump();
  CHECK(Workers().size() == 8);
  CHECK(DigString(*Get(kServices, "c-headless"), "spec", "selector", "ray.io/node-type") == "worker");
}

TEST_CASE_METHOD(ClusterFixture, "Autoscaling adds the sidecar and its rights, and never deletes a surplus") {
  ApplyYaml(kCluster);
  Modify(kRayClusters, "c", [](Json& c) { c["spec"]["enableInTreeAutoscaling"] = true; });
  world.Pump();
  const Json& containers = Dig(*Head(), "spec", "containers");
  REQUIRE(containers.size() == 2);
  CHECK(DigString(containers[1], "name") == "autoscaler");
  CHECK(DigString(containers[1], "resources", "requests", "memory") == "512Mi");
  CHECK(DigString(Child(containers[1], "volumeMounts")[0], "mountPath") == "/tmp/ray");
  CHECK(DigString(*Head(), "spec", "serviceAccountName") == "c");
  CHECK_THAT(StringOf(Child(containers[0], "args")[0]), Catch::Contains("--no-monitor"));
  Get({"", "serviceaccounts"}, "c");
  Get({"rbac.authorization.k8s.io", "roles"}, "c");
  Get({"rbac.authorization.k8s.io", "rolebindings"}, "c");
  Modify(kRayClusters, "c", [](Json& c) { c["spec"]["workerGroupSpecs"][0]["replicas"] = 1; });
  world.Pump();
  CHECK(Workers().size() == 2);
}

TEST_CASE_METHOD(ClusterFixture, "A spec that cannot be worked with says so in an event, and others go on") {
  ApplyYaml(kCluster);
  Apply({{"apiVersion", "ray.io/v1"},
         {"kind", "RayCluster"},
         {"metadata", {{"name", "broken"}, {"namespace", "default"}}},
         {"spec", {{"headGroupSpec", {{"template", {{"spec", {{"containers", Json::array()}}}}}}}}}});
  BindAll("n");
  CHECK(DigString(Status(), "state") == "ready");
  bool said = false;
  for (const Object& event : store().All(kEvents)) {
    said =
        said || DigString(*event, "message") ==
                    "The RayCluster spec is invalid default/broken: headGroupSpec should have at least one container";
  }
  CHECK(said);
}

TEST_CASE("The same world twice is the same, names and uids included") {
  const auto run = [] {
    ClusterFixture f;
    f.ApplyYaml(kCluster);
    f.BindAll("n");
    std::string all;
    for (const auto& resource : {kPods, kServices, kEvents, kRayClusters}) {
      for (const Object& object : f.store().All(resource)) all += object->dump() + "\n";
    }
    return all;
  };
  CHECK(run() == run());
}

}  // namespace
}  // namespace tutti::sim
