// SPDX-License-Identifier: Apache-2.0
#include "sim/store/workload_strategy.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "base/base64.h"
#include "sim/store/strategy.h"

namespace tutti::sim {
namespace {

// A free address of 10.96.0.0/16: from the name, so that the same manifests give the same addresses.
std::string FreeClusterIp(const Store& store, const Json& service) {
  std::set<std::string> taken = {"10.96.0.0", "10.96.0.1", "10.96.0.10", "10.96.255.255"};
  for (const Object& each : store.All(kServices)) taken.insert(DigString(*each, "spec", "clusterIP"));
  uint32_t hash = 2166136261u;
  for (const char c : KeyOf(service)) hash = (hash ^ uint8_t(c)) * 16777619u;
  for (uint32_t i = 0;; ++i) {
    std::string address = fmt::format("10.96.{}.{}", (hash + i) >> 8 & 255, (hash + i) & 255);
    if (!taken.contains(address) || i > 65'535) return address;
  }
}

void PrepareTemplate(Json& workload) {
  Json& spec = ObjectAt(workload, "spec");
  if (!Child(spec, "template").is_object()) return;
  Json& pod = spec["template"];
  if (Child(pod, "spec").is_object()) DefaultPodSpec(pod["spec"]);
  if (Child(pod, "metadata").is_object()) {
    pod["metadata"].erase("creationTimestamp");
  } else {
    pod["metadata"] = Json::object();
  }
}

}  // namespace

void PrepareReplicas(Json& workload) {
  PrepareTemplate(workload);
  Json& spec = ObjectAt(workload, "spec");
  SetDefault(spec, "replicas", 1);
  const Json& labels = Dig(spec, "template", "metadata", "labels");
  if (workload.value("kind", "") == "ReplicationController" && labels.is_object()) SetDefault(spec, "selector", labels);
  if (Child(workload, "status").is_null()) workload["status"] = {{"replicas", 0}};
}

void PrepareDeployment(Json& deployment) {
  PrepareTemplate(deployment);
  Json& spec = ObjectAt(deployment, "spec");
  SetDefault(spec, "replicas", 1);
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "progressDeadlineSeconds", 600);
  if (Child(spec, "strategy").empty()) spec.erase("strategy");
  SetDefault(spec, "strategy",
             {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", "25%"}, {"maxUnavailable", "25%"}}}});
}

void PrepareStatefulSet(Json& stateful_set) {
  PrepareTemplate(stateful_set);
  SetDefault(stateful_set, "status", {{"replicas", 0}, {"availableReplicas", 0}});
  Json& spec = ObjectAt(stateful_set, "spec");
  SetDefault(spec, "replicas", 1);
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "podManagementPolicy", "OrderedReady");
  SetDefault(spec, "persistentVolumeClaimRetentionPolicy", {{"whenDeleted", "Retain"}, {"whenScaled", "Retain"}});
  if (Child(spec, "updateStrategy").empty()) spec.erase("updateStrategy");
  SetDefault(spec, "updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"partition", 0}}}});
}

void PrepareDaemonSet(Json& daemon_set) {
  PrepareTemplate(daemon_set);
  Json& spec = ObjectAt(daemon_set, "spec");
  SetDefault(spec, "revisionHistoryLimit", 10);
  if (Child(spec, "updateStrategy").empty()) spec.erase("updateStrategy");
  SetDefault(spec, "updateStrategy",
             {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", 1}, {"maxSurge", 0}}}});
  SetDefault(
      daemon_set, "status",
      {{"currentNumberScheduled", 0}, {"numberMisscheduled", 0}, {"desiredNumberScheduled", 0}, {"numberReady", 0}});
}

void PrepareJob(Json& job, bool creating) {
  PrepareTemplate(job);
  SetDefault(job, "status", Json::object());
  Json& spec = ObjectAt(job, "spec");
  if (Child(spec, "completions").is_null() && Child(spec, "parallelism").is_null()) spec["completions"] = 1;
  SetDefault(spec, "parallelism", 1);
  SetDefault(spec, "backoffLimit", 6);
  SetDefault(spec, "completionMode", "NonIndexed");
  SetDefault(spec, "suspend", false);
  SetDefault(spec, "manualSelector", false);
  SetDefault(spec, "podReplacementPolicy",
             Child(spec, "podFailurePolicy").is_null() ? "TerminatingOrFailed" : "Failed");
  if (!creating || BoolOf(Child(spec, "manualSelector")) || !Child(spec, "template").is_object()) return;
  const std::string uid = UidOf(job);
  const bool labelled = !Dig(job, "metadata", "labels").empty();
  Json& labels = spec["template"]["metadata"]["labels"];
  if (!labels.is_null() && !labels.is_object()) return;
  for (const char* key : {"controller-uid", "batch.kubernetes.io/controller-uid"}) labels[key] = uid;
  for (const char* key : {"job-name", "batch.kubernetes.io/job-name"}) labels[key] = NameOf(job);
  spec["selector"] = {{"matchLabels", {{"batch.kubernetes.io/controller-uid", uid}}}};
  if (!labelled) job["metadata"]["labels"] = labels;
}

void PrepareService(const Store& store, Json& service) {
  SetDefault(service, "status", {{"loadBalancer", Json::object()}});
  Json& spec = ObjectAt(service, "spec");
  SetDefault(spec, "type", "ClusterIP");
  SetDefault(spec, "sessionAffinity", "None");
  if (Child(spec, "ports").is_array()) {
    for (Json& port : spec["ports"]) {
      if (!port.is_object()) continue;
      SetDefault(port, "protocol", "TCP");
      SetDefault(port, "targetPort", Child(port, "port"));
    }
  }
  if (spec["type"] == "ExternalName") return;
  SetDefault(spec, "internalTrafficPolicy", "Cluster");
  SetDefault(spec, "ipFamilies", {"IPv4"});
  SetDefault(spec, "ipFamilyPolicy", "SingleStack");
  if (DigString(spec, "clusterIP").empty()) spec["clusterIP"] = FreeClusterIp(store, service);
  SetDefault(spec, "clusterIPs", Json::array({spec["clusterIP"]}));
}

void PrepareSecret(Json& secret) {
  SetDefault(secret, "type", "Opaque");
  const Json plain = Child(secret, "stringData");
  if (!plain.is_object()) return;
  for (const auto& [key, value] : plain.items()) secret["data"][key] = base::EncodeBase64(StringOf(value));
  secret.erase("stringData");
}

}  // namespace tutti::sim
