// SPDX-License-Identifier: Apache-2.0
// Evictable: on each node, what is held by pods that might be evicted, by priority; and when what others hold last
// became less. So it is seen at once that even without all pods of lower priority there is not enough room, and whether
// that may be otherwise by now.
//
// It is generous. A pod that is reserved counts, as it may go once it is bound, and its node does not change then.
// Which pods may really go is decided where victims are chosen (victim_units.h). It is kept from node to node by the
// log of the snapshot, and costs what the touched nodes hold. Scheduler thread only.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "core/gangs/gang_book.h"
#include "model/ids.h"

namespace tutti::core {

// Tells whether a pod is never evicted: one of kube-system, of the system-critical priorities, of a DaemonSet, of a
// node's own manifests, or one that asks to be left alone.
bool NeverGoes(const model::Pod& pod);
// Returns the priority by which it goes: Evictable::kLeaving if it leaves already, else its gang's, else its own.
// `gang` null: it has none.
int32_t GoesBy(const cluster::PodEntry& pod, const Gang* gang);

class Evictable {
 public:
  // Both must outlive it.
  Evictable(const cluster::ClusterState& state, const GangBook& book) : state_(state), book_(book) {}

  // Reads what changed. While something is speculated, what was read before that stays. REQUIRES: this is not the first
  // time then.
  void CatchUp();
  // Makes the next CatchUp read all again. What does not touch a node is not seen by its log: what pods say about being
  // evicted, or what their gang's priority is.
  void ReadAnew() { begun_ = false; }

  // What pods of one priority hold of one resource on a node. Those that leave already have kLeaving.
  struct Held {
    int32_t priority = 0;
    model::ResourceId column;
    int64_t amount = 0;
  };
  static constexpr int32_t kLeaving = std::numeric_limits<int32_t>::min();
  // Returns what is held on the node by priority, lowest first, then by column. REQUIRES, as the others: caught up.
  std::span<const Held> On(model::NodeId n) const {
    return n.index() < nodes_.size() ? std::span<const Held>(nodes_[n.index()].held) : std::span<const Held>();
  }
  // Returns the priorities below `priority` of pods that might go, lowest first.
  std::vector<int32_t> PrioritiesBelow(int32_t priority) const;

  // Returns a name of this moment, to ask about later.
  uint64_t now() const { return now_; }
  // Tells whether since `then` a node came or changed itself, or something was given up that pods below `priority` do
  // not hold.
  bool MoreSince(uint64_t then, int32_t priority) const;

 private:
  struct Node {
    uint64_t version = 0;  // NodeEntry::version
    std::vector<Held> held;
    std::vector<Held> others;  // what is held by none of these; no priority
  };
  void Read(model::NodeId n);
  Node Look(model::NodeId n) const;
  void NoteLess(const std::vector<Held>& before, const std::vector<Held>& now, bool others);
  void Count(const std::vector<Held>& held, int32_t by);

  const cluster::ClusterState& state_;
  const GangBook& book_;
  std::vector<Node> nodes_;            // by slot
  std::map<int32_t, int64_t> places_;  // by priority: how many entries there are
  std::vector<model::NodeId> touched_;
  uint64_t seen_ = 0;  // of the log
  bool begun_ = false;
  uint64_t now_ = 0;                     // counts the calls of CatchUp that found something
  uint64_t changed_at_ = 0;              // when a node last came or changed, or it is not known what did
  std::map<int64_t, uint64_t> less_at_;  // when pods of a priority last held less somewhere; kOthers: others
  static constexpr int64_t kOthers = std::numeric_limits<int64_t>::max();
};

}  // namespace tutti::core
