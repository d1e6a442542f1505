// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/requirements.h"

#include <algorithm>

#include "plugins/common/label_syntax.h"

namespace tutti::plugins {
namespace {

using model::Operator;
using model::Symbol;

bool RightNumberOfValues(const model::Requirement& r) {
  switch (r.op) {
    case Operator::kIn:
    case Operator::kNotIn: return !r.values.empty();
    case Operator::kExists:
    case Operator::kDoesNotExist: return r.values.empty();
    case Operator::kGt:
    case Operator::kLt: return r.values.size() == 1 && ParseInteger(r.values[0]);
    case Operator::kInvalid: return false;
  }
  return false;
}

}  // namespace

void Requirements::AddExact(const model::StringMap& labels) {
  for (const auto& [key, value] : labels)
    entries_.push_back({symbols_.Intern(key), Operator::kIn, {symbols_.Intern(value)}});
}

bool Requirements::Add(const model::Requirement& r) {
  if (!RightNumberOfValues(r) || !IsQualifiedName(r.key)) return false;
  if (!std::ranges::all_of(r.values, [](const std::string& v) { return IsLabelValue(v); })) return false;
  Entry entry{symbols_.Intern(r.key), r.op, {}};
  if (r.op == Operator::kGt || r.op == Operator::kLt)
    entry.number = *ParseInteger(r.values[0]);
  else
    for (const std::string& value : r.values) entry.values.push_back(symbols_.Intern(value));
  std::ranges::sort(entry.values);
  entries_.push_back(std::move(entry));
  return true;
}

bool Requirements::Holds(const Entry& entry, const LabelEntries& labels) const {
  const Symbol value = FindLabel(labels, entry.key);
  switch (entry.op) {
    case Operator::kIn: return value && std::ranges::binary_search(entry.values, value);
    case Operator::kNotIn: return !value || !std::ranges::binary_search(entry.values, value);
    case Operator::kExists: return value.valid();
    case Operator::kDoesNotExist: return !value;
    case Operator::kGt:
    case Operator::kLt: {
      const auto number = value ? ParseInteger(symbols_.Text(value)) : std::nullopt;
      return number && (entry.op == Operator::kGt ? *number > entry.number : *number < entry.number);
    }
    case Operator::kInvalid: return false;
  }
  return false;
}

bool Requirements::Match(const LabelEntries& labels) const {
  return std::ranges::all_of(entries_, [&](const Entry& entry) { return Holds(entry, labels); });
}

std::optional<Requirements::OneOf> Requirements::FirstOneOf() const {
  const auto at = std::ranges::find(entries_, Operator::kIn, &Entry::op);
  return at == entries_.end() ? std::nullopt : std::optional(OneOf{at->key, at->values});
}

void Requirements::AddKeys(std::vector<model::Symbol>* keys) const {
  for (const Entry& entry : entries_) keys->push_back(entry.key);
}

}  // namespace tutti::plugins
