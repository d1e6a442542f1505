// SPDX-License-Identifier: Apache-2.0
// sim/nodes/node_lifecycle.h - what a cluster does for nodes themselves: a new node reports in and turns Ready, its
// taints follow its Ready condition, and pods of a vanished node are removed.
//
// As kubelet registration, the node lifecycle controller and the pod garbage collector do it, without heartbeats.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/store/component.h"
#include "sim/store/work_queue.h"

namespace tutti::sim {

class NodeLifecycle final : public Component {
 public:
  NodeLifecycle(Store& store, const base::Clock& clock) : store_(store), clock_(clock) {}

  std::string_view name() const override { return "node-lifecycle"; }
  void Observe(const WatchEvent& event) override;
  bool Work() override;
  std::optional<base::Millis> NextDeadline() const override { return pods_.NextTime(); }

  // Faults: the node stops reporting (Ready=Unknown and its taints), or reports again.
  void Silence(const std::string& node);
  void Revive(const std::string& node);

 private:
  void Register(const Json& node);
  void FollowReadiness(const Json& node);
  void ReconcileNode(const std::string& name);
  void ReconcilePod(const ObjectKey& key);

  Store& store_;
  const base::Clock& clock_;
  WorkQueue nodes_;
  WorkQueue pods_;                                    // bound to a node that is not there
  std::map<std::string, std::set<ObjectKey>> bound_;  // by node name
  uint32_t next_ip_ = 0;
};

}  // namespace tutti::sim
