// SPDX-License-Identifier: Apache-2.0
// RoomSums: what all nodes together have free, for gangs that are admitted by sums alone (model::Fit::kAggregate). What
// was admitted without places counts as taken until its pods have nodes.
//
// Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/state.h"
#include "core/gangs/gang.h"
#include "model/resource_list.h"
#include "model/resource_sum.h"

namespace tutti::core {

class RoomSums {
 public:
  explicit RoomSums(const cluster::ClusterState& state) : state_(state) {}

  struct Lack {
    std::string resource;
    int64_t asked = 0, free = 0;
  };
  // Returns a resource of which the gang asks for more than all nodes together have free, with what `leaving` has free
  // as well; nullopt: there is none. Nodes that are cordoned do not count. O(resources); where nodes have changed since
  // the last question, O(nodes) once for each resource.
  std::optional<Lack> LackFor(model::GangId id, const model::ResourceList& asked,
                              const model::ResourceList& leaving = {}) const;

  // Counts as taken what the gang is admitted with and its members do not have, or nothing where it is not `admitted`
  // without places. `counts`: it is about to have so many members of each role; empty: it has what its quota says, or
  // what it declares.
  void Follow(model::GangId id, const Gang& gang, bool admitted, std::map<std::string, int64_t> counts = {});
  void Forget(model::GangId id);

 private:
  int64_t FreeOf(std::string_view resource) const;

  struct Known {
    uint64_t log_end = 0;
    int64_t free = 0;
  };
  const cluster::ClusterState& state_;
  absl::flat_hash_map<model::GangId, model::ResourceList> taken_;
  model::ResourceSum total_;
  mutable std::map<std::string, Known, std::less<>> free_;
};

// Returns what the promised members ask for in all; `counts`: so many of a role, where it names the role.
model::ResourceList DemandOf(const std::vector<model::PromisedMembers>& promised,
                             const std::map<std::string, int64_t>& counts = {});
// Subtracts `amounts`, of none more than there is.
void SubtractUpTo(const model::ResourceList& amounts, model::ResourceList* from);

}  // namespace tutti::core
