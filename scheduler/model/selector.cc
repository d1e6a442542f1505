// SPDX-License-Identifier: Apache-2.0
#include "model/selector.h"

#include <algorithm>

namespace tutti::model {
namespace {

bool CanHold(const Requirement& one) {
  if (one.op == Operator::kIn || one.op == Operator::kNotIn) return !one.values.empty();
  return (one.op == Operator::kExists || one.op == Operator::kDoesNotExist) && one.values.empty();
}

bool Holds(const Requirement& one, const StringMap& labels) {
  const std::string* value = Find(labels, one.key);
  const bool listed = value && std::ranges::find(one.values, *value) != one.values.end();
  switch (one.op) {
    case Operator::kIn: return listed;
    case Operator::kNotIn: return !listed;
    case Operator::kExists: return value != nullptr;
    case Operator::kDoesNotExist: return value == nullptr;
    default: return false;
  }
}

}  // namespace

Operator ParseOperator(std::string_view word) {
  if (word == "In") return Operator::kIn;
  if (word == "NotIn") return Operator::kNotIn;
  if (word == "Exists") return Operator::kExists;
  if (word == "DoesNotExist") return Operator::kDoesNotExist;
  if (word == "Gt") return Operator::kGt;
  if (word == "Lt") return Operator::kLt;
  return Operator::kInvalid;
}

bool CanSelect(const LabelSelector& selector) {
  return selector != LabelSelector() && std::ranges::all_of(selector.match_expressions, CanHold);
}

bool Selects(const LabelSelector& selector, const StringMap& labels) {
  const auto has = [&](const auto& wanted) {
    const std::string* value = Find(labels, wanted.first);
    return value && *value == wanted.second;
  };
  return std::ranges::all_of(selector.match_labels, has) &&
         std::ranges::all_of(selector.match_expressions, [&](const Requirement& one) { return Holds(one, labels); });
}

}  // namespace tutti::model
