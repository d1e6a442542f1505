// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/domain_counts.h"

namespace tutti::plugins {

DomainCounts::DomainCounts(model::Symbol key, const cluster::Snapshot& snapshot)
    : key_(key), snapshot_(snapshot), known_(snapshot.HasKey(key)) {
  if (!known_) return;
  Grow();
  for (const auto& [value, nodes] : snapshot.DomainsOf(key)) {
    const uint32_t domain = DomainOfValue(value);
    for (const model::NodeId n : nodes) domain_of_[n.index()] = domain;
  }
}

uint32_t DomainCounts::DomainOfValue(model::Symbol value) {
  const auto [at, fresh] = domains_.try_emplace(value, static_cast<uint32_t>(totals_.size()));
  if (fresh) {
    totals_.push_back(0);
    values_.push_back(value);
  }
  return at->second;
}

void DomainCounts::Grow() {
  domain_of_.resize(snapshot_.slots(), kNone);
  on_node_.resize(snapshot_.slots());
}

size_t DomainCounts::memory() const {
  return sizeof *this + domain_of_.capacity() * sizeof(uint32_t) + on_node_.capacity() * sizeof(int64_t) +
         totals_.capacity() * (sizeof(int64_t) + 3 * sizeof(model::Symbol) + sizeof(uint32_t));
}

DomainCounts::Change DomainCounts::Shift(uint32_t domain, int64_t by) {
  const Change change{values_[domain], totals_[domain], totals_[domain] + by};
  totals_[domain] = change.after;
  nonzero_ += change.before == 0 && change.after != 0;
  nonzero_ -= change.before != 0 && change.after == 0;
  return change;
}

DomainCounts::Change DomainCounts::Add(model::NodeId n, int64_t by) {
  if (!known_) return {};
  if (n.index() >= on_node_.size()) Grow();
  on_node_[n.index()] += by;
  const uint32_t domain = domain_of_[n.index()];
  return domain == kNone ? Change{} : Shift(domain, by);
}

}  // namespace tutti::plugins
