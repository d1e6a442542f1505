// SPDX-License-Identifier: Apache-2.0
// Snapshot: the nodes as planning sees them, in dense columns.
//
// To its readers (plugins, rankings) it is immutable for the length of one call. Its owner changes it in place:
// ClusterState with the truth, a WhatIf with placements that it takes back. Either way each touched node is logged, and
// a cache catches up by reading the log from where it stopped: O(changed nodes), not O(nodes).
//
// One thread. Invariants
//   (1) every column has `slots()` entries; a slot is present() or zero in all of them;
//   (2) requested(r)[n] is the sum over the pods that occupy n and those with a reservation there, less what is counted
//       once for both (StandIns);
//   (3) a change to a slot is in the log before the mutator returns.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/node_hash_map.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/columns.h"
#include "cluster/pod_class.h"
#include "cluster/storage.h"
#include "cluster/symbol_table.h"
#include "model/ids.h"
#include "model/node.h"

namespace tutti::cluster {

// The first columns are always these.
inline constexpr model::ResourceId kCpuColumn{0};
inline constexpr model::ResourceId kMemoryColumn{1};
inline constexpr model::ResourceId kEphemeralStorageColumn{2};
inline constexpr model::ResourceId kPodsColumn{3};

struct TaintEntry {
  model::Symbol key, value, effect;
  friend bool operator==(const TaintEntry&, const TaintEntry&) = default;
};

// A host port in use on a node.
struct PortEntry {
  int32_t port = 0;
  model::Symbol protocol, ip;
  friend auto operator<=>(const PortEntry&, const PortEntry&) = default;
};

// As planning reads them.
LabelEntries InternLabels(const model::StringMap& labels, SymbolTable& symbols);

struct NodeEntry {
  bool present = false;
  std::string name;
  LabelEntries labels;
  std::vector<TaintEntry> taints;
  std::vector<PortEntry> ports;               // one entry per occupying pod and port, sorted
  std::vector<const PodClass*> with_volumes;  // one entry per occupying pod whose class has spec->volumes
  std::shared_ptr<const model::Node> node;    // as last seen; never null while present
  uint64_t version = 0;                       // of all but the pods: changes with PutNode and DropNode

  // The value of label `key`, or an invalid Symbol.
  model::Symbol Label(model::Symbol key) const;
};

// The pods of one class, by the nodes that they occupy or are reserved on. Do not decide by its order.
struct Occupants {
  std::shared_ptr<const PodClass> pod_class;
  absl::flat_hash_map<model::NodeId, int32_t> nodes;
};

// A pod that came to a node, or left it.
struct PodChange {
  std::shared_ptr<const PodClass> pod_class;
  model::NodeId node;
  int32_t by = 0;  // +1 or -1
};
inline size_t KeptBy(const PodChange& change) { return change.pod_class->bytes; }

class Snapshot {
 public:
  Snapshot();

  // Slots ever used; ids of nodes are below it. Not all are present.
  size_t slots() const { return nodes_.size(); }
  size_t node_count() const { return node_count_; }
  bool present(model::NodeId n) const { return nodes_[n.index()].present; }
  const NodeEntry& node(model::NodeId n) const { return nodes_[n.index()]; }
  model::NodeId FindNode(std::string_view name) const;     // invalid when not present
  uint64_t last_version() const { return last_version_; }  // the highest NodeEntry::version so far

  // Columns: cpu in thousandths, the others in units; indexed by node slot.
  size_t columns() const { return allocatable_.size(); }
  // None is below zero or above kLargestSum.
  std::span<const int64_t> allocatable(model::ResourceId r) const { return allocatable_[r]; }
  std::span<const int64_t> requested(model::ResourceId r) const { return requested_[r]; }
  int64_t Free(model::NodeId n, model::ResourceId r) const { return allocatable_.at(r, n) - requested_.at(r, n); }
  // Sums of PodSpec::nonzero_cpu / nonzero_memory.
  std::span<const int64_t> nonzero_cpu() const { return nonzero_[kCpuColumn]; }
  std::span<const int64_t> nonzero_memory() const { return nonzero_[kMemoryColumn]; }

