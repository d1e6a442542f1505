// SPDX-License-Identifier: Apache-2.0
// PodSelector and PodTerm: label selectors over pods and pod affinity terms, compiled to symbols. Immutable.
#pragma once

#include <optional>
#include <vector>

#include "cluster/snapshot.h"
#include "model/pod_spec.h"
#include "plugins/common/requirements.h"

namespace tutti::plugins {

// A metav1.LabelSelector. An absent one matches nothing, an empty one everything. One that does not parse matches
// nothing.
class PodSelector {
 public:
  PodSelector(const std::optional<model::LabelSelector>& selector, cluster::SymbolTable& symbols);

  // Adds the requirement key=value for each of `keys` that `labels` has.
  void AddValuesOf(const std::vector<std::string>& keys, const cluster::LabelEntries& labels,
                   cluster::SymbolTable& symbols);
  bool everything() const { return !nothing_ && requirements_.empty(); }
  bool nothing() const { return nothing_; }
  bool Match(const cluster::LabelEntries& labels) const { return !nothing_ && requirements_.Match(labels); }

  // Calls f(occupants) for classes that have pods on nodes: at least for all of the namespace that it matches, and by
  // the index of the snapshot, where that helps, for few others.
  template <typename F>
  void ForEachCandidate(const cluster::Snapshot& snapshot, model::Symbol ns, F f) const {
    if (nothing_) return;
    const cluster::OccupantIndex& index = snapshot.occupant_index();
    if (const auto fewest = Fewest(index, ns)) return index.ForEachLabelled(ns, fewest->key, fewest->values, f);
    for (const auto& [id, occupants] : index.all()) f(occupants);
  }

 private:
  // The requirement that the fewest classes meet; nullopt: none is indexed.
  std::optional<Requirements::OneOf> Fewest(const cluster::OccupantIndex& index, model::Symbol ns) const;

  Requirements requirements_;
  bool nothing_ = false;
};

class PodTerm {
 public:
  // `ns`: the namespace of the pod with the term.
  PodTerm(const model::PodAffinityTerm& term, model::Symbol ns, const cluster::Snapshot& snapshot);

  model::Symbol key() const { return key_; }

  // Tells whether the term of a waiting pod selects `pod`. An unknown namespace is selected by name only.
  bool Selects(const cluster::PodClass& pod) const { return Match(pod, false); }
  // Tells whether the term of a running pod selects the waiting `pod`. An unknown namespace counts as one without
  // labels (kube-scheduler treats the two directions differently).
  bool SelectsWaiting(const cluster::PodClass& pod) const { return Match(pod, true); }

  // Calls f(occupants) for classes that have pods on nodes: at least for all that the term selects.
  template <typename F>
  void ForEachCandidate(F f) const {
    if (namespace_selector_.nothing())
      for (const model::Symbol ns : namespaces_) selector_.ForEachCandidate(snapshot_, ns, f);
    else
      for (const auto& [id, occupants] : snapshot_.occupants()) f(occupants);
  }

 private:
  bool Match(const cluster::PodClass& pod, bool unknown_has_no_labels) const;

  const cluster::Snapshot& snapshot_;
  PodSelector selector_;
  PodSelector namespace_selector_;
  std::vector<model::Symbol> namespaces_;
  model::Symbol key_;
};

// The classes with pods on nodes that matter to the terms of a pod: those that its terms may select, and those that
// have terms of their own.
class ClassesAbout {
 public:
  explicit ClassesAbout(const cluster::Snapshot& snapshot) : index_(snapshot.occupant_index()), ids_(index_.affine()) {}

  void Add(const PodTerm& term) {
    term.ForEachCandidate([this](const cluster::Occupants& occupants) { ids_.insert(occupants.pod_class->id); });
  }
  // Calls f(occupants) once for each.
  template <typename F>
  void ForEach(F f) const {
    for (const model::ClassId id : ids_) f(index_.at(id));
  }

 private:
  const cluster::OccupantIndex& index_;
  cluster::OccupantIndex::Classes ids_;
};

}  // namespace tutti::plugins
