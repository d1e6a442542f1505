// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/naive_selectors.h"

#include <algorithm>
#include <limits>

namespace tutti::fuzz {
namespace {

using model::Operator;

bool Lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool Letter(char c) { return Lower(c) || (c >= 'A' && c <= 'Z'); }

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 63 && Letter(text.front()) && Letter(text.back()) &&
         std::ranges::all_of(text, [](char c) { return Letter(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsPart(std::string_view text) {
  return !text.empty() && Lower(text.front()) && Lower(text.back()) &&
         std::ranges::all_of(text, [](char c) { return Lower(c) || c == '-'; });
}

bool HoldsExactly(const model::StringMap& wanted, const model::StringMap& labels) {
  return std::ranges::all_of(wanted, [&](const auto& label) { return std::ranges::count(labels, label) > 0; });
}

bool FieldsHold(const model::NodeSelectorTerm& term, const std::string& node) {
  return std::ranges::all_of(term.match_fields, [&](const model::Requirement& r) {
    if (r.values.size() != 1 || (r.op != Operator::kIn && r.op != Operator::kNotIn)) return false;
    const std::string has = r.key == "metadata.name" ? node : "";
    return (has == r.values[0]) == (r.op == Operator::kIn);
  });
}

bool Holds(const model::NodeSelectorTerm& term, const std::string& node, const model::StringMap& labels) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  return std::ranges::all_of(term.match_expressions,
                             [&](const auto& r) { return Sound(r) && fuzz::Holds(r, labels); }) &&
         FieldsHold(term, node);
}

}  // namespace

bool IsSubdomain(std::string_view text) {
  if (text.size() > 253) return false;
  for (;;) {
    const size_t dot = text.find('.');
    if (!IsPart(text.substr(0, dot))) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsLabelKey(std::string_view text) {
  const size_t slash = text.find('/');
  return slash == text.npos ? IsName(text) : IsSubdomain(text.substr(0, slash)) && IsName(text.substr(slash + 1));
}

bool IsLabelText(std::string_view text) { return text.empty() || IsName(text); }

std::optional<int64_t> WholeNumber(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() > 19) return std::nullopt;
  uint64_t value = 0;  // nineteen digits fit
  for (const char c : text) value = value * 10 + static_cast<uint64_t>(c - '0');
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + (negative ? 1 : 0);
  if (value > most) return std::nullopt;
  return static_cast<int64_t>(negative ? -value : value);
}

bool Sound(const model::Requirement& r) {
  if (!IsLabelKey(r.key) || !std::ranges::all_of(r.values, [](const auto& v) { return IsLabelText(v); })) return false;
  switch (r.op) {
    case Operator::kIn:
    case Operator::kNotIn: return !r.values.empty();
    case Operator::kExists:
    case Operator::kDoesNotExist: return r.values.empty();
    case Operator::kGt:
    case Operator::kLt: return r.values.size() == 1 && WholeNumber(r.values[0]);
    default: return false;
  }
}

bool Sound(const model::LabelSelector& selector) {
  return std::ranges::all_of(selector.match_labels,
                             [](const auto& l) { return IsLabelKey(l.first) && IsLabelText(l.second); }) &&
         std::ranges::all_of(selector.match_expressions,
                             [](const auto& r) { return r.op != Operator::kGt && r.op != Operator::kLt && Sound(r); });
}

bool Holds(const model::Requirement& r, const model::StringMap& labels) {
  const auto label = std::ranges::find(labels, r.key, [](const auto& l) { return l.first; });
  const bool there = label != labels.end();
  const bool listed = there && std::ranges::count(r.values, label->second) > 0;
  switch (r.op) {
    case Operator::kIn: return listed;
    case Operator::kNotIn: return !listed;
    case Operator::kExists: return there;
    case Operator::kDoesNotExist: return !there;
    default: {
      const auto number = there ? WholeNumber(label->second) : std::nullopt;
      if (!number) return false;
      return r.op == Operator::kGt ? *number > *WholeNumber(r.values[0]) : *number < *WholeNumber(r.values[0]);
    }
  }
}

bool Selects(const model::LabelSelector& selector, const model::StringMap& labels) {
  return HoldsExactly(selector.match_labels, labels) &&
         std::ranges::all_of(selector.match_expressions, [&](const auto& r) { return Holds(r, labels); });
}

bool Admits(const model::PodSpec& pod, const std::string& node, const model::StringMap& labels) {
  if (!HoldsExactly(pod.node_selector, labels)) return false;
  const auto& affinity = pod.required_node_affinity;
  return !affinity || std::ranges::any_of(affinity->terms, [&](const auto& term) { return Holds(term, node, labels); });
}

}  // namespace tutti::fuzz
