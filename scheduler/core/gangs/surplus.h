// SPDX-License-Identifier: Apache-2.0
// Surplus: what of a whole gang is still to be placed, in parts that start together, and in which order: what its
// minimum lacks comes first.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/state.h"
#include "core/gangs/census.h"
#include "core/gangs/gang.h"

namespace tutti::core {

struct GrowthUnit {
  Members members;
  int64_t size = 1;             // so many start together; while there are fewer, they wait
  bool completes = false;       // a unit that is there in part
  bool head = false;            // it holds a head
  int32_t priority = 0;         // the highest among its members
  base::Millis created_ms = 0;  // wall; of its first member
  int64_t turn = 0;             // so many parts of the same role or unit come before it
  std::string kind;             // GrowthFingerprint, once that is asked for

  int64_t lacks() const { return size - static_cast<int64_t>(members.size()); }  // members that do not exist yet
};

// Returns the parts of the surplus: a whole unit together, every other member alone. A member that completes a unit
// goes alone, because the others of the unit are at work. A lost member counts as there until it is deleted: its node
// may come back.
//
// They are in the order in which they are to be placed: heads, then members that complete a unit, then by priority,
// then the oldest. Of equal age each role has one turn after the other, so that no role waits for its name.
std::vector<GrowthUnit> SurplusOf(const Gang& gang, const Census& census, const cluster::ClusterState& state);

// Lack: what the minimum of a gang that was whole lacks still, while members find places.
class Lack {
 public:
  // `requirement`: what the gang needs by the census.
  Lack(const Requirement& requirement, const Census& census);

  bool any() const { return rest_and_owed_ > 0 || Owed() > 0; }
  // Tells whether the part would give a role, or a unit, what its own minimum lacks.
  bool OfRole(const GrowthUnit& part) const;
  // Tells whether the gang's minimum lacks members that may be of any role.
  bool OfAny() const { return rest_and_owed_ > Owed(); }
  void Place(const GrowthUnit& part);

 private:
  struct Units {
    int64_t size = 1;
    int64_t lack = 0;                                  // units that are not whole
    int64_t members = 0;                               // that lack to make those whole which can be
    std::map<std::string, int64_t, std::less<>> have;  // members, by unit
  };
  int64_t Owed() const;

  std::map<std::string, int64_t, std::less<>> roles_;  // members that lack
  std::map<size_t, Units> units_;                      // by place in GangSpec::units
  int64_t rest_and_owed_ = 0;                          // members of the whole gang that lack
};

// Returns a text of what decides whether the part finds nodes: parts of equal texts find them alike, while the rest of
// the gang is placed as it is. `topology`: the gang has topology requests.
std::string GrowthFingerprint(const GrowthUnit& part, bool topology, const cluster::ClusterState& state);

// Returns a text of where the other members are, if that affects the search. No two gangs have the same text. Empty: it
// does not.
std::string PlacementFingerprint(model::GangId id, const Gang& gang, const cluster::ClusterState& state);

}  // namespace tutti::core
