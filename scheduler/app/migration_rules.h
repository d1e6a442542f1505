// SPDX-License-Identifier: Apache-2.0
// MigrationRules: the tables of docs/migrate as rules. A row of those tables may have, in its last cell, comments that
// say how its first cell is found in a cluster:
//
//   <!-- VERDICT: KIND.GROUP[:NAMESPACE/NAME] [POINTER [OPERATOR VALUE]] -->
//
// VERDICT: `taken`, `different` or `not`. POINTER is a JSON pointer into the object; without an operator, something is
// there. OPERATOR: `=` the value is VALUE; `~` the text contains VALUE. Any object that a comment finds means that what
// the row speaks of is in use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tutti::app {

struct MigrationRule {
  enum class Verdict { kTaken, kDifferent, kNot };

  // Whether the object, which is of the kind, is one that the rule finds.
  bool Finds(const base::Json& object) const;

  Verdict verdict = Verdict::kTaken;
  std::string system;         // "Volcano"
  std::string what, answer;   // the first two cells of the row, as plain text
  std::string kind, group;    // "Queue", "scheduling.volcano.sh"
  std::string ns, name;       // empty: all objects of the kind
  std::string pointer, value;
  char sign = ' ';            // '=', '~', or ' ' for none
};

// Reads a page. Error: kInvalid, with the comment.
base::Result<std::vector<MigrationRule>> ReadMigrationRules(std::string_view page);

// The rules of all pages, which the binary holds.
std::vector<MigrationRule> MigrationRules();

}  // namespace tutti::app
