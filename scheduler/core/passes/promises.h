// SPDX-License-Identifier: Apache-2.0
// Promises: members that a gang's declaration names and that have no pods yet. They are placed and hold room as pods
// do. A pod that comes adopts a promise of its role, and with it the place.
#pragma once

#include "core/passes/enrollment.h"
#include "core/place/planner.h"

namespace tutti::core {

class Promises {
 public:
  Promises(cluster::ClusterState& state, GangBook& book, Committer& committer, Planner& planner, Enrollment& enrollment,
           const AutoFits& auto_fits)
      : state_(state),
        book_(book),
        committer_(committer),
        planner_(planner),
        enrollment_(enrollment),
        auto_fits_(auto_fits) {}

  // Has the gang's pods adopt its promises; then adds and drops promises until there are as many as its declaration
  // says. Once the gang is whole only those for later are kept.
  void Follow(model::GangId id);

 private:
  // Ends what is kept for pods that the gang was to be given quota for, and is not any more, or has been.
  void EndKept(model::GangId id);
  void AdoptAll(model::GangId id);
  // Gives the promise's place to the pod. If the controller changed the pod's class, first checks that it still fits.
  void Adopt(model::GangId id, Member& promise, Member& pod);
  // Returns how many promises these members need.
  int64_t Wanted(const Gang& gang, const model::PromisedMembers& declared) const;

  cluster::ClusterState& state_;
  GangBook& book_;
  Committer& committer_;
  Planner& planner_;
  Enrollment& enrollment_;
  const AutoFits& auto_fits_;
};

}  // namespace tutti::core
