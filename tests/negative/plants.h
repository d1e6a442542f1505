// SPDX-License-Identifier: Apache-2.0
// Plants: bugs that the simulation must find. Some are in the core, by name. Others are around it, and lie to its
// ports.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/planted.h"
#include "tests/simulation/replica.h"

namespace tutti::negative {

struct PlantedBug {
  std::string name;
  base::Bug in_core = base::Bug::kNone;
  std::function<std::unique_ptr<simulation::Plant>()> around;  // null: only in the core
  std::set<std::string> expects = {};                          // invariants; one of these must be the one that sees it
  uint32_t forgets = 0;                                        // of kForgetToWake
  std::string world = {};                                      // the scenario that shows it soonest; empty: all in turn

  PlantedBug SeenBy(std::set<std::string> invariants) const;
  PlantedBug In(std::string scenario) const;
};

std::vector<PlantedBug> AllBugs();

}  // namespace tutti::negative
