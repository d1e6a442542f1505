// SPDX-License-Identifier: Apache-2.0
#include "tests/dialects/kueue_objects.h"

namespace tutti::dialects::kueue {
namespace {

using Texts = std::vector<std::string>;

// A queue whose gangs wait for an autoscaler.
class Provisioned {
 public:
  Provisioned() {
    cluster.Add("admissionchecks",
                Named("AdmissionCheck", "gpu",
                      {{"controllerName", "kueue.x-k8s.io/provisioning-request"},
                       {"parameters",
                        {{"apiGroup", "kueue.x-k8s.io"}, {"kind", "ProvisioningRequestConfig"}, {"name", "c"}}}}));
    cluster.Add("provisioningrequestconfigs", Named("ProvisioningRequestConfig", "c",
                                                    {{"provisioningClassName", "queued-provisioning.gke.io"},
                                                     {"managedResources", {"nvidia.com/gpu"}}}));
    Json queue =
        ClusterQueue("cluster-queue",
                     {{"admissionChecks", {"gpu"}},
                      {"resourceGroups",
                       Json::array({Quota("default-flavor", {{"cpu", 2}, {"memory", "8G"}, {"nvidia.com/gpu", 1}})})}});
    cluster.Add("clusterqueues", queue);
    cluster.Add("rayjobs", RayJob("j"));
    cluster.Create(key);
    cluster.report.quota.has = HeldBy(key, "uid-j");
  }

