// SPDX-License-Identifier: Apache-2.0
// Pledges: what the annotations of binds promise, for longer than one process lives.
//
// (1) The id of a plan is of one gang, and of one member that is bound last, for as long as that member lives. (2) Once
// a gang that never was whole is being undone, no bind may make it whole, from any scheduler and at any time.
#pragma once

#include <string>
#include <unordered_map>

#include "tests/simulation/truth.h"

namespace tutti::simulation {

class Pledges {
 public:
  // Judges a bind that leaves with `plan` and the member bound last. Returns the other gang of that plan; empty: none.
  std::string OnBindLeaves(const Truth& truth, const TruePod& pod, const std::string& plan, const std::string& commit);
  // Notes that the bound member is deleted: the first one of the gang, or a later one. Its scheduler may begin again.
  void OnUndo(const TruePod& member);
  // Tells whether the bind makes a gang whole that is being undone. REQUIRES: the pod was bound just now.
  bool ComesTooLate(const TruePod& pod) const;

 private:
  struct Plan {
    std::string gang, commit;
  };
  std::unordered_map<std::string, Plan> plans_;          // by id
  std::unordered_map<std::string, std::string> undone_;  // by uid of the member that would be bound last: the plan's id
};

}  // namespace tutti::simulation
