// SPDX-License-Identifier: Apache-2.0
// TestCluster: a ClusterState filled from short JSON, for tests of plugins and rankings.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "base/json.h"
#include "cluster/json_decode.h"
#include "cluster/state.h"

namespace tutti::tests {

using json = base::Json;

// Returns a Node, made of {name, labels, taints, unschedulable, images, allocatable}. Its allocatable is
// 10 cpu, 10Gi and 110 pods, except for what `allocatable` says.
inline json NodeManifest(const json& brief) {
  json allocatable = {{"cpu", "10"}, {"memory", "10Gi"}, {"pods", "110"}};
  allocatable.update(brief.value("allocatable", json::object()));
  return {{"metadata", {{"name", brief.at("name")}, {"labels", brief.value("labels", json::object())}}},
          {"spec",
           {{"taints", brief.value("taints", json::array())}, {"unschedulable", brief.value("unschedulable", false)}}},
          {"status", {{"allocatable", allocatable}, {"images", brief.value("images", json::array())}}}};
}

// Returns a Pod, made of {name, namespace, labels, node, owner, requests, ...}. `requests` makes one container, `owner`
// is the controller's reference, and everything else goes into the spec.
inline json PodManifest(const json& brief) {
  json spec = brief;
  for (const char* field : {"name", "namespace", "labels", "node", "owner", "requests"}) spec.erase(field);
  if (!spec.contains("containers"))
    spec["containers"] =
        json::array({{{"name", "c"}, {"resources", {{"requests", brief.value("requests", json::object())}}}}});
  if (brief.contains("node")) spec["nodeName"] = brief["node"];
  const std::string name = brief.value("name", "pod");
  json pod = {{"metadata",
               {{"name", name},
                {"namespace", brief.value("namespace", "default")},
                {"uid", "uid-" + name},
                {"labels", brief.value("labels", json::object())}}},
              {"spec", spec}};
  if (brief.contains("owner")) {
    json owner = brief["owner"];
    owner["controller"] = true;
    pod["metadata"]["ownerReferences"] = json::array({owner});
  }
  return pod;
}

class TestCluster {
 public:
  model::NodeId AddNode(const json& brief) {
    auto node = cluster::DecodeNode(NodeManifest(brief));
    if (!node) throw std::runtime_error(node.error().message);
    return state_.ApplyNode(std::make_shared<const model::Node>(*std::move(node))).id;
  }
  model::PodId AddPod(json brief) {
    if (!brief.contains("name")) brief["name"] = fmt::format("pod-{}", ++made_);
    auto pod = cluster::DecodePod(PodManifest(brief));
    if (!pod) throw std::runtime_error(pod.error().message);
    const model::PodId id = state_.ApplyPod(std::make_shared<const model::Pod>(*std::move(pod))).id;
    state_.Reclassify();
    return id;
  }
  // Adds a claim, a volume, a StorageClass, ...: the manifest as it is.
  void AddStorage(const json& manifest) {
    for (const model::ObjectKind& kind : cluster::StorageKinds()) {
      if (kind.kind != manifest.at("kind")) continue;
      auto object = cluster::DecodeObject(kind, std::make_shared<const json>(manifest));
      if (!object) throw std::runtime_error(object.error().message);
      object->group = kind.group;
      std::vector<std::string> problems;
      state_.ApplyStorage(*object, &problems);
      if (!problems.empty()) throw std::runtime_error(problems.front());
    }
  }
  // Adds a Service or a controller: the manifest as it is.
  void AddSelection(const json& manifest) {
    for (const model::ObjectKind& kind : cluster::SelectionKinds()) {
      if (kind.kind != manifest.at("kind")) continue;
      std::vector<std::string> problems;
      state_.ApplySelection(cluster::DecodeSelection(*cluster::FindSelectionKind(kind.Name()), manifest, &problems));
      if (!problems.empty()) throw std::runtime_error(problems.front());
    }
  }
  // Adds a pod that waits, and returns its class.
  const cluster::PodClass& Class(const json& brief) { return *state_.pod(AddPod(brief)).pod_class; }

  cluster::ClusterState& state() { return state_; }
  const cluster::ClusterState& state() const { return state_; }
  cluster::Snapshot& snapshot() { return state_.planning(); }
  model::NodeId Node(const std::string& name) const { return state_.snapshot().FindNode(name); }

 private:
  cluster::ClusterState state_;
  int made_ = 0;
};

}  // namespace tutti::tests
