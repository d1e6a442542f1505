// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/pod_term.h"

#include <algorithm>

namespace tutti::plugins {

using cluster::LabelEntries;
using model::Symbol;

PodSelector::PodSelector(const std::optional<model::LabelSelector>& selector, cluster::SymbolTable& symbols)
    : requirements_(symbols), nothing_(!selector) {
  if (!selector) return;
  for (const auto& [key, value] : selector->match_labels)
    nothing_ |= !requirements_.Add({key, model::Operator::kIn, {value}});
  for (const model::Requirement& r : selector->match_expressions)
    nothing_ |= r.op == model::Operator::kGt || r.op == model::Operator::kLt || !requirements_.Add(r);
}

void PodSelector::AddValuesOf(const std::vector<std::string>& keys, const LabelEntries& labels,
                              cluster::SymbolTable& symbols) {
  if (nothing_) return;
  for (const std::string& key : keys)
    if (const Symbol value = FindLabel(labels, symbols.Intern(key)))
      requirements_.AddExact({{key, symbols.Text(value)}});
}

std::optional<Requirements::OneOf> PodSelector::Fewest(const cluster::OccupantIndex& index, Symbol ns) const {
  std::optional<Requirements::OneOf> fewest;
  size_t least = 0;
  requirements_.ForEachOneOf([&](const Requirements::OneOf& one) {
    const auto count = index.CountLabelled(ns, one.key, one.values);
    if (!count || (fewest && *count >= least)) return;
    fewest = one;
    least = *count;
  });
  return fewest;
}

PodTerm::PodTerm(const model::PodAffinityTerm& term, Symbol ns, const cluster::Snapshot& snapshot)
    : snapshot_(snapshot),
      selector_(term.selector, snapshot.symbols()),
      namespace_selector_(term.namespace_selector, snapshot.symbols()),
      key_(snapshot.symbols().Intern(term.topology_key)) {
  for (const std::string& name : term.namespaces) namespaces_.push_back(snapshot.symbols().Intern(name));
  if (term.namespaces.empty() && !term.namespace_selector) namespaces_.push_back(ns);
}

bool PodTerm::Match(const cluster::PodClass& pod, bool unknown_has_no_labels) const {
  static const LabelEntries kNoLabels;
  bool in_namespace = namespace_selector_.everything() || std::ranges::find(namespaces_, pod.ns) != namespaces_.end();
  if (!in_namespace) {
    const LabelEntries* labels = snapshot_.namespaces().LabelsOf(pod.ns);
    if (!labels && unknown_has_no_labels) labels = &kNoLabels;
    in_namespace = labels && namespace_selector_.Match(*labels);
  }
  return in_namespace && selector_.Match(pod.labels);
}

}  // namespace tutti::plugins
