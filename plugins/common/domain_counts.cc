// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/domain_counts.h"

#include <algorithm>

namespace tutti::plugins {

size_t DomainCounts::memory() const {
  return sizeof *this + held_.capacity() * sizeof(decltype(held_)::value_type) +
         totals_.capacity() * sizeof(decltype(totals_)::value_type);
}

DomainCounts::Change DomainCounts::Shift(model::Symbol domain, int64_t by) {
  const auto total = totals_.try_emplace(domain, 0).first;
  const Change change{domain, total->second, total->second + by};
  if (change.after == 0)
    totals_.erase(total);
  else
    total->second = change.after;
  return change;
}

DomainCounts::Change DomainCounts::Add(model::NodeId n, int64_t by) {
  if (!known_ || by == 0) return {};
  const auto [held, fresh] = held_.try_emplace(n);
  if (fresh) held->second.domain = DomainOf(n);
  const model::Symbol domain = held->second.domain;
  if ((held->second.amount += by) == 0) held_.erase(held);
  return domain ? Shift(domain, by) : Change{};
}

size_t PlaceOf(model::Symbol key, const cluster::Snapshot& snapshot, std::vector<DomainCounts>* all) {
  const auto at = std::ranges::find(*all, key, &DomainCounts::key);
  if (at != all->end()) return static_cast<size_t>(at - all->begin());
  all->emplace_back(key, snapshot);
  return all->size() - 1;
}

}  // namespace tutti::plugins
