// SPDX-License-Identifier: Apache-2.0
// PreemptionMemory: what searches for the victims of lone pods have found on nodes, kept for the next pod of the class.
//
// An answer about a node holds until something changes there: its object, its pods, or the pods that are nominated for
// it. So after one preemption the next pod of the class asks about the nodes that this touched, and about no others.
// Only where the filters judge a node by that node alone (Ranking::AloneForNow). All answers end with anything that may
// concern any node. Few classes are kept, each from its second question on: a class that asks once costs nothing.
// One thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "cluster/state.h"
#include "framework/ranking.h"
#include "model/ids.h"

namespace tutti::core {

// What upstream compares candidates by; the least is the best.
struct PreemptionCost {
  int64_t violations = 0, highest = 0, sum = 0, count = 0;
  base::Millis youngest = 0;  // the earliest start among the victims of highest priority, negated
  friend auto operator<=>(const PreemptionCost&, const PreemptionCost&) = default;
};

class PreemptionMemory {
 public:
  // `state` must outlive this.
  explicit PreemptionMemory(const cluster::ClusterState& state) : state_(state) {}

  // The answers about nodes for one class.
  class Answers {
   public:
    // Returns what victims there would cost, or that the node is no candidate; null: it is not known.
    const std::optional<PreemptionCost>* Find(model::NodeId n, uint64_t pods_version) const {
      const OnNode& answer = on_node_[n.index()];
      return answer.pods_version == pods_version ? &answer.cost : nullptr;
    }
    void Keep(model::NodeId n, uint64_t pods_version, const std::optional<PreemptionCost>& cost) {
      on_node_[n.index()] = {pods_version, cost};
    }

   private:
    friend class PreemptionMemory;
    static constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
    struct OnNode {
      uint64_t pods_version = kUnknown;
      std::optional<PreemptionCost> cost;
    };
    std::vector<OnNode> on_node_;  // by slot
  };

  // Returns the answers of the class; null: nothing is kept of it, this time. Valid until the next call. REQUIRES: the
  // ranking is of the class, and has caught up; nothing is speculated.
  Answers* Of(const cluster::PodClass& pod_class, const framework::Ranking& ranking);

 private:
  static constexpr size_t kClasses = 4;
  // What may concern any node.
  struct Epoch {
    size_t slots = 0;
    uint64_t affine_pods = 0, namespaces = 0, keys = 0, storage = 0, budgets = 0;
    friend bool operator==(const Epoch&, const Epoch&) = default;
  };
  struct Class {
    model::ClassId id;
    Epoch epoch;
    uint64_t seen = 0;     // of the snapshot's log of nodes
    uint64_t used_at = 0;  // 0: it is free
    Answers answers;       // of no nodes before the second question
  };
  Class& Find(const cluster::PodClass& pod_class, bool* again);
  Epoch Now(const cluster::PodClass& pod_class) const;

  const cluster::ClusterState& state_;
  std::array<Class, kClasses> classes_;
  uint64_t questions_ = 0;
  std::vector<model::NodeId> touched_;  // scratch
};

}  // namespace tutti::core
