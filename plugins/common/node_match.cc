// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/node_match.h"

#include <algorithm>

namespace tutti::plugins {

std::optional<NodeTerm> NodeTerm::Compile(const model::NodeSelectorTerm& term, cluster::SymbolTable& symbols) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return std::nullopt;
  NodeTerm compiled(symbols);
  for (const model::Requirement& r : term.match_expressions)
    if (!compiled.labels_.Add(r)) return std::nullopt;
  for (const model::Requirement& r : term.match_fields) {
    const bool equal = r.op == model::Operator::kIn;
    if (r.values.size() != 1 || (!equal && r.op != model::Operator::kNotIn)) return std::nullopt;
    compiled.fields_.push_back({r.key == "metadata.name", equal, r.values[0]});
  }
  return compiled;
}

bool NodeTerm::Match(const cluster::NodeEntry& node) const {
  return labels_.Match(node.labels) && std::ranges::all_of(fields_, [&](const Field& field) {
           return ((field.name ? node.name : std::string()) == field.value) == field.equal;
         });
}

bool NodeTerm::AddKeys(std::vector<model::Symbol>* keys) const {
  labels_.AddKeys(keys);
  return fields_.empty();
}

NodeMatch::NodeMatch(const model::StringMap& node_selector, const std::optional<model::NodeSelector>& affinity,
                     cluster::SymbolTable& symbols)
    : selector_(symbols), affine_(affinity.has_value()) {
  selector_.AddExact(node_selector);
  if (!affinity) return;
  for (const model::NodeSelectorTerm& term : affinity->terms)
    if (auto compiled = NodeTerm::Compile(term, symbols)) terms_.push_back(*std::move(compiled));
}

bool NodeMatch::Narrow(const cluster::Snapshot& snapshot, std::vector<model::NodeId>* nodes) const {
  const auto narrow = [&](const Requirements& labels) {
    const auto one_of = labels.FirstOneOf();
    if (!one_of || !snapshot.labels().MayIndex(one_of->key)) return false;
    for (const model::Symbol value : one_of->values) {
      const auto with_it = snapshot.labels().NodesIn(one_of->key, value);
      nodes->insert(nodes->end(), with_it.begin(), with_it.end());
    }
    return true;
  };
  if (narrow(selector_)) return true;
  return affine_ && std::ranges::all_of(terms_, [&](const NodeTerm& term) { return narrow(term.labels()); });
}

bool NodeMatch::Match(const cluster::NodeEntry& node) const {
  if (!selector_.Match(node.labels)) return false;
  return !affine_ || std::ranges::any_of(terms_, [&](const NodeTerm& term) { return term.Match(node); });
}

bool NodeMatch::AddKeys(std::vector<model::Symbol>* keys) const {
  selector_.AddKeys(keys);
  return std::ranges::all_of(terms_, [keys](const NodeTerm& term) { return term.AddKeys(keys); });
}

}  // namespace tutti::plugins
