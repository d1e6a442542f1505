// SPDX-License-Identifier: Apache-2.0
// Requirements: label requirements that must all hold, compiled to symbols of one table. Immutable.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/node_entry.h"
#include "cluster/symbol_table.h"
#include "model/selector.h"

namespace tutti::plugins {

using cluster::FindLabel;
using cluster::LabelEntries;

class Requirements {
 public:
  explicit Requirements(cluster::SymbolTable& symbols) : symbols_(symbols) {}

  // Requires key=value for each label. Does not check their syntax; neither does kube-scheduler.
  void AddExact(const model::StringMap& labels);
  // Adds a requirement. False, with nothing added, for a parse error of kube-scheduler (labels.NewRequirement): an
  // unknown operator, an invalid key or value, or a wrong number of values.
  bool Add(const model::Requirement& requirement);

  bool empty() const { return entries_.empty(); }
  bool Match(const LabelEntries& labels) const;

  // A requirement that a label has one of these values.
  struct OneOf {
    model::Symbol key;
    std::span<const model::Symbol> values;
  };
  std::optional<OneOf> FirstOneOf() const;
  // Calls f for each such requirement.
  template <typename F>
  void ForEachOneOf(F f) const {
    for (const Entry& entry : entries_)
      if (entry.op == model::Operator::kIn) f(OneOf{entry.key, entry.values});
  }
  // Adds the label keys that the requirements read.
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
