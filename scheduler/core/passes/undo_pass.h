// SPDX-License-Identifier: Apache-2.0
// UndoPass: takes a gang back that could not be made whole in time: no more binds, bound members evicted where that
// does no harm, until nothing of its plan is left.
#pragma once

#include "core/commit/committer.h"

namespace tutti::core {

class UndoPass {
 public:
  UndoPass(const Options& options, GangBook& book, Agenda& agenda, Committer& committer, PodStatus& pod_status,
           GangStatus& gang_status, const Announcer& announcer, const base::Clock& clock)
      : options_(options),
        book_(book),
        agenda_(agenda),
        committer_(committer),
        pod_status_(pod_status),
        gang_status_(gang_status),
        announcer_(announcer),
        clock_(clock) {}

  // Begins to undo the gang if its time is over. Returns true if it is being undone, or fenced, and nothing else is to
  // be done for it now. REQUIRES: it has a plan and is not whole.
  bool TakeOver(model::GangId id, const Census& census);
  // Continues to undo the gang. REQUIRES: the plan is being undone.
  void Continue(model::GangId id, const Census& census);
  // Tells whether all of the minimum is bound, and to undo the gang would evict none of it. What was to be the last
  // member is not needed then. REQUIRES: no plan.
  bool KeepsAll(const Gang& gang, const Census& census) const;
  // Evicts a member whose node does not exist. Returns true if it is on its way out.
  bool EvictLost(Member& member);

 private:
  // Changes the member's pod: a bind of it that has no reply comes too late then.
  void Fence(model::GangId id, Member& member);

  const Options& options_;
  GangBook& book_;
  Agenda& agenda_;
  Committer& committer_;
  PodStatus& pod_status_;
  GangStatus& gang_status_;
  const Announcer& announcer_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
