// SPDX-License-Identifier: Apache-2.0
// Surplus: what of a whole gang is still to be placed, in parts that start together.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/state.h"
#include "core/census.h"
#include "core/gang.h"

namespace tutti::core {

struct Part {
  Members members;
  int64_t size = 1;        // so many start together; while there are fewer, they wait
  bool completes = false;  // a unit that is there in part

  int64_t lacks() const { return size - static_cast<int64_t>(members.size()); }  // members that do not exist yet
};

// Units of a role, or what is in one unit; else one by one. Who completes a unit comes first, and alone, for the others
// of it are at work. A lost member counts as there until it is deleted: its node may come back.
std::vector<Part> SurplusOf(const Gang& gang, const Census& census);

// What decides whether the part finds nodes: parts of equal kinds find them alike, while the rest of the gang is placed
// as it is. `topology`: the gang has topology requests.
std::string KindOf(const Part& part, bool topology, const cluster::ClusterState& state);

// How the rest is placed, as far as that decides: a text that no other gang has. Empty: it does not.
std::string StandOf(model::GangId id, const Gang& gang, const cluster::ClusterState& state);

}  // namespace tutti::core
