// SPDX-License-Identifier: Apache-2.0
// Preparation: a slow step that must be done before a placed member's bind may leave, such as having its volumes bound.
//
// To add one
//   - Implement this, as VolumeBinder does, and add it to Committer::preparations_.
//   - Give Assignment its state, and count that in Assignment::is_prepared(). State is for each member; there is none
//     for a gang.
//   - Send writes with an Outbox::For of its own, and forget those in StartTerm.
//   - Have what it waits for wake the gang: a kind of object by a row in Drain::HandleKinds and WakeUnprepared();
//     another service by a port in `cluster`, with a client in `kube`.
//   - Say what is still open: core/publish/describe.cc, with a cause in observe/reason.h if none fits.
//   - Give the scheduler the rights (manifests/deploy/20-rbac.yaml).
//   - Test it as tests/core/volumes_test.cc does, and plant a bug that leaves it out (base/planted.h).
#pragma once

#include <string>

#include "core/gangs/gang.h"

namespace tutti::core {

class Preparation {
 public:
  enum class Progress { kDone, kWaiting, kFailed };

  virtual ~Preparation() = default;

  // Notes in the assignment what the member needs. Returns the instant (monotonic) by which it is to be done. It is
  // called once for each place that a pod gets. REQUIRES: the member's room is held.
  virtual base::Millis Begin(model::PodId pod, Assignment& assignment) = 0;
  // Sends what is due. It is called each time the gang is considered until the bind leaves, also while victims leave,
  // and also after kDone: what was done may come undone. kFailed: `why` says why, and the member is placed again.
  // There is no call when a plan is given up. So what was done must do no harm where it stays.
  virtual Progress Advance(model::GangId id, model::PodId pod, Assignment& assignment, std::string* why) = 0;
  // Forgets what is on its way, for a new term as leader: others may have written.
  virtual void StartTerm() = 0;
};

}  // namespace tutti::core
