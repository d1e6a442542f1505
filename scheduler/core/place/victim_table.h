// SPDX-License-Identifier: Apache-2.0
// VictimTable: the pods of each node as a preemption looks at them, the most important first.
//
// A node's list is made when it is asked for, and kept until something about its pods changes. One thread.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cluster/state.h"

namespace tutti::core {

struct PossibleVictim {
  model::PodId pod;
  int32_t priority = 0;
  base::Millis started_ms = kNotStarted;  // wall time
  const cluster::PodClass* pod_class = nullptr;
  std::span<const model::DisruptionBudget* const> budgets;  // that protect it

  static constexpr base::Millis kNotStarted = std::numeric_limits<base::Millis>::max();
};

// Returns how much of the resource a pod of the class takes.
int64_t AmountOf(const cluster::PodClass& pod_class, model::ResourceId column);

class VictimTable {
 public:
  // `state` must outlive this.
  explicit VictimTable(const cluster::ClusterState& state) : state_(state) {}

  // Returns the pods that weigh on the node, but for those that a speculation evicted and those that leave for a gang,
  // whose room is kept for that: by priority, then by how long they have run; pods that have not started come last, and
  // ties go by age and name. Valid until the next call.
  std::span<const PossibleVictim> On(model::NodeId n);
  // Returns those of a lower priority than this. Valid as long.
  std::span<const PossibleVictim> Below(model::NodeId n, int32_t priority);

 private:
  struct Pods {
    static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
    uint64_t version = kNever, budgets_version = 0;
    std::vector<PossibleVictim> pods;
    std::vector<const model::DisruptionBudget*> budgets;
  };
  void Make(model::NodeId n, Pods* node) const;

  const cluster::ClusterState& state_;
  std::vector<Pods> nodes_;  // by slot
};

}  // namespace tutti::core
