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

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/columns.h"
#include "cluster/image_index.h"
#include "cluster/label_index.h"
#include "cluster/namespaces.h"
#include "cluster/node_entry.h"
#include "cluster/occupants.h"
#include "cluster/pod_log.h"
#include "cluster/resource_names.h"
#include "cluster/storage.h"
#include "model/ids.h"
#include "model/node.h"

namespace tutti::cluster {

class Snapshot {
 public:
  Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Slots ever used; ids of nodes are below it. Not all are present.
  size_t slots() const { return nodes_.size(); }
  size_t node_count() const { return node_count_; }
  bool present(model::NodeId n) const { return nodes_[n.index()].present; }
  const NodeEntry& node(model::NodeId n) const { return nodes_[n.index()]; }
  model::NodeId FindNode(std::string_view name) const;     // invalid when not present
  uint64_t last_version() const { return last_version_; }  // the highest NodeEntry::version so far

  // Amounts by node slot: cpu in thousandths, the others in units.
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
  size_t provided() const { return provided_; }  // how many resources some node has, or had, some of

  // Names to ids. A reader may make new ones, for they are no part of what it sees of the cluster.
  SymbolTable& symbols() const { return *symbols_; }
  ResourceNames& resources() const { return *resources_; }

  const LabelIndex& labels() const { return labels_; }
  const ImageIndex& images() const { return images_; }
  const Namespaces& namespaces() const { return namespaces_; }

  // Which pods are where, by class.
  const OccupantIndex::ById& occupants() const { return occupants_.all(); }
  const OccupantIndex& occupant_index() const { return occupants_; }

  // Volumes and claims. A ranking of pods with volumes begins again when their version changes; what placed pods take
  // of them comes with the log of pods.
  const Storage& storage() const { return storage_; }
  Storage& storage() { return storage_; }

  const PodLog& pod_log() const { return pod_log_; }

  // The log of nodes. Entries [from, log_end()) name the slots changed since log_end() was `from`; a slot may occur
  // more than once. False when entries that old have been dropped: then everything may have changed.
  uint64_t log_end() const { return log_.end(); }
  bool ReadLog(uint64_t from, std::vector<model::NodeId>* changed) const { return log_.Read(from, changed); }

  // Where the logs end, and back to there: for changes that were undone before any reader saw them. A log that was
  // read meanwhile stays as it is.
  struct LogPlaces {
    uint64_t nodes = 0;
    PodLog::Places pods;
  };
  LogPlaces log_places() const { return {log_.place(), pod_log_.places()}; }
  void TakeBackLogs(const LogPlaces& places) {
    log_.TakeBack(places.nodes);
    pod_log_.TakeBack(places.pods);
  }

  // -- Mutators, for ClusterState and WhatIf. --
  model::NodeId PutNode(std::shared_ptr<const model::Node> node);  // adds, or replaces the node of this name
  void DropNode(model::NodeId n);                                  // REQUIRES: every pod on it was removed
  void Place(const PodClass& pod_class, model::NodeId n, const Takings& takings = {});
  void Remove(const PodClass& pod_class, model::NodeId n, const Takings& takings = {});
  // Adds to what is requested, for no pod; see StandIns.
  void Adjust(model::ResourceId r, model::NodeId n, Columns::Wide by);
  Namespaces& namespaces() { return namespaces_; }
  void MarkSymbols(SymbolTable::Used* used) const;  // that it has itself; its pods' classes have theirs

 private:
  void Touch(model::NodeId n);
  void Record(const PodClass& pod_class, model::NodeId n, int32_t by);
  void Shift(const PodClass& pod_class, model::NodeId n, int64_t sign);
  void ShiftUnoffered(model::ResourceId r, model::NodeId n, Columns::Wide by);
  void Provide(model::ResourceId r);
  std::vector<PortEntry> PortsOf(const PodClass& pod_class) const;

  std::vector<NodeEntry> nodes_;
  std::vector<model::NodeId> free_slots_;
  absl::flat_hash_map<std::string, model::NodeId> by_name_;
  size_t node_count_ = 0;
  Columns allocatable_, requested_;
  Columns nonzero_;                                                                           // of cpu and memory
  std::map<std::pair<model::ResourceId, model::NodeId>, Columns::Wide> requested_unoffered_;  // of what no node has
  size_t provided_ = 0;
  static constexpr uint8_t kTainted = 1, kUnschedulable = 2;
  std::vector<uint8_t> barriers_;
  const std::unique_ptr<SymbolTable> symbols_ = std::make_unique<SymbolTable>();
  const std::unique_ptr<ResourceNames> resources_ = std::make_unique<ResourceNames>();
  LabelIndex labels_{nodes_};
  ImageIndex images_;
  Namespaces namespaces_{*symbols_};
  OccupantIndex occupants_;
  Storage storage_;
  uint64_t last_version_ = 0;
  ChangeLog<model::NodeId> log_;
  PodLog pod_log_;
};

}  // namespace tutti::cluster
