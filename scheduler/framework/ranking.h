// SPDX-License-Identifier: Apache-2.0
// Ranking: for one class under one profile, which nodes are feasible and which is best, kept up to date.
//
// Cost: one pass over all nodes when made; then Refresh() is O(changed nodes · (plugins + log n)), Best() is O(log n).
// Where only pods came or went, only the plugins that read them are asked. When a change moves a normalising score's
// maximum or minimum, that score is normalised anew for all nodes. What nodes share (State::Shares) is asked of cells
// of nodes: a change of it is O(cells). Ties go to the lowest slot, so that the same input gives the same node.
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

// Why nodes were refused, and by which filters.
struct Refusals : model::NodeRefusals {
  std::vector<std::string_view> plugins;  // each refused a node, or the class; the names live as long as the profile
};

// What the filters say about one node. `plugin` is the first that refuses, empty when it is feasible.
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
  // The most that the weights of a profile's scores may add up to; totals are kept in 32 bits.
  static constexpr int64_t kMostWeight = 20'000'000;

  // What a ranking needs for the length of a call, and what those that are kept by groups have in common. Those of one
  // snapshot share one: of a thousand rankings each is used seldom, and would find its own in no cache.
  struct Workspace;
  static std::shared_ptr<Workspace> MakeWorkspace();

  // `profile`, `pod_class` and `snapshot` must outlive this.
  // `keep`: how it begins.
  enum class Keep { kNodes, kGroups };
  Ranking(const Profile& profile, const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot,
          std::shared_ptr<Workspace> workspace = MakeWorkspace(), Keep keep = Keep::kNodes);
  ~Ranking();

  const cluster::PodClass& pod_class() const;

  // Keeps what it knows by groups of nodes that are alike from now on, where the plugins can tell which are: it then
  // takes memory by groups, and says the same. It goes back to nodes where a plugin tells nodes apart by more than
  // groups do, and for Rooms(); and stays there. True when this changed something; it has then caught up.
  bool KeepGroups();

  // Catches up with the snapshot. Every other method REQUIRES that nothing changed since.
  void Refresh();

  // -- About a node as it is now, without catching up. --
  // What it must have free, or be refused; and the events that free it.
  struct Needs {
    std::vector<std::pair<model::ResourceId, int64_t>> amounts;
    Wake wakes = Wake::kNothing;
  };
  Needs FreeNeeded() const;
  // How many pods of the class it has room for, as far as it alone tells; nullopt where that does not tell, for filters
  // follow other nodes or pods. Where it has none, the events that could change that are added to `wakes`.
  std::optional<int64_t> RoomNow(model::NodeId n, Wake* wakes) const;
  // A node's answer depends on that node alone, until a pod with affinity, or a volume, comes or goes.
  bool AloneForNow() const;

  // The best feasible node, or invalid.
  model::NodeId Best() const;
  bool Feasible(model::NodeId n) const;
  size_t feasible_count() const;
  // What placing a pod of the class there takes besides room: FilterState::Choose. REQUIRES: Feasible(n)
  cluster::Takings TakingsOn(model::NodeId n) const;
  int64_t Total(model::NodeId n) const;  // weighted sum; 1 without scores, as upstream. REQUIRES: Feasible(n)

  // -- For placing several pods together; see FilterState. Kept up to date from the first call on. --
  // By slot, how many pods of this class a node has room for; 0 where a filter refuses that placing pods cannot change.
  // Capped at kMostRoom.
  static constexpr int32_t kMostRoom = 1 << 20;
  std::span<const int32_t> Rooms();
  int64_t total_room() const;  // their sum. REQUIRES: Rooms() was called
  // How many fit on the nodes of `room` at most; for each filter the least of what it says.
  int64_t Most(std::span<const int32_t> room, std::span<const cluster::PodClass* const> others) const;
  FilterState::Reach reach() const;  // the farthest
  std::vector<model::Symbol> ExcludedBy(const cluster::PodClass& other);
  std::vector<model::Symbol> Gathers() const;

  // Asks every node again for its words; O(nodes · filters).
  Refusals Explain() const;
  // Events that could make a refused node feasible: those of the filters that refused any, and, as any node may come,
  // those of all filters when there is no node. Events of a filter that Shares are included also when it only might
  // refuse: a node that a later filter refuses may be refused by it first.
  Wake WakesOn() const;

  // One node in full. REQUIRES: `n` is present.
  NodeVerdict Explain(model::NodeId n) const;
  std::vector<NodeScore> Scores(model::NodeId n) const;  // REQUIRES: Feasible(n)

  // Bytes held, for the cache's bound. What rankings keep together in a workspace is not in the first.
  size_t memory() const;
  static size_t MemoryOf(const Workspace& workspace);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::framework
