// SPDX-License-Identifier: Apache-2.0
// SpreadCounts: counts for one spread constraint the matching pods of each domain, over the eligible nodes, and keeps
// the least count. A change costs O(log domains).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "model/ids.h"

namespace tutti::plugins {

class SpreadCounts {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // Sets the label value of n for the constraint's key (invalid: it lacks the key), and whether n is eligible.
  void SetNode(model::NodeId n, model::Symbol value, bool eligible);
  // Tells whether n has this value and eligibility already.
  bool Is(model::NodeId n, model::Symbol value, bool eligible) const {
    const uint32_t domain = DomainOf(n);
    return eligible == Eligible(n) && value == (domain == kNone ? model::Symbol() : Value(domain));
  }
  // Adds `by` matching pods on n.
  void Add(model::NodeId n, int32_t by);

  uint32_t DomainOf(model::NodeId n) const { return n.index() < nodes_.size() ? nodes_[n.index()].domain : kNone; }
  bool Eligible(model::NodeId n) const { return n.index() < nodes_.size() && nodes_[n.index()].eligible; }
  int64_t OnNode(model::NodeId n) const { return n.index() < nodes_.size() ? nodes_[n.index()].matching : 0; }

  size_t domains() const { return domains_.size(); }
  int64_t Total(uint32_t domain) const { return domains_[domain].total; }
  bool Live(uint32_t domain) const { return domains_[domain].eligible > 0; }
  model::Symbol Value(uint32_t domain) const { return domains_[domain].value; }

  // Return the number of domains with an eligible node, and the least total among them; 0 when there are none.
  size_t live_domains() const { return live_; }
  int64_t Least() const { return totals_.empty() ? 0 : totals_.begin()->first; }

  // Returns the bytes held.
  size_t memory() const {
    return nodes_.capacity() * sizeof(Node) +
           domains_.capacity() * (sizeof(Domain) + 2 * sizeof(model::Symbol) + sizeof(uint32_t));
  }

 private:
  struct Node {
    uint32_t domain = kNone;
    int32_t matching = 0;
    bool eligible = false;
  };
  struct Domain {
    model::Symbol value;
    int64_t total = 0;     // matching pods on eligible nodes
    int64_t eligible = 0;  // nodes
  };

  void Shift(const Node& node, int64_t matching, int64_t nodes);

  std::vector<Node> nodes_;  // by slot
  std::vector<Domain> domains_;
  absl::flat_hash_map<model::Symbol, uint32_t> by_value_;
  std::map<int64_t, size_t> totals_;  // total → live domains that have it
  size_t live_ = 0;
};

}  // namespace tutti::plugins
