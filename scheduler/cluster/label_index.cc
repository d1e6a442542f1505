// SPDX-License-Identifier: Apache-2.0
#include "cluster/label_index.h"

#include <algorithm>

namespace tutti::cluster {

using model::NodeId;
using model::Symbol;

// Keys that users make up take no room.
const LabelIndex::Domains& LabelIndex::DomainsOf(Symbol key) const {
  static const Domains kNone;
  if (!HasKey(key)) return kNone;
  const auto [at, fresh] = domains_.try_emplace(key);
  if (fresh)
    for (uint32_t n = 0; n < nodes_.size(); ++n)
      if (const Symbol value = nodes_[n].Label(key); nodes_[n].present && value) at->second[value].push_back(NodeId(n));
  return at->second;
}

std::span<const NodeId> LabelIndex::NodesIn(Symbol key, Symbol value) const {
  const Domains& domains = DomainsOf(key);
  const auto at = domains.find(value);
  return at == domains.end() ? std::span<const NodeId>() : at->second;
}

// By the node's labels, not by the keys that were asked for: they are fewer.
void LabelIndex::Changed(NodeId n, const LabelEntries& before) {
  const LabelEntries& now = nodes_[n.index()].labels;
  for (const auto& [key, value] : before) {
    const auto at = domains_.find(key);
    if (at == domains_.end() || FindLabel(now, key) == value) continue;
    std::vector<NodeId>& nodes = at->second[value];
    *std::find(nodes.begin(), nodes.end(), n) = nodes.back();
    nodes.pop_back();
    if (nodes.empty()) at->second.erase(value);
  }
  for (const auto& [key, value] : now) {
    const Symbol had = FindLabel(before, key);
    if (const auto at = domains_.find(key); at != domains_.end() && had != value) at->second[value].push_back(n);
    if (had) continue;
    const auto [at, fresh] = keys_.try_emplace(key, 0);
    keys_version_ += fresh;
    ++at->second;
  }
  for (const auto& [key, value] : before)
    if (!FindLabel(now, key))
      if (const auto at = keys_.find(key); --at->second == 0) {
        keys_.erase(at);
        domains_.erase(key);
      }
}

void LabelIndex::MarkSymbols(SymbolTable::Used* used) const {
  for (const auto& [key, nodes] : keys_) used->Mark(key);
  for (const auto& [key, domains] : domains_) {
    used->Mark(key);
    for (const auto& [value, nodes] : domains) used->Mark(value);
  }
}

}  // namespace tutti::cluster
