// SPDX-License-Identifier: Apache-2.0
#include "core/place/victim_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti::core {

int64_t AmountOf(const cluster::PodClass& pod_class, model::ResourceId column) {
  if (column == cluster::kPodsColumn) return 1;
  for (const auto& [r, amount] : pod_class.requests)
    if (r == column) return amount;
  return 0;
}

std::span<const PossibleVictim> VictimTable::On(model::NodeId n) {
  if (nodes_.size() <= n.index()) nodes_.resize(state_.snapshot().slots());
  Pods& node = nodes_[n.index()];
  if (node.version != state_.pods_version(n) || node.budgets_version != state_.budgets().version()) Make(n, &node);
  return node.pods;
}

std::span<const PossibleVictim> VictimTable::Below(model::NodeId n, int32_t priority) {
  const std::span<const PossibleVictim> pods = On(n);
  const auto first = std::ranges::partition_point(pods, [&](const auto& one) { return one.priority >= priority; });
  return pods.subspan(static_cast<size_t>(first - pods.begin()));
}

void VictimTable::Make(model::NodeId n, Pods* node) const {
  node->version = state_.pods_version(n);
  node->budgets_version = state_.budgets().version();
  node->pods.clear();
  node->budgets.clear();
  for (const model::PodId id : state_.pods_on(n)) {
    const cluster::PodEntry& entry = state_.pod(id);
    if (entry.evicted || entry.victim_of) continue;
    const base::Millis started = entry.pod->started_ms;
    node->pods.push_back({id,
                          entry.pod->spec->priority,
                          started == 0 ? PossibleVictim::kNotStarted : started,
                          entry.pod_class.get(),
                          {}});
  }
  std::ranges::sort(node->pods, [&](const PossibleVictim& a, const PossibleVictim& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.started_ms != b.started_ms) return a.started_ms < b.started_ms;
    const model::ObjectMeta &first = state_.pod(a.pod).pod->meta, &second = state_.pod(b.pod).pod->meta;
    return std::tie(first.created_ms, first.ns, first.name) < std::tie(second.created_ms, second.ns, second.name);
  });
  if (state_.budgets().empty()) return;
  std::vector<std::pair<size_t, size_t>> parts;
  for (const PossibleVictim& one : node->pods) {
    const size_t from = node->budgets.size();
    state_.budgets().ThatProtect(*state_.pod(one.pod).pod, &node->budgets);
    parts.emplace_back(from, node->budgets.size() - from);
  }
  for (size_t i = 0; i < parts.size(); ++i)
    node->pods[i].budgets = std::span(node->budgets).subspan(parts[i].first, parts[i].second);
}

}  // namespace tutti::core
