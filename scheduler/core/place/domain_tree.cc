// SPDX-License-Identifier: Apache-2.0
#include "core/place/domain_tree.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

namespace tutti::core {
namespace {

using model::NodeId;
using model::Symbol;

void Split(Domain& domain, const std::vector<Symbol>& levels, size_t at, const cluster::Snapshot& snapshot) {
  if (at == levels.size()) return;
  absl::flat_hash_map<Symbol, size_t> part_of;
  for (const NodeId n : domain.nodes) {
    const Symbol value = snapshot.node(n).Label(levels[at]);
    const auto [part, fresh] = part_of.try_emplace(value, domain.parts.size());
    if (fresh) domain.parts.push_back({levels[at], value, {}, {}});
    domain.parts[part->second].nodes.push_back(n);
  }
  for (Domain& part : domain.parts) Split(part, levels, at + 1, snapshot);
}

// Every domain of `level` lies within one of `wider`, or outside all of them.
bool Within(const std::vector<NodeId>& nodes, Symbol level, Symbol wider, const cluster::Snapshot& snapshot) {
  absl::flat_hash_map<Symbol, Symbol> around;
  return std::ranges::all_of(nodes, [&](NodeId n) {
    const Symbol value = snapshot.node(n).Label(level), outer = snapshot.node(n).Label(wider);
    return !value || around.try_emplace(value, outer).first->second == outer;
  });
}

// Each value under one parent only.
bool Nested(const Domain& domain, std::vector<absl::flat_hash_set<Symbol>>& seen, size_t depth) {
  for (const Domain& part : domain.parts)
    if ((part.value && !seen[depth].insert(part.value).second) || !Nested(part, seen, depth + 1)) return false;
  return true;
}

}  // namespace

Domain MakeDomainTree(std::vector<NodeId> nodes, std::vector<Symbol> levels, const cluster::Snapshot& snapshot,
                      bool* nested) {
  // A level comes after those whose domains hold its own.
  std::vector<std::pair<size_t, Symbol>> keyed;
  for (const Symbol level : levels)
    keyed.emplace_back(
        std::ranges::count_if(levels, [&](Symbol wider) { return Within(nodes, level, wider, snapshot); }), level);
  std::ranges::sort(keyed);
  for (size_t i = 0; i < keyed.size(); ++i) levels[i] = keyed[i].second;

  Domain root;
  root.nodes = std::move(nodes);
  Split(root, levels, 0, snapshot);
  std::vector<absl::flat_hash_set<Symbol>> seen(levels.size());
  *nested = Nested(root, seen, 0);
  return root;
}

}  // namespace tutti::core
