// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/score_state.h"

#include <algorithm>

#include "plugins/common/size_limits.h"

namespace tutti::plugins {

using cluster::PodClass;
using framework::Dirty;
using model::NodeId;

InterPodAffinityScore::InterPodAffinityScore(const PodClass& pod_class, const cluster::Snapshot& snapshot,
                                             int64_t hard_weight)
    : pod_class_(pod_class), snapshot_(snapshot), hard_weight_(hard_weight), unknown_keys_(snapshot) {
  for (const auto& [weight, term] : pod_class.spec->pod_affinity.preferred)
    preferred_.push_back({PodTerm(term, pod_class.ns, snapshot), weight});
  for (const auto& [weight, term] : pod_class.spec->pod_anti_affinity.preferred)
    preferred_.push_back({PodTerm(term, pod_class.ns, snapshot), -int64_t{weight}});
  ClassesAbout classes(snapshot);
  for (const Preferred& mine : preferred_) classes.Add(mine.term);
  classes.ForEach([this](const cluster::Occupants& occupants) {
    for (const auto& [n, count] : occupants.nodes) Apply(*occupants.pod_class, n, count, nullptr);
  });
}

const InterPodAffinityScore::Weights& InterPodAffinityScore::WeightsOf(const PodClass& other) {
  return weights_.Of(other, [this](const PodClass& unseen) { return MakeWeights(unseen); });
}

InterPodAffinityScore::Weights InterPodAffinityScore::MakeWeights(const PodClass& other) {
  std::vector<int64_t> sums(counts_.size());
  const auto add = [&](model::Symbol key, int64_t weight) {
    if (weight == 0) return;
    const size_t place = PlaceOf(key, snapshot_, &counts_);
    if (place >= sums.size()) sums.resize(place + 1);
    sums[place] += weight;
  };
  const auto add_theirs = [&](const model::PodAffinityTerm& term, int64_t weight) {
    const model::Symbol key = snapshot_.symbols().Intern(term.topology_key);
    if (unknown_keys_.Knows(key) && PodTerm(term, other.ns, snapshot_).SelectsWaiting(pod_class_)) add(key, weight);
  };
  for (const Preferred& mine : preferred_)
    if (unknown_keys_.Knows(mine.term.key()) && mine.term.Selects(other)) add(mine.term.key(), mine.weight);
  if (const model::PodAffinity& theirs = other.spec->pod_affinity; IsLookedAt(theirs)) {
    for (const model::PodAffinityTerm& term : theirs.required) add_theirs(term, hard_weight_);
    for (const auto& [weight, term] : theirs.preferred) add_theirs(term, weight);
  }
  if (const model::PodAffinity& theirs = other.spec->pod_anti_affinity; IsLookedAt(theirs))
    for (const auto& [weight, term] : theirs.preferred) add_theirs(term, -int64_t{weight});
  Weights weights;
  weights.list.reserve(sums.size() - static_cast<size_t>(std::ranges::count(sums, 0)));
  for (size_t place = 0; place < sums.size(); ++place)
    if (sums[place] != 0) weights.list.emplace_back(place, sums[place]);
  return weights;
}

size_t InterPodAffinityScore::memory() const {
  size_t bytes = weights_.memory() + unknown_keys_.memory();
  for (const DomainCounts& counts : counts_) bytes += counts.memory();
  return bytes;
}

void InterPodAffinityScore::Apply(const PodClass& other, NodeId n, int64_t by, Dirty* dirty) {
  for (const auto& [place, weight] : WeightsOf(other).list) {
    const DomainCounts::Change change = counts_[place].Add(n, by * weight);
    if (dirty && change.value) dirty->Domain(counts_[place].key(), change.value);
  }
}

void InterPodAffinityScore::PodChanged(const PodClass& other, NodeId n, int32_t by, Dirty& dirty) {
  Apply(other, n, by, &dirty);
}

void InterPodAffinityScore::NodesChanged(std::span<const NodeId> nodes, Dirty& dirty) {
  for (DomainCounts& counts : counts_)
    for (const NodeId n : nodes)
      counts.NodeChanged(n, [&](const DomainCounts::Change& change) { dirty.Domain(counts.key(), change.value); });
}

int64_t InterPodAffinityScore::Score(NodeId n) const {
  int64_t sum = 0;
  for (const DomainCounts& counts : counts_) sum += counts.At(n);
  return sum;
}

}  // namespace tutti::plugins
