// SPDX-License-Identifier: Apache-2.0
// Spare: what a whole gang can give away and still have its minimum.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/state.h"
#include "core/gangs/census.h"
#include "core/gangs/gang.h"

namespace tutti::core {

class Spare {
 public:
  // Finds nothing for a gang that is not whole, that is starting members, or that has only its minimum. `gang` must
  // outlive it, and its members stay as they are.
  Spare(const Gang& gang, const Census& census, const cluster::ClusterState& state,
        absl::FunctionRef<bool(const Member&)> loose);

  // Returns what may go, each part by itself: one member, or all hosts of one replica. No head is in one, and no member
  // that is not `loose`. Those of the lowest priority come first, then the youngest.
  const std::vector<Members>& parts() const { return parts_; }
  // Tells whether the gang has its minimum without all of these parts.
  bool MayGo(std::span<const size_t> parts) const;
  // Adds the part to these, if all of them may go then. Returns true if it did.
  bool TryAdd(size_t part, std::vector<size_t>* parts) const;

 private:
  void FindParts(const Gang& gang, const Census& census, const cluster::ClusterState& state,
                 absl::FunctionRef<bool(const Member&)> loose);

  std::vector<Members> parts_;
  std::vector<size_t> units_of_;  // by part: the place in GangSpec::units plus one of a unit that is whole; 0: of none
  // How many may go.
  int64_t all_ = 0;                            // members
  std::map<std::string_view, int64_t> roles_;  // members of roles with a minimum
  std::map<size_t, int64_t> units_;            // units of which some must be whole
};

}  // namespace tutti::core
