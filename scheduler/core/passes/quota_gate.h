// SPDX-License-Identifier: Apache-2.0
// QuotaGate: which gangs may be placed, where their queue gives quota before there are pods; and what becomes of the
// others: they stand in line, wait for checks, or give back what they have.
#pragma once

#include <string>

#include "core/admit/quota_desk.h"
#include "core/passes/refusals.h"

namespace tutti::core {

class QuotaGate {
 public:
  QuotaGate(GangBook& book, Agenda& agenda, QuotaDesk& desk, Committer& committer, Refusals& refusals,
            const Announcer& announcer, const base::Clock& clock)
      : book_(book),
        agenda_(agenda),
        desk_(desk),
        committer_(committer),
        refusals_(refusals),
        announcer_(announcer),
        clock_(clock) {}

  // Tells whether the gang may be placed, and start; if not, stores why it waits. Frees what it has to give back once
  // it has stopped.
  bool Opens(model::GangId id, const Census& census);
  // Takes the members out of `pending` that the gang has no quota for, with the reason why they wait. Those that are
  // held back in a whole gang, and have no gate to say it, have the same.
  void HoldBack(model::GangId id, Census* census);
  // Notes whether the gang, which was considered, has nodes now.
  void Follow(model::GangId id);
  // Tells the observer that the gang is admitted, once it is.
  void TellIfAdmitted(model::GangId id);
  // Tells the observer that the gang's pods are ready, once they are.
  void TellIfReady(model::GangId id);
  // Tells the observer that the gang has to give back what it has; `by`: for that gang, invalid: for none.
  void TellEvicted(model::GangId id, model::GangId by = {});
  // Gives back what the gang has to give back, if it has stopped. Returns true if it did.
  bool ReleaseIfStopped(model::GangId id);

 private:
  // No pod of it runs or may be bound: those that it has are held back, or have ended.
  bool HasStopped(const Gang& gang) const;
  void StandInLine(model::GangId id, const Census& census);
  void Wait(model::GangId id, observe::AwaitsQuota::Stage stage, const std::string& why);

  GangBook& book_;
  Agenda& agenda_;
  QuotaDesk& desk_;
  Committer& committer_;
  Refusals& refusals_;
  const Announcer& announcer_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
