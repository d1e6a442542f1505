// SPDX-License-Identifier: Apache-2.0
// Requirements: label requirements, all of which must hold, compiled to symbols. Immutable; one table of symbols.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/pod_class.h"
#include "cluster/symbol_table.h"
#include "model/selector.h"

namespace tutti::plugins {

using cluster::LabelEntries;

// The value of `key`, or an invalid symbol.
model::Symbol FindLabel(const LabelEntries& labels, model::Symbol key);

class Requirements {
 public:
  explicit Requirements(cluster::SymbolTable& symbols) : symbols_(symbols) {}

  // key=value for each. Not checked, as upstream does not.
  void AddExact(const model::StringMap& labels);
  // False, and nothing added, for what upstream calls a parse error (labels.NewRequirement): an unknown operator, a key
  // or value that cannot be a label, a wrong number of values.
  bool Add(const model::Requirement& requirement);

  bool empty() const { return entries_.empty(); }
  bool Match(const LabelEntries& labels) const;

  // That a label is one of these values, where that is required; of several, the first.
  struct OneOf {
    model::Symbol key;
    std::span<const model::Symbol> values;
  };
  std::optional<OneOf> FirstOneOf() const;
  // Adds the keys that it reads.
  void AddKeys(std::vector<model::Symbol>* keys) const;

 private:
  struct Entry {
    model::Symbol key;
    model::Operator op = model::Operator::kIn;
    std::vector<model::Symbol> values;
    int64_t number = 0;  // for Gt and Lt
  };
  bool Holds(const Entry& entry, const LabelEntries& labels) const;

  cluster::SymbolTable& symbols_;
  std::vector<Entry> entries_;
};

}  // namespace tutti::plugins