  Cluster cluster;
  const model::GangKey key = cluster.KeyOf("j");
  std::string Request(int attempt) const { return key.name + "-gpu-" + std::to_string(attempt); }
  const Json& Check() const { return cluster.At("Workload", key.name)["status"]["admissionChecks"][0]; }
  void Answer(int attempt, const std::string& type, const std::string& message, const std::string& status = "True") {
    Json answer = {{"status", cluster.At("ProvisioningRequest", Request(attempt)).value("status", Json::object())}};
    answer["status"]["conditions"].push_back({{"type", type}, {"status", status}, {"message", message}});
    cluster.Edit("ProvisioningRequest", Request(attempt), answer);
  }
};

}  // namespace

TEST_CASE("with quota a gang asks its autoscaler for nodes, and is admitted once there are some") {
  Provisioned p;
  CHECK(p.cluster.dialect.Describe(p.key).quota->awaits_checks);
  CHECK_FALSE(p.cluster.dialect.Describe(p.key).quota->places_before_checks);
  CHECK(p.cluster.Settle(p.key) == Texts{"status of Workload", "create PodTemplate", "create ProvisioningRequest"});
  CHECK(p.cluster.Condition(p.key.name, "QuotaReserved").starts_with("True"));
  CHECK(p.cluster.Condition(p.key.name, "Admitted") == "");
  CHECK(p.Check()["state"] == "Pending");
  CHECK(p.Check()["message"] == "");
  const Json& request = p.cluster.At("ProvisioningRequest", p.Request(1));
  CHECK(request["spec"] == Json::parse(R"({"provisioningClassName":"queued-provisioning.gke.io","parameters":{},
      "podSets":[{"count":1,"podTemplateRef":{"name":"ppt-)" +
                                       p.Request(1) + R"(-head"}}]})"));
  CHECK(request["metadata"]["labels"]["kueue.x-k8s.io/managed"] == "true");
  CHECK(request["metadata"]["ownerReferences"][0]["kind"] == "Workload");
  const Json& containers =
      p.cluster.At("PodTemplate", "ppt-" + p.Request(1) + "-head")["template"]["spec"]["containers"];
  CHECK(containers[0]["resources"]["requests"]["nvidia.com/gpu"] == "1");

  p.Answer(1, "Accepted", "queued");
  p.Answer(1, "Provisioned", "ETA: soon", "False");
  CHECK(p.cluster.Settle(p.key) == Texts{"status of Workload"});
  CHECK(p.Check()["message"] == "ETA: soon");
  Json provisioned = {
      {"status", {{"conditions", Json::array({{{"type", "Provisioned"}, {"status", "True"}, {"message", "done"}}})}}}};
  p.cluster.Edit("ProvisioningRequest", p.Request(1), provisioned);
  CHECK(p.cluster.Settle(p.key) == Texts{"status of Workload"});
  CHECK(p.Check()["state"] == "Ready");
  CHECK_FALSE(p.cluster.dialect.Describe(p.key).quota->awaits_checks);
  CHECK(p.cluster.At("RayJob", "j")["spec"]["suspend"] == true);

  p.cluster.report.state = GangState::kAdmitted;
  CHECK(p.cluster.Settle(p.key) == Texts{"status of Workload", "patch RayJob"});
  CHECK(p.cluster.Condition(p.key.name, "Admitted").starts_with("True"));
  const Json& meta = p.cluster.At("RayJob", "j")["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["metadata"];
  CHECK(meta["annotations"]["autoscaling.x-k8s.io/consume-provisioning-request"] == p.Request(1));
  CHECK(meta["annotations"]["autoscaling.x-k8s.io/provisioning-class-name"] == "queued-provisioning.gke.io");

  p.Answer(1, "BookingExpired", "late");  // it is admitted
  CHECK(p.cluster.Settle(p.key).empty());
  p.cluster.Edit("RayJob", "j", {{"status", {{"jobDeploymentStatus", "Complete"}, {"jobStatus", "SUCCEEDED"}}}});
  p.cluster.report.quota = {};
  const Texts done = p.cluster.Settle(p.key);
  CHECK_FALSE(p.cluster.Has("ProvisioningRequest", p.Request(1)));
  CHECK_FALSE(p.cluster.Has("PodTemplate", "ppt-" + p.Request(1) + "-head"));
}

TEST_CASE("a request that failed is tried again after a pause, with quota given back meanwhile") {
  Provisioned p;
  p.cluster.Settle(p.key);
  p.Answer(1, "Failed", "no room");
  CHECK(p.cluster.Settle(p.key) == Texts{"status of Workload", "delete ProvisioningRequest", "delete PodTemplate"});
  CHECK(p.Check()["state"] == "Retry");
  CHECK(p.Check()["message"] == "Retrying after failure: no room");
  CHECK(p.Check()["retryCount"] == 1);
  CHECK(p.cluster.dialect.Describe(p.key).quota->barred == "AdmissionCheck");
  CHECK(p.cluster.dialect.Describe(p.key).quota->not_before_ms == kNow + 60'000);

  p.cluster.report.quota.has.reset();
  p.cluster.report.quota.evicted_reason = "AdmissionCheck";
  p.cluster.report.quota.evictions = 1;
  const Texts done = p.cluster.Settle(p.key);
  CHECK(p.cluster.Condition(p.key.name, "Evicted") == "True AdmissionCheck: At least one admission check is false");
  CHECK(p.cluster.Condition(p.key.name, "QuotaReserved") == "False Pending: At least one admission check is false");
  CHECK(p.cluster.Condition(p.key.name, "Requeued").starts_with("False AdmissionCheck"));
  CHECK(p.Check()["state"] == "Pending");
  CHECK(p.Check()["message"] == "Reset to Pending after eviction. Previously: Retry");
  CHECK(p.cluster.dialect.Describe(p.key).quota->barred == "");
  CHECK_FALSE(p.cluster.Has("ProvisioningRequest", p.Request(1)));

  p.cluster.now += 60'000;
  p.cluster.report.quota.reason = "PendingEvaluation";
  p.cluster.report.quota.message = "it is looked at";
  p.cluster.Settle(p.key);
  CHECK(p.cluster.Condition(p.key.name, "Requeued").starts_with("True BackoffFinished"));
  p.cluster.report.quota = {};
  p.cluster.report.quota.has = HeldBy(p.key, "uid-j");
  p.cluster.Settle(p.key);
  CHECK(p.cluster.Has("ProvisioningRequest", p.Request(2)));
  CHECK(p.cluster.Condition(p.key.name, "Evicted") ==
        "False QuotaReserved: Previously: At least one admission check is false");
}

TEST_CASE("capacity that is revoked deactivates the Workload, also one that runs") {
  Provisioned p;
  p.cluster.Settle(p.key);
  p.Answer(1, "Provisioned", "done");
  p.cluster.report.state = GangState::kAdmitted;
  p.cluster.Settle(p.key);
  p.cluster.Settle(p.key);
  p.Answer(1, "CapacityRevoked", "taken");
  CHECK(p.cluster.Settle(p.key) == Texts{"status of Workload", "patch Workload"});
  CHECK(p.Check()["state"] == "Rejected");
  CHECK(p.cluster.At("Workload", p.key.name)["spec"]["active"] == false);
  CHECK(p.cluster.dialect.Describe(p.key).quota->barred == "DeactivatedDueToAdmissionCheck");
  p.cluster.report.quota.has->evicted = true;
  p.cluster.report.quota.evicted_reason = "DeactivatedDueToAdmissionCheck";
  CHECK(p.cluster.Settle(p.key) ==
        Texts{"status of Workload", "delete ProvisioningRequest", "delete PodTemplate", "patch RayJob"});
  CHECK(
      p.cluster.Condition(p.key.name, "Evicted") ==
      "True DeactivatedDueToAdmissionCheck: The workload is deactivated due to Admission check(s): gpu, were rejected");
  CHECK(p.cluster.At("RayJob", "j")["spec"]["suspend"] == true);
}

TEST_CASE("a gang that asks for nothing that is managed needs no request") {
  Provisioned p;
  Json config = Named("ProvisioningRequestConfig", "c",
                      {{"provisioningClassName", "x"}, {"managedResources", {"example.com/other"}}});
  p.cluster.Add("provisioningrequestconfigs", config);
  p.cluster.Settle(p.key);
  CHECK(p.Check()["state"] == "Ready");
  CHECK(p.Check()["message"] == "the provisioning request is not needed");
  CHECK_FALSE(p.cluster.Has("ProvisioningRequest", p.Request(1)));
}

}  // namespace tutti::dialects::kueue
