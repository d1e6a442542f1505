// SPDX-License-Identifier: Apache-2.0
// DomainCounts: for one topology key, what each node holds and what the nodes of each domain hold together. Follows
// pods that come and go and nodes that change their domain, at the cost of one node.
//
// Of a key that no node had when it was made it counts nothing, then or later: see UnknownKeys.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "cluster/snapshot.h"

namespace tutti::plugins {

class DomainCounts {
 public:
  // A domain whose total has changed. `value` is its label value.
  struct Change {
    model::Symbol value;
    int64_t before = 0, after = 0;
  };

  // Knows the domains of the nodes that there are; holds nothing yet. `snapshot` must outlive this.
  DomainCounts(model::Symbol key, const cluster::Snapshot& snapshot);

  model::Symbol key() const { return key_; }
  // Node n has the key.
  bool Has(model::NodeId n) const { return DomainOf(n) != kNone; }
  // What the domain of n holds; 0 where n lacks the key.
  int64_t At(model::NodeId n) const {
    const uint32_t domain = DomainOf(n);
    return domain == kNone ? 0 : totals_[domain];
  }
  int64_t OnNode(model::NodeId n) const { return n.index() < on_node_.size() ? on_node_[n.index()] : 0; }
  // Domains that hold something.
  size_t nonzero_domains() const { return nonzero_; }
  size_t memory() const;  // in bytes

  // `value` is invalid in the change where n lacks the key.
  Change Add(model::NodeId n, int64_t by);
  // Catches up with the labels of n; calls `changed` for each domain that gained or lost by it.
  template <typename Changed>
  void NodeChanged(model::NodeId n, Changed changed);

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  uint32_t DomainOf(model::NodeId n) const { return n.index() < domain_of_.size() ? domain_of_[n.index()] : kNone; }
  uint32_t DomainOfValue(model::Symbol value);
  void Grow();
  Change Shift(uint32_t domain, int64_t by);

  const model::Symbol key_;
  const cluster::Snapshot& snapshot_;
  const bool known_;                 // some node had the key
  std::vector<uint32_t> domain_of_;  // by slot
  std::vector<int64_t> on_node_;     // by slot
  std::vector<int64_t> totals_;      // by domain
  std::vector<model::Symbol> values_;
  absl::flat_hash_map<model::Symbol, uint32_t> domains_;
  size_t nonzero_ = 0;
};

template <typename Changed>
void DomainCounts::NodeChanged(model::NodeId n, Changed changed) {
  if (!known_) return;
  Grow();
  const model::Symbol value = snapshot_.present(n) ? snapshot_.node(n).Label(key_) : model::Symbol();
  const uint32_t before = domain_of_[n.index()];
  if ((before == kNone ? model::Symbol() : values_[before]) == value) return;
  domain_of_[n.index()] = value ? DomainOfValue(value) : kNone;
  const int64_t held = on_node_[n.index()];
  if (held == 0) return;
  if (before != kNone) changed(Shift(before, -held));
  if (value) changed(Shift(domain_of_[n.index()], held));
}

}  // namespace tutti::plugins
