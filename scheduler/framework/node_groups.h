// SPDX-License-Identifier: Apache-2.0
// NodeGroups: groups the nodes of a snapshot by the facts that some classes of pods read. Each of these classes has the
// same answer for all nodes of a group, so a class asks about groups. A changed node moves from one group to another,
// once for all classes.
//
// Nodes are of one kind if they agree in the labels that are read, in taints and in the cordon. They are in one group
// if they also agree in their capacity and in what is taken of it. A group never changes its kind. An empty group may
// be used again for other nodes of its kind.
//
// One thread. Cost: a pass over all nodes when made or begun again, then O(log n) for each changed node.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <span>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/snapshot.h"

namespace tutti::framework {

// The facts that answers about a node depend on, besides its taints, its cordon, and its cpu, memory and pods.
struct NodeFacts {
  std::vector<model::Symbol> labels;       // keys
  std::vector<model::ResourceId> columns;  // its capacity of them, and the requests of its pods
  // Sorts both lists and removes repeated entries.
  void CommitCounts();
  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

using NodeGroup = base::StrongId<struct NodeGroupTag>;
inline size_t KeptBy(NodeGroup) { return 0; }

class NodeGroups {
 public:
  using Kind = uint32_t;

  // REQUIRES: `facts` is settled. `snapshot` must outlive this.
  NodeGroups(NodeFacts facts, const cluster::Snapshot& snapshot);
  NodeGroups(const NodeGroups&) = delete;
  NodeGroups& operator=(const NodeGroups&) = delete;

  const NodeFacts& facts() const { return facts_; }
  // Catches up with the snapshot. The other methods REQUIRE that the snapshot has not changed since.
  void Refresh();
  // False if nearly every node is a kind of its own.
  bool Pays() const { return kinds_.size() <= kFewKinds + group_of_.size() / 16; }

  // Groups are numbered below size(), kinds below kinds().
  size_t size() const { return kind_of_.size(); }
  size_t kinds() const { return kinds_.size(); }
  Kind kind(NodeGroup g) const { return kind_of_[g.index()]; }
  size_t nodes(NodeGroup g) const { return nodes_[g.index()]; }
  // Returns the group's node in the lowest slot; invalid when the group is empty.
  model::NodeId First(NodeGroup g) const { return first_[g.index()]; }
  NodeGroup Of(model::NodeId n) const { return group_of_[n.index()]; }  // invalid for a slot without a node

  // Changes when all groups and kinds were numbered again.
  uint64_t era() const { return era_; }
  // The log of groups that got their first node or lost their last one. It works like ClusterState's; see
  // Snapshot::ReadLog.
  uint64_t log_end() const { return log_.end(); }
  bool ReadLog(uint64_t from, std::vector<NodeGroup>* changed) const { return log_.Read(from, changed); }

  // Returns about how many bytes it holds; O(1).
  size_t memory() const;

 private:
  static constexpr size_t kFewKinds = 64;
  // The key by which a node's group is found. Points into `amounts_`, or to `scratch_`.
  struct Name {
    Kind kind;
    std::span<const int64_t> amounts;
  };
  Name NameOf(NodeGroup g) const { return {kind(g), std::span(amounts_).subspan(g.index() * width_, width_)}; }
  struct Hash {
    using is_transparent = void;
    const NodeGroups* groups;
    size_t operator()(const Name& name) const;
    size_t operator()(NodeGroup g) const { return operator()(groups->NameOf(g)); }
  };
  struct Equal {
    using is_transparent = void;
    const NodeGroups* groups;
    static const Name& AsName(const Name& name) { return name; }
    Name AsName(NodeGroup g) const { return groups->NameOf(g); }
    bool operator()(const auto& a, const auto& b) const;
  };
  struct KindEntry {
    size_t nodes = 0;
    std::vector<NodeGroup> empty;  // its groups without nodes
  };

  void Begin();
  void Move(model::NodeId n, uint64_t seen_version);
  Kind KindOf(model::NodeId n);
  void Measure(model::NodeId n);
  void Leave(model::NodeId n);
  void Join(model::NodeId n, NodeGroup g);
  NodeGroup MakeGroup(Kind kind);
  void Log(NodeGroup g);

  const NodeFacts facts_;
  const cluster::Snapshot& snapshot_;
  const std::vector<model::ResourceId> columns_;  // the columns of all amounts
  const size_t width_;                            // numbers of one group in `amounts_`
  uint64_t seen_nodes_ = 0, seen_version_ = 0, era_ = 0;
  std::vector<NodeGroup> group_of_;  // by slot
  // By group.
  std::vector<Kind> kind_of_;
  std::vector<uint32_t> nodes_;
  std::vector<model::NodeId> first_;
  // A heap, the lowest slot first. A node that has left the group is dropped when it comes to the top, or when such
  // nodes take too much room.
  std::vector<std::vector<model::NodeId>> members_;
  std::vector<int64_t> amounts_;
  absl::flat_hash_set<NodeGroup, Hash, Equal> by_name_;  // groups that have nodes
  std::vector<KindEntry> kinds_;
  size_t live_kinds_ = 0;  // kinds that have nodes
  absl::flat_hash_map<std::vector<int64_t>, Kind> by_labels_;
  cluster::ChangeLog<NodeGroup> log_;
  std::vector<model::NodeId> changed_;  // scratch, like the next two
  std::vector<int64_t> scratch_, labels_;
};

}  // namespace tutti::framework
