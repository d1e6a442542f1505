// SPDX-License-Identifier: Apache-2.0
#include "kube/decode_affinity.h"

#include "kube/decode_meta.h"
#include "kube/wire.h"
#include "model/list_limit.h"

namespace tutti::kube {
namespace {

// NodeSelectorRequirement and LabelSelectorRequirement have the same numbers.
model::Requirement DecodeRequirement(std::string_view message) {
  model::Requirement requirement;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: requirement.key = r.text(); break;
      case 2: requirement.op = model::ParseOperator(r.bytes()); break;
      case 3: requirement.values.push_back(r.text()); break;
    }
  return requirement;
}

}  // namespace

model::LabelSelector DecodeSelector(std::string_view message) {
  model::LabelSelector selector;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) AddEntry(r.bytes(), &selector.match_labels);
    if (r.field() == 2) selector.match_expressions.push_back(DecodeRequirement(r.bytes()));
  }
  SortMap(&selector.match_labels);
  return selector;
}

namespace {

model::NodeSelectorTerm DecodeNodeTerm(std::string_view message) {
  model::NodeSelectorTerm term;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) term.match_expressions.push_back(DecodeRequirement(r.bytes()));
    if (r.field() == 2) term.match_fields.push_back(DecodeRequirement(r.bytes()));
  }
  return term;
}

void DecodeNodeAffinity(std::string_view message, model::PodSpec* spec) {
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) {
      auto& required = spec->required_node_affinity.emplace();
      for (WireReader terms(r.bytes()); terms.Next();)
        if (terms.field() == 1 && !model::Full(required.terms)) required.terms.push_back(DecodeNodeTerm(terms.bytes()));
    } else if (r.field() == 2 && !model::Full(spec->preferred_node_affinity)) {
      model::PreferredNodeTerm preferred;
      for (WireReader item(r.bytes()); item.Next();) {
        if (item.field() == 1) preferred.weight = static_cast<int32_t>(item.number());
        if (item.field() == 2) preferred.term = DecodeNodeTerm(item.bytes());
      }
      spec->preferred_node_affinity.push_back(std::move(preferred));
    }
  }
}

model::PodAffinityTerm DecodePodTerm(std::string_view message) {
  model::PodAffinityTerm term;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: term.selector = DecodeSelector(r.bytes()); break;
      case 2: term.namespaces.push_back(r.text()); break;
      case 3: term.topology_key = r.text(); break;
      case 4: term.namespace_selector = DecodeSelector(r.bytes()); break;
      case 5: term.match_label_keys.push_back(r.text()); break;
      case 6: term.mismatch_label_keys.push_back(r.text()); break;
    }
  return term;
}

model::PodAffinity DecodePodAffinity(std::string_view message) {
  model::PodAffinity affinity;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1 && !model::Full(affinity.required)) affinity.required.push_back(DecodePodTerm(r.bytes()));
    if (r.field() != 2 || model::Full(affinity.preferred)) continue;
    model::WeightedPodAffinityTerm weighted;
    for (WireReader item(r.bytes()); item.Next();) {
      if (item.field() == 1) weighted.weight = static_cast<int32_t>(item.number());
      if (item.field() == 2) weighted.term = DecodePodTerm(item.bytes());
    }
    affinity.preferred.push_back(std::move(weighted));
  }
  return affinity;
}

}  // namespace

void DecodeAffinity(std::string_view affinity, model::PodSpec* spec) {
  for (WireReader r(affinity); r.Next();) switch (r.field()) {
      case 1: DecodeNodeAffinity(r.bytes(), spec); break;
      case 2: spec->pod_affinity = DecodePodAffinity(r.bytes()); break;
      case 3: spec->pod_anti_affinity = DecodePodAffinity(r.bytes()); break;
    }
}

model::TopologySpread DecodeSpread(std::string_view constraint) {
  model::TopologySpread spread;
  for (WireReader r(constraint); r.Next();) switch (r.field()) {
      case 1: spread.max_skew = static_cast<int32_t>(r.number()); break;
      case 2: spread.topology_key = r.text(); break;
      case 3: spread.hard = r.bytes() != "ScheduleAnyway"; break;
      case 4: spread.selector = DecodeSelector(r.bytes()); break;
      case 5: spread.min_domains = static_cast<int32_t>(r.number()); break;
      case 6: spread.node_affinity_policy = r.text(); break;
      case 7: spread.node_taints_policy = r.text(); break;
      case 8: spread.match_label_keys.push_back(r.text()); break;
    }
  return spread;
}

}  // namespace tutti::kube
