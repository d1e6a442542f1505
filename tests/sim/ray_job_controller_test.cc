// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_job_controller.h"

#include "sim/nodes/kubelet.h"
#include "sim/objects/lifetime.h"
#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

constexpr const char* kRayJob = R"(
apiVersion: ray.io/v1
kind: RayJob
metadata:
  name: train
  namespace: default
  labels: {team: a}
  annotations: {sim.tutti.dev/run-for: 60s}
spec:
  entrypoint: python train.py
  shutdownAfterJobFinishes: true
  ttlSecondsAfterFinished: 10
  runtimeEnvYAML: |
    pip: ["requests<3"]
    env_vars: {counter: "1"}
  rayClusterSpec:
    rayVersion: 2.46.0
    headGroupSpec:
      rayStartParams: {}
      template:
        spec:
          containers:
          - {name: h, image: ray:1, resources: {requests: {cpu: "1"}}}
    workerGroupSpecs:
    - groupName: w
      replicas: 1
      rayStartParams: {}
      template:
        spec:
          containers:
          - {name: w, image: ray:1, resources: {requests: {cpu: "1"}}}
)";

struct JobFixture : WorldFixture {
  explicit JobFixture(WorldOptions options = {}) : WorldFixture(std::move(options)) {
    AddNode("n", {{"cpu", "64"}, {"memory", "256Gi"}});
  }
  Json Status() { return Child(*Get(kRayJobs, "train"), "status"); }
  std::string Deployment() { return DigString(Status(), "jobDeploymentStatus"); }
  Object Cluster() { return store().Find(kRayClusters, "default", DigString(Status(), "rayClusterName")); }
};

