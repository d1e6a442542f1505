// SPDX-License-Identifier: Apache-2.0
// Pledges: what the annotations of binds promise for longer than one process lives.
//
// (1) a plan's id is of one gang, and of one member that is bound last, while that lives; (2) once a gang that never
// was whole is being undone, the bind that would make it whole comes too late, from any scheduler, and however late
// it comes.
#pragma once

#include <string>
#include <unordered_map>

#include "tests/simulation/truth.h"

namespace tutti::simulation {

class Pledges {
 public:
  // Judges a bind that leaves with `plan` and the member bound last. Returns the other gang of that plan; empty: none.
  std::string OnBindLeaves(const Truth& truth, const TruePod& pod, const std::string& plan, const std::string& commit);
  // The bound member is the first to be deleted, or one of those that follow. Its scheduler may begin again.
  void OnUndo(const TruePod& member);
  // REQUIRES: it was bound just now.
  bool ComesTooLate(const TruePod& pod) const;

 private:
  struct Plan {
    std::string gang, commit;
  };
  std::unordered_map<std::string, Plan> plans_;          // by id
  std::unordered_map<std::string, std::string> undone_;  // by uid of who would be bound last: the plan's id
};

}  // namespace tutti::simulation
