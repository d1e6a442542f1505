// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/filter_state.h"

#include <algorithm>

#include "plugins/common/size_limits.h"

namespace tutti::plugins {

using cluster::PodClass;
using framework::Dirty;
using framework::RefusedBy;
using framework::Verdict;
using model::NodeId;

InterPodAffinityFilter::InterPodAffinityFilter(const PodClass& pod_class, const cluster::Snapshot& snapshot)
    : pod_class_(pod_class), snapshot_(snapshot), unknown_keys_(snapshot) {
  const auto compile = [&](const std::vector<model::PodAffinityTerm>& terms, std::vector<Term>* out) {
    for (const model::PodAffinityTerm& term : terms) {
      PodTerm compiled(term, pod_class.ns, snapshot);
      DomainCounts counts(compiled.key(), snapshot);
      unknown_keys_.Knows(compiled.key());
      out->push_back({std::move(compiled), std::move(counts)});
    }
  };
  compile(pod_class.spec->pod_affinity.required, &affinity_);
  compile(pod_class.spec->pod_anti_affinity.required, &anti_);
  selects_itself_ = SelectedByAll(pod_class);
  ExcludedBy(pod_class, &alone_);
  ClassesAbout classes(snapshot);
  // All of its affinity terms must select a pod, so those that one selects are enough.
  if (!affinity_.empty()) classes.Add(affinity_.front().term);
  for (const Term& term : anti_) classes.Add(term.term);
  classes.ForEach([this](const cluster::Occupants& occupants) {
    for (const auto& [n, count] : occupants.nodes) Apply(*occupants.pod_class, n, count, nullptr);
  });
}

bool InterPodAffinityFilter::SelectedByAll(const PodClass& other) const {
  return !affinity_.empty() &&
         std::ranges::all_of(affinity_, [&](const Term& term) { return term.term.Selects(other); });
}

const InterPodAffinityFilter::Relation& InterPodAffinityFilter::RelationTo(const PodClass& other) {
  return relations_.Of(other, [this](const PodClass& unseen) { return MakeRelation(unseen); });
}

InterPodAffinityFilter::Relation InterPodAffinityFilter::MakeRelation(const PodClass& other) {
  Relation relation;
  relation.affine = SelectedByAll(other);
  for (size_t i = 0; i < anti_.size(); ++i)
    if (anti_[i].term.Selects(other)) relation.anti.push_back(i);
  if (!IsLookedAt(other.spec->pod_anti_affinity)) return relation;
  for (const model::PodAffinityTerm& term : other.spec->pod_anti_affinity.required) {
    const model::Symbol key = snapshot_.symbols().Intern(term.topology_key);
    if (unknown_keys_.Knows(key) && PodTerm(term, other.ns, snapshot_).SelectsWaiting(pod_class_))
      relation.against_me.push_back(PlaceOf(key, snapshot_, &against_));
  }
  std::ranges::sort(relation.against_me);
  relation.against_me.erase(std::unique(relation.against_me.begin(), relation.against_me.end()),
                            relation.against_me.end());
  return relation;
}

size_t InterPodAffinityFilter::memory() const {
  size_t bytes = relations_.memory() + unknown_keys_.memory();
  for (const auto* terms : {&affinity_, &anti_})
    for (const Term& term : *terms) bytes += term.counts.memory();
  for (const DomainCounts& counts : against_) bytes += counts.memory();
  return bytes;
}

void InterPodAffinityFilter::Apply(const PodClass& other, NodeId n, int64_t by, Dirty* dirty) {
  const Relation& relation = RelationTo(other);
  const auto add = [&](DomainCounts& counts) {
    const DomainCounts::Change change = counts.Add(n, by);
    if (dirty && change.value && (change.before > 0) != (change.after > 0)) dirty->Domain(counts.key(), change.value);
  };
  if (relation.affine) {
    const bool any_before = AnyAffine();
    for (Term& term : affinity_) add(term.counts);
    // The rule for the first pod of a series begins to hold, or ceases to.
    if (dirty && any_before != AnyAffine()) dirty->Everything();
  }
  for (const size_t i : relation.anti) add(anti_[i].counts);
  for (const size_t i : relation.against_me) add(against_[i]);
}

void InterPodAffinityFilter::PodChanged(const PodClass& other, NodeId n, int32_t by, Dirty& dirty) {
  Apply(other, n, by, &dirty);
}

void InterPodAffinityFilter::NodesChanged(std::span<const NodeId> nodes, Dirty& dirty) {
  const bool any_before = AnyAffine();
  const auto follow = [&](DomainCounts& counts) {
    for (const NodeId n : nodes)
      counts.NodeChanged(n, [&](const DomainCounts::Change& change) {
        if ((change.before > 0) != (change.after > 0)) dirty.Domain(counts.key(), change.value);
      });
  };
  for (Term& term : affinity_) follow(term.counts);
  for (Term& term : anti_) follow(term.counts);
  for (DomainCounts& counts : against_) follow(counts);
  if (any_before != AnyAffine()) dirty.Everything();
}

bool InterPodAffinityFilter::AnyAffine() const {
  return std::ranges::any_of(affinity_, [](const Term& term) { return term.counts.nonzero_domains() > 0; });
}

bool InterPodAffinityFilter::FitsAffinity(NodeId n) const {
  bool pods_exist = true;
  for (const Term& term : affinity_) {
    if (!term.counts.Has(n)) return false;
    pods_exist = pods_exist && term.counts.At(n) > 0;
  }
  // The first pod of a series with affinity to itself may start on any node that has the keys.
  return pods_exist || (selects_itself_ && !AnyAffine());
}

bool InterPodAffinityFilter::FitsAnti(NodeId n) const {
  return std::ranges::none_of(anti_, [n](const Term& term) { return term.counts.At(n) > 0; });
}

bool InterPodAffinityFilter::FitsAgainstMe(NodeId n) const {
  return std::ranges::none_of(against_, [n](const DomainCounts& counts) { return counts.At(n) > 0; });
}

Verdict InterPodAffinityFilter::Check(NodeId n) const {
  if (!FitsAffinity(n)) return Verdict::kNever;
  return FitsAnti(n) && FitsAgainstMe(n) ? Verdict::kFits : Verdict::kNotNow;
}

void InterPodAffinityFilter::Explain(NodeId n, std::vector<std::string>* reasons) const {
  reasons->emplace_back(!FitsAffinity(n) ? "node(s) didn't match pod affinity rules"
                        : !FitsAnti(n)   ? "node(s) didn't match pod anti-affinity rules"
                                         : "node(s) didn't satisfy existing pods anti-affinity rules");
}

int64_t InterPodAffinityFilter::Room(NodeId n) const {
  const auto has = [&](model::Symbol key) { return snapshot_.node(n).Label(key).valid(); };
  return std::ranges::any_of(alone_, has) ? 1 : kAnyNumber;
}

void InterPodAffinityFilter::ExcludedBy(const PodClass& other, std::vector<model::Symbol>* keys) {
  const Relation& relation = RelationTo(other);
  for (const size_t i : relation.anti) keys->push_back(anti_[i].term.key());
  for (const size_t i : relation.against_me) keys->push_back(against_[i].key());
}

void InterPodAffinityFilter::Gathers(std::vector<model::Symbol>* keys) const {
  for (const Term& term : affinity_) keys->push_back(term.term.key());
}

int64_t InterPodAffinityFilter::Most(std::span<const int32_t> given, std::span<const PodClass* const> others) const {
  if (AloneForNow()) return FilterState::Most(given, others);
  const bool opened = std::ranges::any_of(others, [&](const PodClass* other) { return SelectedByAll(*other); });
  std::vector<int32_t> room(given.begin(), given.end());
  for (uint32_t n = 0; n < room.size(); ++n)
    if (room[n] > 0 && !(FitsAnti(NodeId(n)) && FitsAgainstMe(NodeId(n)) && (opened || FitsAffinity(NodeId(n)))))
      room[n] = 0;
  int64_t most = FilterState::Most(room, others);
  absl::flat_hash_map<model::Symbol, int64_t> domains;
  for (const model::Symbol key : alone_) {
    int64_t sum = 0;
    domains.clear();
    for (uint32_t n = 0; n < room.size(); ++n) {
      if (room[n] == 0) continue;
      const model::Symbol value = snapshot_.node(NodeId(n)).Label(key);
      sum += value ? domains.try_emplace(value, 1).second : room[n];
    }
    most = std::min(most, sum);
  }
  if (opened || AnyAffine()) return most;
  // If there is no pod to join, the first pod of a series fixes the domain for all later ones.
  for (const Term& term : affinity_) {
    int64_t widest = 0;
    domains.clear();
    for (uint32_t n = 0; n < room.size(); ++n)
      if (room[n] > 0) widest = std::max(widest, domains[snapshot_.node(NodeId(n)).Label(term.term.key())] += room[n]);
    most = std::min(most, widest);
  }
  return most;
}

void InterPodAffinityFilter::CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const {
  if (!AloneForNow()) FilterState::CheckAll(mine, refused_by);
}

void InterPodAffinityFilter::CheckSome(RefusedBy mine, std::span<const NodeId> nodes,
                                       std::span<RefusedBy> refused_by) const {
  if (!AloneForNow()) FilterState::CheckSome(mine, nodes, refused_by);
}

}  // namespace tutti::plugins
