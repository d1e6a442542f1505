// SPDX-License-Identifier: Apache-2.0
#include "sim/nodes/node_lifecycle.h"

#include <fmt/format.h>

namespace tutti::sim {
namespace {

// The pod garbage collector's quarantine for nodes it has not seen (pkg/controller/podgc).
constexpr base::Millis kQuarantineMs = 40'000;

constexpr const char* kNotReadyTaint = "node.kubernetes.io/not-ready";
constexpr const char* kUnreachableTaint = "node.kubernetes.io/unreachable";

bool IsReadinessTaint(const Json& taint) {
  const std::string& key = DigString(taint, "key");
  return key == kNotReadyTaint || key == kUnreachableTaint;
}

// The taints that belong to this value of the Ready condition.
Json ReadinessTaints(const std::string& ready, const std::string& now) {
  Json taints = Json::array();
  if (ready == "True") return taints;
  const char* key = ready == "False" ? kNotReadyTaint : kUnreachableTaint;
  for (const char* effect : {"NoSchedule", "NoExecute"}) {
    taints.push_back({{"key", key}, {"effect", effect}, {"timeAdded", now}});
  }
  return taints;
}

bool SameTaint(const Json& a, const Json& b) {
  return DigString(a, "key") == DigString(b, "key") && DigString(a, "effect") == DigString(b, "effect");
}

}  // namespace

void NodeLifecycle::Observe(const WatchEvent& event) {
  if (event.resource == kNodes) {
    const std::string& name = NameOf(*event.object);
    nodes_.Add({"", name});
    if (event.type != EventType::kDeleted) return;
    if (const auto it = bound_.find(name); it != bound_.end()) {
      for (const ObjectKey& key : it->second) pods_.AddAt(key, clock_.MonotonicMs() + kQuarantineMs);
    }
  }
  if (event.resource != kPods) return;
  const std::string& node = DigString(*event.object, "spec", "nodeName");
  const ObjectKey key = KeyFor(*event.object);
  if (node.empty() && IsTerminating(*event.object)) pods_.Add(key);
  if (node.empty()) return;
  if (event.type == EventType::kDeleted) {
    const auto it = bound_.find(node);
    if (it == bound_.end()) return;
    it->second.erase(key);
    if (it->second.empty()) bound_.erase(it);
  } else if (bound_[node].insert(key).second && !store_.Find(kNodes, "", node)) {
    pods_.AddAt(key, clock_.MonotonicMs() + kQuarantineMs);
  }
}

bool NodeLifecycle::Work() {
  bool worked = false;
  const base::Millis now = clock_.MonotonicMs();
  while (const auto key = nodes_.Take(now)) {
    ReconcileNode(key->name);
    worked = true;
  }
  while (const auto key = pods_.Take(now)) {
    ReconcilePod(*key);
    worked = true;
  }
  return worked;
}

void NodeLifecycle::ReconcileNode(const std::string& name) {
  Object node = store_.Find(kNodes, "", name);
  if (!node) return;
  if (ConditionOf(*node, "Ready").is_null()) {
    Register(*node);
    node = store_.Find(kNodes, "", name);
    if (!node) return;
  }
  FollowReadiness(*node);
}

void NodeLifecycle::Register(const Json& node) {
  const std::string name = NameOf(node);
  store_.Modify(kNodes, "", name, [&](Json& next) {
    Json& labels = next["metadata"]["labels"];
    for (const auto& [key, value] :
         {std::pair{"kubernetes.io/hostname", name.c_str()}, std::pair{"kubernetes.io/os", "linux"},
          std::pair{"kubernetes.io/arch", "amd64"}}) {
      if (!labels.contains(key)) labels[key] = value;
    }
  });
  const base::Millis now = store_.now_ms();
  const std::string ip = fmt::format("10.0.{}.{}", next_ip_ / 250, next_ip_ % 250 + 1);
  ++next_ip_;
  store_.Modify(
      kNodes, "", name,
      [&](Json& next) {
        Json& status = next["status"];
        const Json given = Child(status, "allocatable").is_object() ? status["allocatable"] : Child(status, "capacity");
        Json allocatable = given.is_object() ? given : Json::object();
        if (!allocatable.contains("pods")) allocatable["pods"] = "110";
        Json capacity = Child(status, "capacity").is_object() ? status["capacity"] : allocatable;
        for (const auto& [resource, amount] : allocatable.items()) {
          if (!capacity.contains(resource)) capacity[resource] = amount;
        }
        status["capacity"] = std::move(capacity);
        status["allocatable"] = std::move(allocatable);
        if (Child(status, "addresses").empty()) {
          status["addresses"] = {{{"type", "InternalIP"}, {"address", ip}}, {{"type", "Hostname"}, {"address", name}}};
        }
        if (Child(status, "nodeInfo").empty()) {
          status["nodeInfo"] = {{"architecture", "amd64"},
                                {"operatingSystem", "linux"},
                                {"kubeletVersion", "v1.36.3"},
                                {"kubeProxyVersion", ""},
                                {"bootID", ""},
                                {"machineID", ""},
                                {"systemUUID", ""},
                                {"osImage", "simulated"},
                                {"kernelVersion", "simulated"},
                                {"containerRuntimeVersion", "simulated://1"}};
        }
        SetCondition(
            next, {"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
            now);
        SetCondition(next, {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"}, now);
        SetCondition(next, {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
                     now);
        SetCondition(next, {"Ready", "True", "KubeletReady", "kubelet is posting ready status"}, now);
      },
      Part::kStatus);
}

void NodeLifecycle::FollowReadiness(const Json& node) {
  const Json wanted =
      ReadinessTaints(DigString(ConditionOf(node, "Ready"), "status"), base::FormatTime(store_.now_ms()));
  Json taints = Json::array();
  std::vector<Json> missing(wanted.begin(), wanted.end());
  for (const Json& taint : Dig(node, "spec", "taints")) {
    const size_t before = missing.size();
    std::erase_if(missing, [&](const Json& each) { return SameTaint(each, taint); });
    if (!IsReadinessTaint(taint) || missing.size() < before) taints.push_back(taint);
  }
  for (Json& taint : missing) taints.push_back(std::move(taint));
  const Json& now = Dig(node, "spec", "taints");
  if (taints == now || (taints.empty() && now.empty())) return;
  store_.Modify(kNodes, "", NameOf(node), [&](Json& next) {
    if (taints.empty())
      next["spec"].erase("taints");
    else
      next["spec"]["taints"] = taints;
  });
}

// Pods that no kubelet will ever finish: on a node that is gone, or deleted before they had one.
void NodeLifecycle::ReconcilePod(const ObjectKey& key) {
  const Object pod = store_.Find(kPods, key.ns, key.name);
  if (!pod) return;
  const std::string& node = DigString(*pod, "spec", "nodeName");
  const bool orphaned = !node.empty() && !store_.Find(kNodes, "", node);
  if (!orphaned && !(node.empty() && IsTerminating(*pod))) return;
  const std::string uid = UidOf(*pod);
  if (!IsFinishedPod(*pod)) {
    store_.Modify(
        kPods, key.ns, key.name,
        [&](Json& next) {
          next["status"]["phase"] = "Failed";
          if (!orphaned) return;
          SetCondition(next, {"DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"},
                       store_.now_ms());
        },
        Part::kStatus);
  }
  DeleteOptions options;
  options.grace_seconds = 0;
  options.uid = uid;
  store_.Delete(kPods, key.ns, key.name, options);
}

void NodeLifecycle::Silence(const std::string& node) {
  store_.Modify(
      kNodes, "", node,
      [&](Json& next) {
        SetCondition(next, {"Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."},
                     store_.now_ms());
      },
      Part::kStatus);
}

void NodeLifecycle::Revive(const std::string& node) {
  store_.Modify(
      kNodes, "", node,
      [&](Json& next) {
        SetCondition(next, {"Ready", "True", "KubeletReady", "kubelet is posting ready status"}, store_.now_ms());
      },
      Part::kStatus);
}

}  // namespace tutti::sim
