// SPDX-License-Identifier: Apache-2.0
// DomainCounts: for one topology key, the amount on each node, and the total of each domain. It follows pods that come
// and go, and nodes that change their domain, at the cost of one node. It keeps only nodes and domains with an amount,
// so a second one for the same key costs nothing to make, however many nodes there are.
//
// If no node had the key when it was made, it never counts anything: see UnknownKeys.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "cluster/snapshot.h"

namespace tutti::plugins {

class DomainCounts {
 public:
  // A change of a domain's total. `value` is the domain's label value.
  struct Change {
    model::Symbol value;
    int64_t before = 0, after = 0;
  };

  // All amounts are 0 at first. `snapshot` must outlive this.
  DomainCounts(model::Symbol key, const cluster::Snapshot& snapshot)
      : key_(key), snapshot_(snapshot), known_(snapshot.labels().HasKey(key)) {
    snapshot.labels().DomainsOf(
        key);  // finds the domains now, not at the first pod: a change will need the nodes of a domain
  }

  model::Symbol key() const { return key_; }
  // Tells whether node n has the key.
  bool Has(model::NodeId n) const { return DomainOf(n).valid(); }
  // Returns the total of n's domain; 0 if n lacks the key.
  int64_t At(model::NodeId n) const {
    if (totals_.empty()) return 0;
    const auto total = totals_.find(DomainOf(n));
    return total == totals_.end() ? 0 : total->second;
  }
  // Returns the number of domains with an amount.
  size_t nonzero_domains() const { return totals_.size(); }
  size_t memory() const;  // in bytes

  // Adds to the amount of n. In the returned change `value` is invalid if n lacks the key.
  Change Add(model::NodeId n, int64_t by);
  // Catches up with the labels of n; calls `changed` for each domain whose total changed. REQUIRES: it is called after
  // each change of labels, before any other method.
  template <typename Changed>
  void NodeChanged(model::NodeId n, Changed changed);

 private:
  // The amount on a node, and the domain for which it was counted.
  struct Held {
    model::Symbol domain;
    int64_t amount = 0;
  };

  // Returns n's present domain; invalid if it lacks the key.
  model::Symbol DomainOf(model::NodeId n) const {
    return known_ && snapshot_.present(n) ? snapshot_.node(n).Label(key_) : model::Symbol();
  }
  Change Shift(model::Symbol domain, int64_t by);

  const model::Symbol key_;
  const cluster::Snapshot& snapshot_;
  const bool known_;                                    // some node had the key when this was made
  absl::flat_hash_map<model::NodeId, Held> held_;       // no amount is 0
  absl::flat_hash_map<model::Symbol, int64_t> totals_;  // no total is 0; nodes without the key do not count
};

template <typename Changed>
void DomainCounts::NodeChanged(model::NodeId n, Changed changed) {
  const auto held = held_.find(n);
  if (held == held_.end()) return;
  const model::Symbol before = held->second.domain, now = DomainOf(n);
  if (before == now) return;
  held->second.domain = now;
  if (before) changed(Shift(before, -held->second.amount));
  if (now) changed(Shift(now, held->second.amount));
}

// Returns the index in `all` of the counts of `key`, after adding them if there are none.
size_t PlaceOf(model::Symbol key, const cluster::Snapshot& snapshot, std::vector<DomainCounts>* all);

}  // namespace tutti::plugins
