// SPDX-License-Identifier: Apache-2.0
// Ranking: knows for one class under one profile which nodes are feasible and which is best, and keeps up to date.
//
// Cost: one pass over all nodes when made; then Refresh() is O(changed nodes · (plugins + log n)), and Best() is O(log
// n). If only pods of a node changed, only the plugins that read them are asked. When a change moves the maximum or
// minimum of a normalising score, that score is normalised again for all nodes. The part of an answer that nodes share
// (State::Shares) is kept for cells of nodes: its change is O(cells). Ties go to the lowest slot, so that the same
// input gives the same node.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/snapshot.h"
#include "framework/profile.h"
#include "model/node_refusals.h"

namespace tutti::framework {

// Why nodes were refused, and the filters that refused them.
struct Refusals : model::NodeRefusals {
  std::vector<std::string_view> plugins;  // each refused a node, or the class; names live as long as the profile
};

// The filters' answer about one node. `plugin` is the first that refuses, empty when the node is feasible.
struct NodeVerdict {
  Verdict verdict = Verdict::kFits;
  std::string_view plugin;
  std::vector<std::string> reasons;
};

struct NodeScore {
  std::string_view plugin;
  int64_t raw = 0, normalized = 0, weighted = 0;
};

class Ranking {
 public:
  // The largest sum of the weights of a profile's scores; totals have 32 bits.
  static constexpr int64_t kMostWeight = 20'000'000;

  // Scratch memory for the length of a call, and the data that rankings by groups share. All rankings of a snapshot
  // share one workspace. Each of a thousand rankings is used seldom, so memory of its own would never be in the CPU's
  // cache.
  struct Workspace;
  static std::shared_ptr<Workspace> MakeWorkspace();

  // `profile`, `pod_class` and `snapshot` must outlive this.
  // `keep`: what it keeps at first.
  enum class Keep { kNodes, kGroups };
  Ranking(const Profile& profile, const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot,
          std::shared_ptr<Workspace> workspace = MakeWorkspace(), Keep keep = Keep::kNodes);
  ~Ranking();

  const cluster::PodClass& pod_class() const;

  // Makes the ranking keep its data by groups of equal nodes, if the plugins allow that. Its memory then grows with the
  // groups, and its answers are the same. It returns to nodes, and stays there, after a call of Rooms(), or when a
  // plugin tells nodes apart by more than groups do. True when this changed anything; it has then caught up.
  bool KeepGroups();

  // Catches up with the snapshot. Every other method REQUIRES that the snapshot has not changed since.
  void Refresh();

  // -- About a node as it is now, without catching up. --
  // The amounts that a node must have free, and the events that may free them.
  struct Needs {
    std::vector<std::pair<model::ResourceId, int64_t>> amounts;
    Wake wakes = Wake::kNothing;
  };
  Needs FreeNeeded() const;
  // Returns for how many pods of the class the node has room, judged by this node only; nullopt if filters follow other
  // nodes or pods. If there is no room, it adds the events that could change that to `wakes`.
  std::optional<int64_t> RoomNow(model::NodeId n, Wake* wakes) const;
  // Tells whether a node's answer depends on that node only, until a pod with affinity, or a volume, comes or goes.
  bool AloneForNow() const;
  // True where it is refused whatever pods there are, here or elsewhere.
  bool RefusedForGood(model::NodeId n) const;

  // Returns the best feasible node, or invalid.
  model::NodeId Best() const;
  bool Feasible(model::NodeId n) const;
  size_t feasible_count() const;
  // Returns what a pod of the class takes there besides room: FilterState::Choose. REQUIRES: Feasible(n)
  cluster::Takings TakingsOn(model::NodeId n) const;
  int64_t Total(model::NodeId n) const;  // weighted sum; 1 without scores, as in kube-scheduler. REQUIRES: Feasible(n)

  // -- For placing several pods together; see FilterState. They are kept up to date from the first call on. --
  // Returns by slot for how many pods of this class a node has room, at most kMostRoom. It is 0 if a filter refuses
  // whose answer placing pods cannot change.
  static constexpr int32_t kMostRoom = 1 << 20;
  std::span<const int32_t> Rooms();
  int64_t total_room() const;  // their sum. REQUIRES: Rooms() was called
  // Returns how many pods fit on the nodes of `room` at most: the least answer of all filters.
  int64_t Most(std::span<const int32_t> room, std::span<const cluster::PodClass* const> others) const;
  FilterState::Reach reach() const;  // the farthest of all filters
  std::vector<model::Symbol> ExcludedBy(const cluster::PodClass& other);
  std::vector<model::Symbol> Gathers() const;

  // Asks for the reasons of every node again; O(nodes · filters).
  Refusals Explain() const;
  // Returns the events that could make a refused node feasible: those of all filters that refused a node. Without nodes
  // it returns the events of all filters, because any node may come. A filter that Shares counts even if it only might
  // refuse: it may refuse a node before the later filter that is known to refuse it.
  Wake WakesOn() const;

  // Explains one node with all reasons. REQUIRES: `n` is present.
  NodeVerdict Explain(model::NodeId n) const;
  std::vector<NodeScore> Scores(model::NodeId n) const;  // REQUIRES: Feasible(n)

  // Return the bytes held, for the cache's bound. The first leaves out the workspace, which rankings share.
  size_t memory() const;
  static size_t MemoryOf(const Workspace& workspace);

 private:
  friend class NodeTrial;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::framework
