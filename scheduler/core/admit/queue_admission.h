// SPDX-License-Identifier: Apache-2.0
// QueueAdmission: whether a gang's queues take it: before nodes are searched for, by the least that can start it, and
// afterwards by what was placed.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/state.h"
#include "cluster/what_if.h"
#include "core/admit/queues.h"
#include "core/gangs/census.h"

namespace tutti::core {

class QueueAdmission {
 public:
  QueueAdmission(const cluster::ClusterState& state, Queues& queues) : state_(state), queues_(queues) {}

  // Tells whether the queue has room for the cheapest set of members that can start the gang. Where no member is placed
  // yet, counts at least minResources.
  Admission ToStart(const Gang& gang, const Census& census, const Requirement& requirement) const;
  // Tells whether the queue has room for these members.
  Admission Of(const Gang& gang, const Members& members) const;
  Admission Of(const Gang& gang, const std::vector<cluster::Placement>& placements) const;
  // Tells whether the queue has room for the gang's members but not for its minResources. REQUIRES: `admission` refuses
  // it.
  bool IsRefusedByMinResources(const Gang& gang, const Census& census, const Requirement& requirement,
                               const Admission& admission) const;

  // A resource of which all nodes together have less free than minResources asks for.
  struct Lack {
    std::string resource;
    int64_t asked = 0, free = 0;
  };
  // Returns a resource that the nodes lack for minResources; nullopt: they have enough, or the gang has no
  // minResources. O(nodes · resources).
  std::optional<Lack> LackOfMinResources(const Gang& gang) const;

  // A resource of which minResources asks for more than all members together, and for more than is free.
  struct Excess {
    std::string resource;
    int64_t asked = 0, members = 0;
  };
  // Tells why no pod may leave for a gang that has nothing yet: the room would be left idle. nullopt: nothing is in
  // excess. O(members), and if it asks for more than they do O(nodes · resources).
  std::optional<Excess> ExcessOfMinResources(const Gang& gang, const Census& census,
                                             const Requirement& requirement) const;

 private:
  // Asks all queues of the gang.
  Admission Admit(const Gang& gang, const model::ResourceList& ask) const;
  std::set<std::string_view> Limited(const Gang& gang) const;
  // Returns what all nodes together have free.
  int64_t FreeOf(std::string_view resource) const;

  const cluster::ClusterState& state_;
  Queues& queues_;
};

}  // namespace tutti::core
