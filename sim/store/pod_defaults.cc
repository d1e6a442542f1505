// SPDX-License-Identifier: Apache-2.0
// What a pod's fields mean when left out.

#include "cluster/json_decode.h"
#include "sim/objects/quantity_text.h"
#include "sim/store/strategy.h"

namespace tutti::sim {
namespace {

constexpr int kFileMode = 0644;

bool IsLatest(const std::string& image) {
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  if (image.find('@') != std::string::npos) return false;
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest";
}

void CanonicalizeRequirements(Json& holder) {
  const auto resources = holder.find("resources");
  if (resources == holder.end() || !resources->is_object()) return;
  for (const char* list : {"limits", "requests"}) {
    if (resources->contains(list)) CanonicalizeResources((*resources)[list]);
  }
}

void DefaultProbe(Json& container, const char* field) {
  const auto probe = container.find(field);
  if (probe == container.end() || !probe->is_object()) return;
  SetDefault(*probe, "timeoutSeconds", 1);
  SetDefault(*probe, "periodSeconds", 10);
  SetDefault(*probe, "successThreshold", 1);
  SetDefault(*probe, "failureThreshold", 3);
  if (Child(*probe, "httpGet").is_object()) SetDefault((*probe)["httpGet"], "scheme", "HTTP");
}

void DefaultFieldRef(Json& holder) {
  if (Child(holder, "fieldRef").is_object()) SetDefault(holder["fieldRef"], "apiVersion", "v1");
}

void DefaultContainer(Json& container, bool host_network) {
  SetDefault(container, "imagePullPolicy", IsLatest(DigString(container, "image")) ? "Always" : "IfNotPresent");
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "resources", Json::object());
  CanonicalizeRequirements(container);
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) DefaultProbe(container, probe);
  if (Child(container, "env").is_array()) {
    for (Json& variable : container["env"]) {
      if (Child(variable, "valueFrom").is_object()) DefaultFieldRef(variable["valueFrom"]);
    }
  }
  if (!Child(container, "ports").is_array()) return;
  for (Json& port : container["ports"]) {
    SetDefault(port, "protocol", "TCP");
    if (host_network) SetDefault(port, "hostPort", Child(port, "containerPort"));
  }
}

void DefaultItems(Json& source) {
  if (!Child(source, "items").is_array()) return;
  for (Json& item : source["items"]) DefaultFieldRef(item);
}

void DefaultVolume(Json& volume) {
  if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"] = Json::object();
  for (const char* kind : {"secret", "configMap", "downwardAPI", "projected"}) {
    if (Child(volume, kind).is_object()) SetDefault(volume[kind], "defaultMode", kFileMode);
  }
  if (Child(volume, "downwardAPI").is_object()) DefaultItems(volume["downwardAPI"]);
  if (Child(volume, "hostPath").is_object() && !volume["hostPath"].contains("type")) volume["hostPath"]["type"] = "";
  if (Dig(volume, "ephemeral", "volumeClaimTemplate").is_object()) {
    Json& claim = volume["ephemeral"]["volumeClaimTemplate"];
    SetDefault(claim, "metadata", Json::object());
    if (Child(claim, "spec").is_object()) SetDefault(claim["spec"], "volumeMode", "Filesystem");
  }
  if (!Dig(volume, "projected", "sources").is_array()) return;
  for (Json& source : volume["projected"]["sources"]) {
    if (Child(source, "downwardAPI").is_object()) DefaultItems(source["downwardAPI"]);
    if (Child(source, "serviceAccountToken").is_object()) {
      SetDefault(source["serviceAccountToken"], "expirationSeconds", 3600);
    }
  }
}

// Only of pods, not of templates: what has a limit and no request requests its limit.
void DefaultRequests(Json& holder) {
  const Json limits = Dig(holder, "resources", "limits");
  for (const auto& [name, value] : MapOf(limits).items()) {
    Json& requests = ObjectAt(ObjectAt(holder, "resources"), "requests");
    if (!requests.contains(name)) requests[name] = value;
  }
}

// What the pod itself leaves out, where it says anything of its resources.
void DefaultPodLevel(Json& spec) {
  if (!Child(spec, "resources").is_object()) return;
  const cluster::PodLevelResources pod = cluster::DefaultPodLevel(spec);
  const auto add = [&spec](const char* list, const model::ResourceList& amounts) {
    for (const auto& [name, amount] : amounts) {
      Json& there = ObjectAt(ObjectAt(spec, "resources"), list);
      if (!there.contains(name)) there[name] = model::FormatAmount(name, amount);
    }
  };
  add("limits", pod.limits);
  add("requests", pod.requests);
}

void AddToleration(Json& spec, const char* key) {
  Json& tolerations = spec["tolerations"];
  if (!tolerations.is_array()) tolerations = Json::array();
  for (const Json& each : tolerations) {
    const std::string& effect = DigString(each, "effect");
    const std::string& its_key = DigString(each, "key");
    if ((its_key == key || its_key.empty()) && (effect == "NoExecute" || effect.empty())) return;
  }
  tolerations.push_back({{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
}

template <class Work>
void ForEach(Json& holder, const char* list, Work&& work) {
  const auto found = holder.find(list);
  if (found == holder.end() || !found->is_array()) return;
  for (Json& each : *found) {
    if (each.is_object()) work(each);
  }
}

}  // namespace

void DefaultPodSpec(Json& spec) {
  if (!spec.is_object()) return;
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "schedulerName", "default-scheduler");
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  if (IntOf(Child(spec, "terminationGracePeriodSeconds")) < 0) spec["terminationGracePeriodSeconds"] = 1;
  SetDefault(spec, "securityContext", Json::object());
  if (const Json account = Child(spec, "serviceAccountName"); account.is_string() && account != "") {
    spec["serviceAccount"] = account;
  }
  const bool host_network = BoolOf(Child(spec, "hostNetwork"));
  for (const char* list : kContainerLists) {
    ForEach(spec, list, [&](Json& container) { DefaultContainer(container, host_network); });
  }
  ForEach(spec, "volumes", DefaultVolume);
  if (spec.contains("overhead")) CanonicalizeResources(spec["overhead"]);
}

void DefaultPod(Json& pod) {
  Json& spec = ObjectAt(pod, "spec");
  DefaultPodSpec(spec);
  SetDefault(spec, "enableServiceLinks", true);
  for (const char* list : kContainerLists) ForEach(spec, list, DefaultRequests);
  CanonicalizeRequirements(spec);
  DefaultPodLevel(spec);
  AddToleration(spec, "node.kubernetes.io/not-ready");
  AddToleration(spec, "node.kubernetes.io/unreachable");
}

}  // namespace tutti::sim