  // Without a look at its entry, for passes over all nodes: has it taints, is it cordoned?
  bool tainted(model::NodeId n) const { return barriers_[n.index()] & kTainted; }
  bool unschedulable(model::NodeId n) const { return barriers_[n.index()] & kUnschedulable; }

  // Some node has, or had, some of it.
  bool Exists(model::ResourceId r) const { return allocatable_.holds(r); }
  // Made on first use and never gone. Interning does not change what a reader sees.
  model::ResourceId Column(std::string_view resource) const;
  // The same for what pods ask for, whose names are without end: gone by a sweep once no class has it. See
  // SweepColumns.
  model::ResourceId ColumnOfPods(std::string_view resource) const;
  model::ResourceId KnownColumn(std::string_view resource) const;  // invalid: no pod has asked for it
  size_t provided() const { return provided_; }                    // of how many some node has, or had, some
  const std::string& ResourceName(model::ResourceId r) const { return resource_names_[r.index()]; }
  SymbolTable& symbols() const { return symbols_; }

  // Which nodes hold the image of this name, and its size in bytes there; nullptr: none. Do not decide by its order.
  using ImageHolders = absl::flat_hash_map<model::NodeId, int64_t>;
  const ImageHolders* Image(model::Symbol name) const;
  // On no node is it larger; 0 where none holds it.
  int64_t LargestImage(model::Symbol name) const;

  // Some node has label `key`. `keys_version` changes when one comes that no node had.
  bool HasKey(model::Symbol key) const { return keys_.contains(key); }
  uint64_t keys_version() const { return keys_version_; }

  // The nodes by the value of label `key`; kept from the first use on where a node has it. Do not decide by its order.
  using Domains = absl::flat_hash_map<model::Symbol, std::vector<model::NodeId>>;
  const Domains& DomainsOf(model::Symbol key) const;
  std::span<const model::NodeId> NodesIn(model::Symbol key, model::Symbol value) const;  // of one domain
  // Whether these may be asked of any label that users think of: each key that nodes have costs something with every
  // node that changes.
  bool MayIndex(model::Symbol key) const { return domains_.size() < kMostIndexed || domains_.contains(key); }
  static constexpr size_t kMostIndexed = 32;

  // Which pods are where, by class.
  const absl::flat_hash_map<model::ClassId, Occupants>& occupants() const { return occupants_; }

  // The labels of a namespace; nullptr: not known. `namespaces_version` changes with those that were asked for.
  const LabelEntries* Namespace(model::Symbol name) const;
  uint64_t namespaces_version() const { return namespaces_version_; }
  bool namespaces_known() const { return namespaces_version_ > 0; }

  // Volumes and claims. A ranking of pods with volumes begins anew when their version changes; what placed pods take of
  // them comes with the log of pods.
  const Storage& storage() const { return storage_; }
  Storage& storage() { return storage_; }

  // The log of pods. All of them are in it while someone follows it, those of affine() classes always are, in a log of
  // their own. Reading is as with ReadLog.
  enum class PodLog { kAll, kAffine };
  void FollowAllPods() const { ++pod_followers_; }
  void UnfollowAllPods() const { --pod_followers_; }
  uint64_t pod_log_end(PodLog log) const { return LogOf(log).end(); }
  bool ReadPodLog(PodLog log, uint64_t from, std::vector<PodChange>* changes) const {
    return LogOf(log).Read(from, changes);
  }

  // The log of nodes. Entries [from, log_end()) name the slots changed since log_end() was `from`; a slot may occur
  // more than once. False when entries that old have been dropped: then everything may have changed.
  uint64_t log_end() const { return log_.end(); }
  bool ReadLog(uint64_t from, std::vector<model::NodeId>* changed) const { return log_.Read(from, changed); }

  // Where the logs end, and back to there: for changes that were undone before any reader saw them. A log that was
  // read meanwhile stays as it is.
  struct LogPlaces {
    uint64_t nodes = 0, pods = 0, affine = 0;
  };
  LogPlaces log_places() const { return {log_.place(), pod_log_.place(), affine_log_.place()}; }
  void TakeBackLogs(const LogPlaces& places) {
    log_.TakeBack(places.nodes);
    pod_log_.TakeBack(places.pods);
    affine_log_.TakeBack(places.affine);
  }

