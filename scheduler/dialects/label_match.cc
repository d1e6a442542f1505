// SPDX-License-Identifier: Apache-2.0
#include "dialects/label_match.h"

#include <algorithm>

namespace tutti::dialects {
namespace {

bool Holds(const model::Requirement& requirement, const model::StringMap& labels) {
  const std::string* value = model::Find(labels, requirement.key);
  const bool listed = value && std::ranges::find(requirement.values, *value) != requirement.values.end();
  switch (requirement.op) {
    case model::Operator::kIn: return listed;
    case model::Operator::kNotIn: return !listed;
    case model::Operator::kExists: return value != nullptr;
    case model::Operator::kDoesNotExist: return value == nullptr;
    default: return false;
  }
}

}  // namespace

bool Selects(const model::LabelSelector& selector, const model::StringMap& labels) {
  return std::ranges::all_of(selector.match_labels,
                             [&](const auto& item) {
                               const std::string* value = model::Find(labels, item.first);
                               return value && *value == item.second;
                             }) &&
         std::ranges::all_of(selector.match_expressions,
                             [&](const auto& requirement) { return Holds(requirement, labels); });
}

}  // namespace tutti::dialects
