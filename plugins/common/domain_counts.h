// SPDX-License-Identifier: Apache-2.0
// DomainCounts: for one topology key, what each node holds and what the nodes of each domain hold together. Follows
// pods that come and go and nodes that change their domain, at the cost of one node. It keeps only the nodes and the
// domains that hold something: a second one of the same key is made at no cost, however many nodes there are.
//
// Of a key that no node had when it was made it counts nothing, then or later: see UnknownKeys.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>

#include "cluster/snapshot.h"

namespace tutti::plugins {

class DomainCounts {
 public:
  // A domain whose total has changed. `value` is its label value.
  struct Change {
    model::Symbol value;
    int64_t before = 0, after = 0;
  };

  // Holds nothing yet. `snapshot` must outlive this.
  DomainCounts(model::Symbol key, const cluster::Snapshot& snapshot)
      : key_(key), snapshot_(snapshot), known_(snapshot.HasKey(key)) {
    snapshot.DomainsOf(key);  // a change will ask for the nodes of a domain: found now, and not at the first pod
  }

  model::Symbol key() const { return key_; }
  // Node n has the key.
  bool Has(model::NodeId n) const { return DomainOf(n).valid(); }
  // What the domain of n holds; 0 where n lacks the key.
  int64_t At(model::NodeId n) const {
    if (totals_.empty()) return 0;
    const auto total = totals_.find(DomainOf(n));
    return total == totals_.end() ? 0 : total->second;
  }
  // Domains that hold something.
  size_t nonzero_domains() const { return totals_.size(); }
  size_t memory() const;  // in bytes

  // `value` is invalid in the change where n lacks the key.
  Change Add(model::NodeId n, int64_t by);
  // Catches up with the labels of n; calls `changed` for each domain that gained or lost by it. REQUIRES: it is called
  // after each change of labels, before anything else is.
  template <typename Changed>
  void NodeChanged(model::NodeId n, Changed changed);

 private:
  // What a node holds, and the domain for which it was counted.
  struct Held {
    model::Symbol domain;
    int64_t amount = 0;
  };

  // As n is labelled now; invalid where it lacks the key.
  model::Symbol DomainOf(model::NodeId n) const {
    return known_ && snapshot_.present(n) ? snapshot_.node(n).Label(key_) : model::Symbol();
  }
  Change Shift(model::Symbol domain, int64_t by);

  const model::Symbol key_;
  const cluster::Snapshot& snapshot_;
  const bool known_;                                    // some node had the key
  absl::flat_hash_map<model::NodeId, Held> held_;       // none of nothing
  absl::flat_hash_map<model::Symbol, int64_t> totals_;  // none of 0; without nodes that lack the key
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

}  // namespace tutti::plugins