TEST_CASE_METHOD(JobFixture, "A RayJob makes its cluster, submits once that is ready, and shuts it down afterwards") {
  ApplyYaml(kRayJob);
  world.Pump();
  CHECK(Deployment() == "Initializing");
  REQUIRE(Cluster());
  CHECK(LabelOf(*Cluster(), "ray.io/originated-from-crd") == "RayJob");
  CHECK(LabelOf(*Cluster(), "ray.io/originated-from-cr-name") == "train");
  CHECK(LabelOf(*Cluster(), "team") == "a");
  CHECK_FALSE(store().Find(kJobs, "default", "train"));
  CHECK(Pods().size() == 2);

  BindAll("n");
  CHECK(Deployment() == "Running");
  CHECK(DigString(Status(), "dashboardURL") == NameOf(*Cluster()) + "-head-svc.default.svc.cluster.local:8265");
  const Object job = Get(kJobs, "train");
  const Json container = Dig(*job, "spec", "template", "spec", "containers")[0];
  const std::string id = DigString(Status(), "jobId"), url = "http://" + DigString(Status(), "dashboardURL");
  CHECK(
      StringOf(Child(container, "args")[0]) ==
      "if ! ray job status --address " + url + " " + id + " >/dev/null 2>&1 ; then ray job submit --address " + url +
          R"( --no-wait --runtime-env-json "{\"env_vars\":{\"counter\":\"1\"},\"pip\":[\"requests\\u003c3\"]}" --submission-id )" +
          id + " -- python train.py ; fi ; ray job logs --address " + url + " --follow " + id);
  CHECK(DigString(container, "image") == "ray:1");
  CHECK(DigString(container, "resources", "requests", "memory") == "200Mi");
  CHECK(IntOf(Dig(*job, "spec", "backoffLimit")) == 2);

  BindAll("n");
  CHECK(DigString(Status(), "jobStatus") == "RUNNING");
  Advance(60'000);
  CHECK(DigString(Status(), "jobStatus") == "SUCCEEDED");
  CHECK(Deployment() == "Complete");
  CHECK(IntOf(Child(Status(), "succeeded")) == 1);
  CHECK(Cluster());
  Advance(10'000);
  CHECK_FALSE(Cluster());
  CHECK(Pods().size() == 1);  // the submitter's, for its log
}

TEST_CASE_METHOD(JobFixture, "A failing entrypoint is retried on a new cluster as often as its limit says") {
  ApplyYaml(kRayJob);
  Modify(kRayJobs, "train", [](Json& job) {
    job["metadata"]["annotations"][kExitCodeAnnotation] = "1";
    job["spec"]["backoffLimit"] = 1;
    job["spec"]["submitterConfig"]["backoffLimit"] = 0;
  });
  BindAll("n");
  const std::string first = DigString(Status(), "rayClusterName");
  BindAll("n");
  Advance(60'000);
  CHECK(IntOf(Child(Status(), "failed")) == 1);
  CHECK(Deployment() == "Initializing");
  CHECK(DigString(Status(), "rayClusterName") != first);
  CHECK_FALSE(store().Find(kRayClusters, "default", first));
  BindAll("n");
  BindAll("n");
  Advance(60'000);
  CHECK(Deployment() == "Failed");
  CHECK(IntOf(Child(Status(), "failed")) == 2);
}

TEST_CASE_METHOD(JobFixture, "Suspending takes cluster and submitter back, resuming starts over") {
  ApplyYaml(kRayJob);
  BindAll("n");
  BindAll("n");
  Modify(kRayJobs, "train", [](Json& job) { job["spec"]["suspend"] = true; });
  world.Pump();
  CHECK(Deployment() == "Suspended");
  CHECK(Pods().empty());
  CHECK(store().All(kRayClusters).empty());
  CHECK(store().All(kJobs).empty());
  Modify(kRayJobs, "train", [](Json& job) { job["spec"]["suspend"] = false; });
  BindAll("n");
  CHECK(Deployment() == "Running");
}

TEST_CASE_METHOD(JobFixture, "A deadline fails the RayJob while its cluster waits for room") {
  ApplyYaml(kRayJob);
  Modify(kRayJobs, "train", [](Json& job) { job["spec"]["activeDeadlineSeconds"] = 30; });
  world.Pump();
  Advance(30'000);
  CHECK(Deployment() == "Failed");
  CHECK(DigString(Status(), "reason") == "DeadlineExceeded");
}

TEST_CASE_METHOD(JobFixture, "In HTTPMode there is no submitter") {
  ApplyYaml(kRayJob);
  Modify(kRayJobs, "train", [](Json& job) { job["spec"]["submissionMode"] = "HTTPMode"; });
  BindAll("n");
  CHECK(store().All(kJobs).empty());
  CHECK(Deployment() == "Running");
  Advance(60'000);
  CHECK(Deployment() == "Complete");
}

TEST_CASE_METHOD(JobFixture, "Deleting a RayJob takes everything along") {
  ApplyYaml(kRayJob);
  BindAll("n");
  BindAll("n");
  REQUIRE(store().Delete(kRayJobs, "default", "train"));
  world.Pump();
  CHECK(store().All(kRayJobs).empty());
  CHECK(store().All(kRayClusters).empty());
  CHECK(store().All(kJobs).empty());
  CHECK(Pods().empty());
}

TEST_CASE("Later releases make one Volcano PodGroup for the RayJob, with room for the submitter") {
  WorldOptions options;
  options.kuberay = {BatchScheduler::kVolcano, KubeRayRelease::k1_7};
  JobFixture f(options);
  Json versions = Json::array();
  versions.push_back(
      {{"name", "v1beta1"},
       {"served", true},
       {"storage", true},
       {"schema", {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}});
  f.Apply({{"apiVersion", "apiextensions.k8s.io/v1"},
           {"kind", "CustomResourceDefinition"},
           {"metadata", {{"name", "podgroups.scheduling.volcano.sh"}}},
           {"spec",
            {{"group", "scheduling.volcano.sh"},
             {"scope", "Namespaced"},
             {"names",
              {{"plural", "podgroups"}, {"singular", "podgroup"}, {"kind", "PodGroup"}, {"listKind", "PodGroupList"}}},
             {"versions", versions}}}});
  f.ApplyYaml(kRayJob);
  f.world.Pump();
  const GroupResource kGroups{"scheduling.volcano.sh", "podgroups"};
  REQUIRE(f.store().All(kGroups).size() == 1);
  const Object group = f.Get(kGroups, "ray-train-pg");
  CHECK(DigString(ControllerOf(*group), "kind") == "RayJob");
  CHECK(IntOf(Dig(*group, "spec", "minMember")) == 2);
  CHECK(Dig(*group, "spec", "minResources") == Json{{"cpu", "2500m"}, {"memory", "200Mi"}});
  f.BindAll("n");
  for (const Object& pod : f.Pods()) CHECK(AnnotationOf(*pod, "scheduling.k8s.io/group-name") == "ray-train-pg");
  CHECK(f.PodsLabelled("job-name", "train").size() == 1);
  f.BindAll("n");
  f.Advance(60'000);
  f.Advance(10'000);
  CHECK(IntOf(Dig(*f.Get(kGroups, "ray-train-pg"), "spec", "minMember")) == 0);
}

}  // namespace
}  // namespace tutti::sim
