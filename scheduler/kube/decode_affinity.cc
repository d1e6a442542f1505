// SPDX-License-Identifier: Apache-2.0
#include "kube/decode_affinity.h"

#include "kube/decode_meta.h"
#include "kube/field_numbers.h"
#include "kube/wire.h"
#include "model/list_limit.h"

namespace tutti::kube {
namespace {

// NodeSelectorRequirement and LabelSelectorRequirement have the same numbers.
model::Requirement DecodeRequirement(std::string_view message) {
  using F = field::NodeSelectorRequirement;
  model::Requirement requirement;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kKey: requirement.key = r.text(); break;
      case F::kOperator: requirement.op = model::ParseOperator(r.bytes()); break;
      case F::kValues: requirement.values.push_back(r.text()); break;
    }
  return requirement;
}

}  // namespace

model::LabelSelector DecodeSelector(std::string_view message) {
  using F = field::LabelSelector;
  model::LabelSelector selector;
  for (WireReader r(message); r.Next();) {
    if (r.field() == F::kMatchLabels) AddEntry(r.bytes(), &selector.match_labels);
    if (r.field() == F::kMatchExpressions) selector.match_expressions.push_back(DecodeRequirement(r.bytes()));
  }
  SortMap(&selector.match_labels);
  return selector;
}

namespace {

model::NodeSelectorTerm DecodeNodeTerm(std::string_view message) {
  using F = field::NodeSelectorTerm;
  model::NodeSelectorTerm term;
  for (WireReader r(message); r.Next();) {
    if (r.field() == F::kMatchExpressions) term.match_expressions.push_back(DecodeRequirement(r.bytes()));
    if (r.field() == F::kMatchFields) term.match_fields.push_back(DecodeRequirement(r.bytes()));
  }
  return term;
}

void DecodeNodeAffinity(std::string_view message, model::PodSpec* spec) {
  using F = field::NodeAffinity;
  using Preferred = field::PreferredSchedulingTerm;
  for (WireReader r(message); r.Next();) {
    if (r.field() == F::kRequiredDuringSchedulingIgnoredDuringExecution) {
      auto& required = spec->required_node_affinity.emplace();
      for (WireReader terms(r.bytes()); terms.Next();)
        if (terms.field() == field::NodeSelector::kNodeSelectorTerms && !model::Full(required.terms))
          required.terms.push_back(DecodeNodeTerm(terms.bytes()));
    } else if (r.field() == F::kPreferredDuringSchedulingIgnoredDuringExecution &&
               !model::Full(spec->preferred_node_affinity)) {
      model::PreferredNodeTerm preferred;
      for (WireReader item(r.bytes()); item.Next();) {
        if (item.field() == Preferred::kWeight) preferred.weight = static_cast<int32_t>(item.number());
        if (item.field() == Preferred::kPreference) preferred.term = DecodeNodeTerm(item.bytes());
      }
      spec->preferred_node_affinity.push_back(std::move(preferred));
    }
  }
}

model::PodAffinityTerm DecodePodTerm(std::string_view message) {
  using F = field::PodAffinityTerm;
  model::PodAffinityTerm term;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kLabelSelector: term.selector = DecodeSelector(r.bytes()); break;
      case F::kNamespaces: term.namespaces.push_back(r.text()); break;
      case F::kTopologyKey: term.topology_key = r.text(); break;
      case F::kNamespaceSelector: term.namespace_selector = DecodeSelector(r.bytes()); break;
      case F::kMatchLabelKeys: term.match_label_keys.push_back(r.text()); break;
      case F::kMismatchLabelKeys: term.mismatch_label_keys.push_back(r.text()); break;
    }
  return term;
}

// PodAffinity and PodAntiAffinity have the same numbers.
model::PodAffinity DecodePodAffinity(std::string_view message) {
  using F = field::PodAffinity;
  using Weighted = field::WeightedPodAffinityTerm;
  model::PodAffinity affinity;
  for (WireReader r(message); r.Next();) {
    if (r.field() == F::kRequiredDuringSchedulingIgnoredDuringExecution && !model::Full(affinity.required))
      affinity.required.push_back(DecodePodTerm(r.bytes()));
    if (r.field() != F::kPreferredDuringSchedulingIgnoredDuringExecution || model::Full(affinity.preferred)) continue;
    model::WeightedPodAffinityTerm weighted;
    for (WireReader item(r.bytes()); item.Next();) {
      if (item.field() == Weighted::kWeight) weighted.weight = static_cast<int32_t>(item.number());
      if (item.field() == Weighted::kPodAffinityTerm) weighted.term = DecodePodTerm(item.bytes());
    }
    affinity.preferred.push_back(std::move(weighted));
  }
  return affinity;
}

}  // namespace

void DecodeAffinity(std::string_view affinity, model::PodSpec* spec) {
  using F = field::Affinity;
  for (WireReader r(affinity); r.Next();) switch (r.field()) {
      case F::kNodeAffinity: DecodeNodeAffinity(r.bytes(), spec); break;
      case F::kPodAffinity: spec->pod_affinity = DecodePodAffinity(r.bytes()); break;
      case F::kPodAntiAffinity: spec->pod_anti_affinity = DecodePodAffinity(r.bytes()); break;
    }
}

model::TopologySpread DecodeSpread(std::string_view constraint) {
  using F = field::TopologySpreadConstraint;
  model::TopologySpread spread;
  for (WireReader r(constraint); r.Next();) switch (r.field()) {
      case F::kMaxSkew: spread.max_skew = static_cast<int32_t>(r.number()); break;
      case F::kTopologyKey: spread.topology_key = r.text(); break;
      case F::kWhenUnsatisfiable: spread.hard = r.bytes() != "ScheduleAnyway"; break;
      case F::kLabelSelector: spread.selector = DecodeSelector(r.bytes()); break;
      case F::kMinDomains: spread.min_domains = static_cast<int32_t>(r.number()); break;
      case F::kNodeAffinityPolicy: spread.node_affinity_policy = r.text(); break;
      case F::kNodeTaintsPolicy: spread.node_taints_policy = r.text(); break;
      case F::kMatchLabelKeys: spread.match_label_keys.push_back(r.text()); break;
    }
  return spread;
}

}  // namespace tutti::kube
