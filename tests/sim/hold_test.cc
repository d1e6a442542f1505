// SPDX-License-Identifier: Apache-2.0
#include "sim/store/hold.h"

#include <map>

#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

struct HoldFixture : WorldFixture {
  HoldFixture() { AddNode("n"); }

  void Install(const char* policy) {
    Apply({{"apiVersion", "admissionregistration.k8s.io/v1"},
           {"kind", "MutatingAdmissionPolicyBinding"},
           {"metadata", {{"name", policy}}},
           {"spec", {{"policyName", policy}}}});
  }
  static Json Job(const std::string& name) {
    return {{"apiVersion", "batch/v1"},
            {"kind", "Job"},
            {"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{kQueueNameLabel, "q"}}}}},
            {"spec", {{"template", {{"spec", PodSpec()}}}}}};
  }
  static Json RayJob(const std::string& name, bool shuts_down) {
    return {{"apiVersion", "ray.io/v1"},
            {"kind", "RayJob"},
            {"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{kQueueNameLabel, "q"}}}}},
            {"spec",
             {{"shutdownAfterJobFinishes", shuts_down},
              {"rayClusterSpec", {{"headGroupSpec", {{"template", {{"spec", PodSpec()}}}}}}}}}};
  }
  static Json PodSpec() { return {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}; }
};

TEST_CASE_METHOD(HoldFixture,
                 "A job with a queue's label is made suspended where the policy is bound, and not before") {
  Apply(Job("before"));
  CHECK_FALSE(BoolOf(Dig(*Get(kJobs, "before"), "spec", "suspend")));
  Install("tutti-hold-jobs");
  Apply(Job("held"));
  CHECK(BoolOf(Dig(*Get(kJobs, "held"), "spec", "suspend")));
  Json unlabelled = Job("unlabelled");
  unlabelled["metadata"].erase("labels");
  Apply(unlabelled);
  CHECK_FALSE(BoolOf(Dig(*Get(kJobs, "unlabelled"), "spec", "suspend")));
  world.Pump();
  CHECK(Pods().size() == 2);
}

TEST_CASE_METHOD(HoldFixture, "A RayJob is held before KubeRay makes anything of it, its RayCluster is left alone") {
  Install("tutti-hold-jobs");
  Apply(RayJob("train", true));
  world.Pump();
  CHECK(DigString(*Get(kRayJobs, "train"), "status", "jobDeploymentStatus") == "Suspended");
  CHECK(store().All(kRayClusters).empty());
  Modify(kRayJobs, "train", [](Json& job) { job["spec"]["suspend"] = false; });
  world.Pump();
  REQUIRE(store().All(kRayClusters).size() == 1);
  CHECK(LabelOf(*store().All(kRayClusters)[0], kQueueNameLabel) == "q");
  CHECK(Pods().size() == 1);
}

TEST_CASE_METHOD(HoldFixture, "A RayJob that KubeRay would not suspend is not held") {
  Install("tutti-hold-jobs");
  Apply(RayJob("stays", false));
  CHECK(Dig(*Get(kRayJobs, "stays"), "spec", "suspend").is_null());
}

TEST_CASE_METHOD(HoldFixture,
                 "A pod with a queue's label is gated, and placed by tutti; a job's pods are placed by it, too") {
  Install("tutti-hold-pods");
  Install("tutti-place-queued-pods");
  const Json meta = {{"name", "p"}, {"namespace", "default"}, {"labels", {{kQueueNameLabel, "q"}}}};
  Apply({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", meta}, {"spec", PodSpec()}});
  CHECK(DigString(Dig(*Pod("p"), "spec", "schedulingGates")[0], "name") == "kueue.x-k8s.io/admission");
  CHECK(LabelOf(*Pod("p"), "kueue.x-k8s.io/managed") == "true");
  CHECK(HasFinalizer(*Pod("p"), "kueue.x-k8s.io/managed"));
  CHECK(DigString(*Pod("p"), "spec", "schedulerName") == "tutti");

  Json job = Job("j");
  job["metadata"].erase("labels");
  job["spec"]["template"]["metadata"]["labels"]["kueue.x-k8s.io/podset"] = "main";
  Apply(job);
  world.Pump();
  for (const Object& pod : PodsLabelled("kueue.x-k8s.io/podset", "main")) {
    CHECK(DigString(*pod, "spec", "schedulerName") == "tutti");
    CHECK(Dig(*pod, "spec", "schedulingGates").empty());
  }
}

TEST_CASE_METHOD(HoldFixture,
                 "The pods of an elastic job that Kueue has started lose the gate of those, and no other") {
  Json job = Job("j");
  job["metadata"].erase("labels");
  job["spec"]["template"]["metadata"]["labels"]["kueue.x-k8s.io/podset"] = "main";
  job["spec"]["template"]["spec"]["schedulingGates"] = {{{"name", "own"}}, {{"name", "kueue.x-k8s.io/elastic-job"}}};
  Apply(job);
  world.Pump();
  Install("tutti-ungate-elastic-pods");
  job["metadata"]["name"] = "later";
  Apply(job);
  world.Pump();
  std::map<size_t, int> pods;  // by how many gates they have
  for (const Object& pod : PodsLabelled("kueue.x-k8s.io/podset", "main"))
    ++pods[Dig(*pod, "spec", "schedulingGates").size()];
  CHECK(pods == std::map<size_t, int>{{1, 1}, {2, 1}});
}

TEST_CASE_METHOD(HoldFixture, "An AppWrapper with a queue's label is made suspended, one of v1beta1 is not") {
  const GroupResource wrappers{"workload.codeflare.dev", "appwrappers"};
  const Json any = {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}};
  Apply({{"apiVersion", "apiextensions.k8s.io/v1"},
         {"kind", "CustomResourceDefinition"},
         {"metadata", {{"name", "appwrappers.workload.codeflare.dev"}}},
         {"spec",
          {{"group", wrappers.group},
           {"scope", "Namespaced"},
           {"names",
            {{"plural", wrappers.resource},
             {"singular", "appwrapper"},
             {"kind", "AppWrapper"},
             {"listKind", "AppWrapperList"}}},
           {"versions",
            {{{"name", "v1beta2"}, {"served", true}, {"storage", true}, {"schema", any}},
             {{"name", "v1beta1"}, {"served", true}, {"storage", false}, {"schema", any}}}}}}});
  Install("tutti-hold-jobs");
  const auto apply = [&](const char* version, const char* name, const char* items) {
    Apply({{"apiVersion", wrappers.group + "/" + version},
           {"kind", "AppWrapper"},
           {"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{kQueueNameLabel, "q"}}}}},
           {"spec", {{items, Json::array()}}}});
  };
  apply("v1beta2", "held", "components");
  CHECK(BoolOf(Dig(*Get(wrappers, "held"), "spec", "suspend")));
  apply("v1beta1", "left-alone", "resources");
  CHECK(Dig(*Get(wrappers, "left-alone"), "spec", "suspend").is_null());
}

}  // namespace
}  // namespace tutti::sim
