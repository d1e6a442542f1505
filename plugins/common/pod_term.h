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
  bool Match(const cluster::LabelEntries& labels) const { return !nothing_ && requirements_.Match(labels); }

 private:
  Requirements requirements_;
  bool nothing_ = false;
};

// Whether a pod of an affine() class was ever placed: if not, pods without terms need no look at the others.
inline bool EverAffine(const cluster::Snapshot& snapshot) { return snapshot.pod_log().places().affine > 0; }

class PodTerm {
 public:
  // `ns`: the namespace of the pod with the term.
  PodTerm(const model::PodAffinityTerm& term, model::Symbol ns, const cluster::Snapshot& snapshot);

  model::Symbol key() const { return key_; }

  // Whether the term of a waiting pod selects `pod`. An unknown namespace is selected by name only.
  bool Selects(const cluster::PodClass& pod) const { return Match(pod, false); }
  // Whether the term of a running pod selects the waiting `pod`. An unknown namespace counts as one without labels
  // (kube-scheduler treats the two directions differently).
  bool SelectsWaiting(const cluster::PodClass& pod) const { return Match(pod, true); }

 private:
  bool Match(const cluster::PodClass& pod, bool unknown_has_no_labels) const;

  const cluster::Snapshot& snapshot_;
  PodSelector selector_;
  PodSelector namespace_selector_;
  std::vector<model::Symbol> namespaces_;
  model::Symbol key_;
};

}  // namespace tutti::plugins
