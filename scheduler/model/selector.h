// SPDX-License-Identifier: Apache-2.0
// Label and node selectors as written in a spec; plugins compile them to interned ids. What is asked once, of labels as
// they are written, needs no compiling: Selects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/object_meta.h"

namespace tutti::model {

enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kInvalid };

struct Requirement {
  std::string key;
  Operator op = Operator::kInvalid;
  std::vector<std::string> values;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

struct LabelSelector {
  StringMap match_labels;
  std::vector<Requirement> match_expressions;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// Terms are ORed; within a term everything is ANDed; an empty term matches nothing.
struct NodeSelectorTerm {
  std::vector<Requirement> match_expressions;
  std::vector<Requirement> match_fields;
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;
  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

// In, NotIn, Exists, DoesNotExist, Gt, Lt; anything else is kInvalid.
Operator ParseOperator(std::string_view word);

// False: it asks for nothing, or for something that no label selector can say. The API server's readers have such a
// one select nothing (metav1.LabelSelectorAsSelector).
bool CanSelect(const LabelSelector& selector);
// Tells whether labels are as it says. An operator that is none of a label selector's selects nothing; one that asks
// for nothing selects everything.
bool Selects(const LabelSelector& selector, const StringMap& labels);

}  // namespace tutti::model