  // -- Mutators, for ClusterState and WhatIf. --
  model::NodeId PutNode(std::shared_ptr<const model::Node> node);  // adds, or replaces the node of this name
  void DropNode(model::NodeId n);                                  // REQUIRES: every pod on it was removed
  void Place(const PodClass& pod_class, model::NodeId n, const Takings& takings = {});
  void Remove(const PodClass& pod_class, model::NodeId n, const Takings& takings = {});
  // Adds to what is requested, for no pod; see StandIns.
  void Adjust(model::ResourceId r, model::NodeId n, Columns::Wide by);
  // True when `namespaces_version` changed: terms about pods may mean others now.
  bool PutNamespace(std::string_view name, const model::StringMap& labels);
  bool DropNamespace(std::string_view name);
  void MarkSymbols(SymbolTable::Used* used) const;  // that it has itself; its pods' classes have theirs
  // There are twice as many names of resources as a sweep left, and enough for one to be worth its while.
  bool ColumnsGrown() const { return columns_by_name_.size() >= columns_grown_; }
  // Lets go of the names that only pods asked for, but for those whose place in `used` is set; the ids of the others
  // will be of other names.
  void SweepColumns(const std::vector<char>& used);

 private:
  void Touch(model::NodeId n);
  void PutImages(model::NodeId n, const model::Node& node);
  void DropImages(model::NodeId n);
  void PutKeys(const LabelEntries& before, const LabelEntries& now);
  void PutDomains(model::NodeId n, const LabelEntries& before);
  void Record(const PodClass& pod_class, model::NodeId n, int32_t by);
  const ChangeLog<PodChange>& LogOf(PodLog log) const { return log == PodLog::kAll ? pod_log_ : affine_log_; }
  void Shift(const PodClass& pod_class, model::NodeId n, int64_t sign);
  void ShiftInVain(model::ResourceId r, model::NodeId n, Columns::Wide by);
  void Provide(model::ResourceId r);
  std::vector<PortEntry> PortsOf(const PodClass& pod_class) const;

  std::vector<NodeEntry> nodes_;
  std::vector<model::NodeId> free_slots_;
  absl::flat_hash_map<std::string, model::NodeId> by_name_;
  size_t node_count_ = 0;
  mutable Columns allocatable_, requested_;
  Columns nonzero_;                                                                         // of cpu and memory
  std::map<std::pair<model::ResourceId, model::NodeId>, Columns::Wide> requested_in_vain_;  // of what no node has
  static constexpr uint8_t kTainted = 1, kUnschedulable = 2;
  std::vector<uint8_t> barriers_;
  struct ImageEntry {
    ImageHolders holders;
    int64_t largest = 0;  // the largest size seen since a node first held it
  };
  absl::flat_hash_map<model::Symbol, ImageEntry> images_;
  struct NamedColumn {
    model::ResourceId id;
    bool stays = false;
  };
  NamedColumn& FindColumn(std::string_view resource) const;
  static constexpr size_t kFewColumns = size_t{1} << 17;  // some 20 MB
  mutable std::deque<std::string> resource_names_;        // a deque, so that the views in columns_by_name_ stay valid
  mutable std::unordered_map<std::string_view, NamedColumn> columns_by_name_;
  mutable std::vector<model::ResourceId> free_columns_;
  size_t columns_grown_ = kFewColumns, provided_ = 0;
  mutable SymbolTable symbols_;
  absl::flat_hash_map<model::Symbol, uint32_t> keys_;  // of labels, and how many nodes have them
  uint64_t keys_version_ = 0;
  mutable absl::node_hash_map<model::Symbol, Domains> domains_;  // a walk over one may ask for another
  absl::flat_hash_map<model::ClassId, Occupants> occupants_;
  absl::flat_hash_map<model::Symbol, LabelEntries> namespaces_;
  mutable absl::flat_hash_set<model::Symbol> namespaces_asked_for_;
  uint64_t namespaces_version_ = 0;
  Storage storage_;
  uint64_t last_version_ = 0;
  ChangeLog<model::NodeId> log_;
  ChangeLog<PodChange> pod_log_, affine_log_;
  mutable int pod_followers_ = 0;
};

}  // namespace tutti::cluster
