// SPDX-License-Identifier: Apache-2.0
// Jobs, ReplicaSets and Deployments, through a World.
#include <algorithm>
#include <map>

#include "sim/nodes/kubelet.h"
#include "sim/objects/lifetime.h"
#include "sim/store/controller.h"
#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

const GroupResource kDeployments{"apps", "deployments"};

Json Template(Json annotations = Json::object()) {
  return {{"metadata", {{"labels", {{"app", "a"}}}, {"annotations", annotations}}},
          {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
}

Json Job(Json spec, Json annotations = Json::object()) {
  spec["template"] = Template(annotations);
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata", {{"name", "j"}, {"namespace", "default"}}},
          {"spec", spec}};
}

Json ReplicaSet(int replicas) {
  Json pod = Template();
  pod["spec"].erase("restartPolicy");
  return {{"apiVersion", "apps/v1"},
          {"kind", "ReplicaSet"},
          {"metadata", {{"name", "r"}, {"namespace", "default"}}},
          {"spec", {{"replicas", replicas}, {"selector", {{"matchLabels", {{"app", "a"}}}}}, {"template", pod}}}};
}

struct WorkloadFixture : WorldFixture {
  WorkloadFixture() { AddNode("n"); }
  Json Status() { return Child(*Get(kJobs, "j"), "status"); }
  int64_t Unbound() {
    world.Pump();
    return std::ranges::count_if(Pods(), [](const Object& pod) { return DigString(*pod, "spec", "nodeName").empty(); });
  }
  // Each template's number of pods: "i 3, i2 1".
  std::string Images() {
    std::map<std::string, int> pods;
    for (const Object& pod : Pods()) ++pods[DigString(Dig(*pod, "spec", "containers")[0], "image")];
    std::string text;
    for (const auto& [image, count] : pods) text += (text.empty() ? "" : ", ") + image + " " + std::to_string(count);
    return text;
  }
  void ApplyDeployment(int replicas, Json strategy) {
    Json deployment = ReplicaSet(replicas);
    deployment["kind"] = "Deployment";
    deployment["metadata"]["name"] = "d";
    deployment["spec"]["strategy"] = std::move(strategy);
    Apply(deployment);
    BindAll("n");
    Modify(kDeployments, "d", [](Json& d) { d["spec"]["template"]["spec"]["containers"][0]["image"] = "i2"; });
    world.Pump();
  }
  std::string Condition(const char* type) { return DigString(ConditionOf(*Get(kJobs, "j"), type), "reason"); }
};

// --- ReplicaSet, Deployment ---

TEST_CASE_METHOD(WorkloadFixture, "A ReplicaSet makes its pods, replaces lost ones and counts the ready") {
  Apply(ReplicaSet(3));
  BindAll("n");
  REQUIRE(Pods().size() == 3);
  CHECK(DigString(ControllerOf(*Pods()[0]), "name") == "r");
  CHECK(IntOf(Dig(*Get(kReplicaSets, "r"), "status", "readyReplicas")) == 3);
  REQUIRE(store().Delete(kPods, "default", NameOf(*Pods()[1])));
  BindAll("n");
  CHECK(Pods().size() == 3);
  CHECK(IntOf(Dig(*Get(kReplicaSets, "r"), "status", "readyReplicas")) == 3);
}

TEST_CASE_METHOD(WorkloadFixture, "A pod that its kubelet rejects is replaced beside the failed one") {
  Apply(ReplicaSet(1));
  world.Pump();
  const std::string name = NameOf(*Pods()[0]);
  Modify(kPods, name, [](Json& pod) { pod["status"]["phase"] = "Failed"; }, Part::kStatus);
  world.Pump();
  CHECK(Pods().size() == 2);
}

TEST_CASE_METHOD(WorkloadFixture, "Scaling down takes unbound pods first") {
  Apply(ReplicaSet(2));
  BindAll("n");
  Modify(kReplicaSets, "r", [](Json& set) { set["spec"]["replicas"] = 3; });
  world.Pump();
  Modify(kReplicaSets, "r", [](Json& set) { set["spec"]["replicas"] = 2; });
  world.Pump();
  REQUIRE(Pods().size() == 2);
  for (const Object& pod : Pods()) CHECK(PhaseOf(*pod) == "Running");
}

TEST_CASE_METHOD(WorkloadFixture,
                 "A Deployment goes through a ReplicaSet, and to another one when its template changes") {
  Json deployment = ReplicaSet(2);
  deployment["kind"] = "Deployment";
  deployment["metadata"]["name"] = "d";
  Apply(deployment);
  BindAll("n");
  CHECK(store().All(kReplicaSets).size() == 1);
  CHECK(DigString(ConditionOf(*Get(kDeployments, "d"), "Available"), "status") == "True");
  Modify(kDeployments, "d", [](Json& d) { d["spec"]["template"]["spec"]["containers"][0]["image"] = "i2"; });
  while (Unbound() > 0) BindAll("n");
  REQUIRE(Pods().size() == 2);
  for (const Object& pod : Pods()) CHECK(DigString(Dig(*pod, "spec", "containers")[0], "image") == "i2");
  CHECK(IntOf(Dig(*Get(kDeployments, "d"), "status", "updatedReplicas")) == 2);
}

TEST_CASE_METHOD(WorkloadFixture, "A rollout keeps within its surge and what may be unavailable") {
  ApplyDeployment(4, {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", "25%"}, {"maxUnavailable", 1}}}});
  CHECK(Images() == "i 3, i2 2");
  BindAll("n");
  CHECK(Images() == "i 1, i2 4");
  BindAll("n");
  CHECK(Images() == "i2 4");
  CHECK(Unbound() == 0);
}

TEST_CASE_METHOD(WorkloadFixture, "A rollout whose new pods do not start goes no further") {
  ApplyDeployment(4, {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", 1}, {"maxUnavailable", "0%"}}}});
  CHECK(Images() == "i 4, i2 1");
  Advance(600'000);
  CHECK(Images() == "i 4, i2 1");
  CHECK(DigString(ConditionOf(*Get(kDeployments, "d"), "Available"), "status") == "True");
}

TEST_CASE_METHOD(WorkloadFixture, "With neither surge nor what may be unavailable, one pod goes before another comes") {
  ApplyDeployment(3, {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", 0}, {"maxUnavailable", 0}}}});
  CHECK(Images() == "i 2, i2 1");
  BindAll("n");
  CHECK(Images() == "i 1, i2 2");
}

TEST_CASE_METHOD(WorkloadFixture, "Recreate takes all pods away before it makes the first") {
  ApplyDeployment(2, {{"type", "Recreate"}});
  CHECK(Images() == "i2 2");
  CHECK(Unbound() == 2);
}

TEST_CASE_METHOD(WorkloadFixture, "A Deployment of a dump keeps its ReplicaSet, whatever name that has, and its pods") {
  Json deployment = ReplicaSet(1);
  deployment["kind"] = "Deployment";
  deployment["metadata"] = {{"name", "d"}, {"namespace", "default"}, {"uid", "d-1"}};
  Json set = ReplicaSet(1);
  set["metadata"] = {{"name", "d-5d89d5ff74"}, {"namespace", "default"}, {"uid", "r-1"}};
  set["metadata"]["ownerReferences"] = Json::array({ControllerReference(deployment)});
  set["spec"]["selector"]["matchLabels"]["pod-template-hash"] = "5d89d5ff74";
  set["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] = "5d89d5ff74";
  Json pod = PodFromTemplate(Dig(set, "spec", "template"), set, "");
  pod["metadata"]["name"] = "d-5d89d5ff74-abcde";
  pod["spec"]["nodeName"] = "n";
  pod["status"]["phase"] = "Running";
  for (const Json& each : {deployment, set, pod}) REQUIRE(store().Create(each, {.restore = true}));
  world.Pump();
  CHECK(store().All(kReplicaSets).size() == 1);
  CHECK(Phase("d-5d89d5ff74-abcde") == "Running");
  CHECK(Pods().size() == 1);
  CHECK(IntOf(Dig(*Get(kDeployments, "d"), "status", "updatedReplicas")) == 1);

  Modify(kDeployments, "d", [](Json& d) { d["spec"]["template"]["spec"]["containers"][0]["image"] = "i2"; });
  world.Pump();
  CHECK(store().All(kReplicaSets).size() == 2);
  Modify(kDeployments, "d", [](Json& d) { d["spec"]["template"]["spec"]["containers"][0]["image"] = "i"; });
  world.Pump();
  CHECK(store().All(kReplicaSets).size() == 2);
  CHECK(IntOf(Dig(*Get(kReplicaSets, "d-5d89d5ff74"), "spec", "replicas")) == 1);
}

// --- Job ---

TEST_CASE_METHOD(WorkloadFixture, "A Job completes when enough pods have succeeded, at most `parallelism` at a time") {
  Apply(Job({{"completions", 3}, {"parallelism", 2}}, {{kRunForAnnotation, "10s"}}));
  BindAll("n");
  CHECK(Pods().size() == 2);
  CHECK(IntOf(Child(Status(), "active")) == 2);
  Advance(10'000);
  BindAll("n");
  CHECK(IntOf(Child(Status(), "succeeded")) == 2);
  CHECK(IntOf(Child(Status(), "active")) == 1);
  Advance(10'000);
  CHECK(IntOf(Child(Status(), "succeeded")) == 3);
  CHECK(Condition("Complete") == "CompletionsReached");
  CHECK(Child(Status(), "active").is_null());
  CHECK_FALSE(DigString(Status(), "completionTime").empty());
  for (const Object& pod : Pods()) CHECK(Dig(*pod, "metadata", "finalizers").empty());
}

TEST_CASE_METHOD(WorkloadFixture, "Failures are tried again later each time, until the limit") {
  Apply(Job({{"backoffLimit", 1}}, {{kRunForAnnotation, "1s"}, {kExitCodeAnnotation, "1"}}));
  BindAll("n");
  Advance(1000);
  CHECK(IntOf(Child(Status(), "failed")) == 1);
  CHECK(Pods().size() == 1);
  Advance(10'000);
  BindAll("n");
  CHECK(Pods().size() == 2);
  Advance(1000);
  CHECK(IntOf(Child(Status(), "failed")) == 2);
  CHECK(Condition("Failed") == "BackoffLimitExceeded");
  Advance(3'600'000);
  CHECK(Pods().size() == 2);
}

TEST_CASE_METHOD(WorkloadFixture, "A deleted pod counts as a failure, and is counted once") {
  Apply(Job({{"backoffLimit", 5}}));
  BindAll("n");
  REQUIRE(store().Delete(kPods, "default", NameOf(*Pods()[0])));
  world.Pump();
  CHECK(IntOf(Child(Status(), "failed")) == 1);
  CHECK(Pods().empty());
  Advance(10'000);
  CHECK(Pods().size() == 1);
  CHECK(IntOf(Child(Status(), "failed")) == 1);
}

TEST_CASE_METHOD(WorkloadFixture, "A failure policy that ignores DisruptionTarget takes a disrupted pod for none") {
  const Json rule = {{"action", "Ignore"}, {"onPodConditions", {{{"type", "DisruptionTarget"}, {"status", "True"}}}}};
  Apply(Job({{"backoffLimit", 0}, {"podFailurePolicy", {{"rules", Json::array({rule})}}}}));
  BindAll("n");
  const std::string name = NameOf(*Pods()[0]);
  Modify(
      kPods, name, [&](Json& pod) { SetCondition(pod, {"DisruptionTarget", "True", "Undone", "x"}, clock.WallMs()); },
      Part::kStatus);
  REQUIRE(store().Delete(kPods, "default", name));
  world.Pump();
  Advance(10'000);
  CHECK(Child(Status(), "failed").is_null());
  REQUIRE(Pods().size() == 1);
  CHECK(NameOf(*Pods()[0]) != name);

  // Without the condition the same deletion is the end of it.
  BindAll("n");
  REQUIRE(store().Delete(kPods, "default", NameOf(*Pods()[0])));
  world.Pump();
  CHECK(Condition("Failed") == "BackoffLimitExceeded");
}

TEST_CASE_METHOD(WorkloadFixture, "An unbound pod of a Job with a failure policy is replaced when it is deleted") {
  const Json rule = {{"action", "Ignore"}, {"onPodConditions", {{{"type", "DisruptionTarget"}, {"status", "True"}}}}};
  Apply(Job({{"backoffLimit", 3}, {"podFailurePolicy", {{"rules", Json::array({rule})}}}}));
  world.Pump();
  const std::string name = NameOf(*Pods()[0]);
  REQUIRE(store().Delete(kPods, "default", name));
  world.Pump();
  Advance(10'000);
  REQUIRE(Pods().size() == 1);
  CHECK(NameOf(*Pods()[0]) != name);
  CHECK(IntOf(Child(Status(), "failed")) == 1);
}

TEST_CASE_METHOD(WorkloadFixture, "A suspended Job has no pods and no failures, and goes on when resumed") {
  Apply(Job({{"parallelism", 2}, {"suspend", true}}));
  world.Pump();
  CHECK(Pods().empty());
  CHECK(Condition("Suspended") == "JobSuspended");
  Modify(kJobs, "j", [](Json& job) { job["spec"]["suspend"] = false; });
  BindAll("n");
  CHECK(Pods().size() == 2);
  CHECK(Condition("Suspended") == "JobResumed");
  Modify(kJobs, "j", [](Json& job) { job["spec"]["suspend"] = true; });
  world.Pump();
  CHECK(Pods().empty());
  CHECK(Child(Status(), "failed").is_null());
}

TEST_CASE_METHOD(WorkloadFixture, "Indexed pods carry their index, and each is done once") {
  Apply(Job({{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}}, {{kRunForAnnotation, "1s"}}));
  BindAll("n");
  std::vector<std::string> indexes;
  for (const Object& pod : Pods()) indexes.push_back(AnnotationOf(*pod, "batch.kubernetes.io/job-completion-index"));
  std::ranges::sort(indexes);
  CHECK(indexes == std::vector<std::string>{"0", "1", "2"});
  Advance(1000);
  CHECK(DigString(Status(), "completedIndexes") == "0-2");
  CHECK(Condition("Complete") == "CompletionsReached");
}

TEST_CASE_METHOD(WorkloadFixture, "A finished Job goes after its ttl, with its pods") {
  Apply(Job({{"ttlSecondsAfterFinished", 60}}, {{kRunForAnnotation, "1s"}}));
  BindAll("n");
  Advance(1000);
  Advance(59'000);
  CHECK(store().Find(kJobs, "default", "j"));
  Advance(1000);
  CHECK_FALSE(store().Find(kJobs, "default", "j"));
  world.Pump();
  CHECK(Pods().empty());
}

TEST_CASE_METHOD(WorkloadFixture, "Pods of a deleted Job are not held back by the finalizer that counted them") {
  Apply(Job({{"parallelism", 2}}));
  BindAll("n");
  REQUIRE(store().Delete(kJobs, "default", "j"));
  world.Pump();
  CHECK(Pods().empty());
}

TEST_CASE_METHOD(WorkloadFixture, "A deadline fails the Job") {
  Apply(Job({{"activeDeadlineSeconds", 30}}));
  BindAll("n");
  Advance(30'000);
  CHECK(Condition("Failed") == "DeadlineExceeded");
  CHECK(Pods().empty());
}

}  // namespace
}  // namespace tutti::sim
