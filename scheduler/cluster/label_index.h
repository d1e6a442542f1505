// SPDX-License-Identifier: Apache-2.0
// LabelIndex: which labels nodes have, and which nodes have one. One thread.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/node_entry.h"

namespace tutti::cluster {

class LabelIndex {
 public:
  // `nodes`, by slot, must outlive this.
  explicit LabelIndex(const std::vector<NodeEntry>& nodes) : nodes_(nodes) {}

  // Some node has label `key`. `keys_version` changes when one comes that no node had.
  bool HasKey(model::Symbol key) const { return keys_.contains(key); }
  uint64_t keys_version() const { return keys_version_; }

  // The nodes by the value of label `key`; kept from the first use on where a node has it. Do not decide by its order.
  using Domains = absl::flat_hash_map<model::Symbol, std::vector<model::NodeId>>;
  const Domains& DomainsOf(model::Symbol key) const;
  std::span<const model::NodeId> NodesIn(model::Symbol key, model::Symbol value) const;  // of one domain
  // Tells whether these may be asked of any label that users think of: each key that nodes have costs something with
  // every node that changes.
  bool MayIndex(model::Symbol key) const { return domains_.size() < kMostIndexed || domains_.contains(key); }
  static constexpr size_t kMostIndexed = 32;

  // The node has other labels than before.
  void Changed(model::NodeId n, const LabelEntries& before);
  void MarkSymbols(SymbolTable::Used* used) const;

 private:
  const std::vector<NodeEntry>& nodes_;
  absl::flat_hash_map<model::Symbol, uint32_t> keys_;  // and how many nodes have them
  uint64_t keys_version_ = 0;
  // Made of the nodes when it is first read, and then kept. A walk over one may ask for another.
  mutable absl::node_hash_map<model::Symbol, Domains> domains_;
};

}  // namespace tutti::cluster
