// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/spread_counts.h"

namespace tutti::plugins {

void SpreadCounts::Shift(const Node& node, int64_t matching, int64_t nodes) {
  if (!node.eligible || node.domain == kNone) return;
  Domain& domain = domains_[node.domain];
  const auto count = [this](const Domain& d, bool in) {
    if (d.eligible == 0) return;
    if (in) {
      ++totals_[d.total];
      ++live_;
    } else {
      const auto at = totals_.find(d.total);
      if (--at->second == 0) totals_.erase(at);
      --live_;
    }
  };
  count(domain, false);
  domain.total += matching;
  domain.eligible += nodes;
  count(domain, true);
}

void SpreadCounts::SetNode(model::NodeId n, model::Symbol value, bool eligible) {
  if (n.index() >= nodes_.size()) nodes_.resize(n.index() + 1);
  Node& node = nodes_[n.index()];
  Shift(node, -node.matching, -1);
  node.domain = kNone;
  if (value) {
    const auto [at, fresh] = by_value_.try_emplace(value, static_cast<uint32_t>(domains_.size()));
    if (fresh) domains_.push_back({value});
    node.domain = at->second;
  }
  node.eligible = eligible;
  Shift(node, node.matching, +1);
}

void SpreadCounts::Add(model::NodeId n, int32_t by) {
  if (n.index() >= nodes_.size()) nodes_.resize(n.index() + 1);
  nodes_[n.index()].matching += by;
  Shift(nodes_[n.index()], by, 0);
}

}  // namespace tutti::plugins
