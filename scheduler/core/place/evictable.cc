// SPDX-License-Identifier: Apache-2.0
#include "core/place/evictable.h"

#include <algorithm>
#include <utility>

#include "core/gangs/node_pods.h"
#include "dialects/preemptable.h"

namespace tutti::core {
namespace {

using model::NodeId;

constexpr int32_t kSystemCritical = 2'000'000'000;
// More priorities than these are not told apart for long.
constexpr size_t kMostPriorities = 1024;

using Held = Evictable::Held;

bool Before(const Held& a, const Held& b) { return std::tie(a.priority, a.column) < std::tie(b.priority, b.column); }

// One entry for each priority and column.
std::vector<Held> Merge(std::vector<Held> held) {
  std::ranges::sort(held, Before);
  std::vector<Held> merged;
  for (const Held& one : held)
    if (merged.empty() || Before(merged.back(), one))
      merged.push_back(one);
    else
      merged.back().amount += one.amount;
  return merged;
}

}  // namespace

bool NeverGoes(const model::Pod& pod) {
  if (pod.spec->priority >= kSystemCritical || pod.meta.ns == "kube-system") return true;
  return IsOnEachNode(pod) || !dialects::IsPreemptable(pod);
}

int32_t GoesBy(const cluster::PodEntry& pod, const Gang* gang) {
  if (pod.pod->meta.deleting()) return Evictable::kLeaving;
  const int32_t own = pod.pod->spec->priority;
  return gang ? gang->spec.priority.value_or(own) : own;
}

Evictable::Node Evictable::Look(NodeId n) const {
  const cluster::Snapshot& nodes = state_.snapshot();
  Node look;
  if (!nodes.present(n)) return look;
  look.version = nodes.node(n).version;
  for (const model::PodId id : state_.pods_on(n)) {
    const cluster::PodEntry& entry = state_.pod(id);
    if (NeverGoes(*entry.pod)) continue;
    const model::GangId gang = book_.GangOf(id);
    const int32_t priority = GoesBy(entry, gang ? &book_.at(gang) : nullptr);
    look.held.push_back({priority, cluster::kPodsColumn, 1});
    for (const auto& [column, amount] : entry.pod_class->requests) look.held.push_back({priority, column, amount});
  }
  look.held = Merge(std::move(look.held));
  for (uint32_t c = 0; c < nodes.resources().size(); ++c) {
    const model::ResourceId column(c);
    if (!nodes.Exists(column)) continue;
    int64_t amount = nodes.requested(column)[n.index()];
    for (const Held& held : look.held) amount -= held.column == column ? held.amount : 0;
    if (amount != 0) look.others.push_back({0, column, amount});
  }
  return look;
}

void Evictable::Count(const std::vector<Held>& held, int32_t by) {
  for (const Held& one : held)
    if (const auto at = places_.try_emplace(one.priority, 0).first; (at->second += by) == 0) places_.erase(at);
}

void Evictable::NoteLess(const std::vector<Held>& before, const std::vector<Held>& now, bool others) {
  auto at = now.begin();
  for (const Held& was : before) {
    while (at != now.end() && Before(*at, was)) ++at;
    const bool same = at != now.end() && !Before(was, *at);
    if ((same ? at->amount : 0) < was.amount) less_at_[others ? kOthers : was.priority] = now_;
  }
}

void Evictable::Read(NodeId n) {
  if (nodes_.size() <= n.index()) nodes_.resize(n.index() + 1);
  Node& node = nodes_[n.index()];
  Node look = Look(n);
  if (look.version != node.version) changed_at_ = now_;
  NoteLess(node.held, look.held, false);
  NoteLess(node.others, look.others, true);
  Count(node.held, -1);
  Count(look.held, +1);
  node = std::move(look);
}

void Evictable::CatchUp() {
  const cluster::Snapshot& nodes = state_.snapshot();
  const uint64_t end = nodes.log_end();
  if (begun_ && (seen_ == end || state_.speculated() > 0)) return;
  ++now_;
  if (!begun_ || !nodes.ReadLog(seen_, &touched_)) {
    touched_.clear();
    for (uint32_t slot = 0; slot < nodes.slots(); ++slot) touched_.emplace_back(slot);
  }
  begun_ = true;
  seen_ = end;
  std::ranges::sort(touched_);
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const NodeId n : touched_) Read(n);
  touched_.clear();
  if (less_at_.size() <= kMostPriorities) return;
  less_at_.clear();
  changed_at_ = now_;
}

std::vector<int32_t> Evictable::PrioritiesBelow(int32_t priority) const {
  std::vector<int32_t> below;
  for (auto at = places_.begin(); at != places_.end() && at->first < priority; ++at) below.push_back(at->first);
  return below;
}

bool Evictable::MoreSince(uint64_t then, int32_t priority) const {
  if (changed_at_ > then) return true;
  return std::any_of(less_at_.lower_bound(priority), less_at_.end(),
                     [then](const auto& item) { return item.second > then; });
}

}  // namespace tutti::core
