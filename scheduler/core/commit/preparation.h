// SPDX-License-Identifier: Apache-2.0
// Preparation: a slow step that must be done before a placed member's bind may leave, such as having its volumes bound.
// To add one: implement this, and add it to the Committer's list.
#pragma once

#include <string>

#include "core/gangs/gang.h"

namespace tutti::core {

class Preparation {
 public:
  enum class Progress { kDone, kWaiting, kFailed };

  virtual ~Preparation() = default;

  // Notes in the assignment what the member needs, and until when. REQUIRES: the member's room is held.
  virtual void Begin(model::PodId pod, Assignment& assignment) = 0;
  // Sends what is due. It is called whenever the gang is considered, until it returns kDone, and then again until the
  // bind leaves: what was done may come undone. kFailed: `why` says why, and the member is placed again.
  virtual Progress Advance(model::GangId id, model::PodId pod, Assignment& assignment, std::string* why) = 0;
  // Forgets what is on its way, for a new term as leader: others may have written.
  virtual void StartTerm() = 0;
};

}  // namespace tutti::core
