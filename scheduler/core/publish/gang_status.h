// SPDX-License-Identifier: Apache-2.0
// GangStatus: tells the object that declares a gang what was decided: Events, and the dialect's status. Of each object
// one write is on its way at a time; what changes meanwhile is told by the next.
#pragma once

#include <string>

#include "cluster/state.h"
#include "core/gangs/agenda.h"
#include "core/outbox.h"

namespace tutti::core {

class GangStatus {
 public:
  GangStatus(GangBook& book, Agenda& agenda, Outbox& outbox, const base::Clock& clock)
      : book_(book), agenda_(agenda), outbox_(outbox), clock_(clock) {}

  // An Event on the declaring object, if there is one.
  void TellGang(const Gang& gang, bool warning, const std::string& reason, const std::string& note);
  // Brings the dialect's objects in line with the gang.
  void Report(Gang& gang);
  // The earliest instant (monotonic) at which a report is worth a write.
  static base::Millis ReportAt(const Gang& gang);

 private:
  void OnReply(const model::GangKey& key, dialects::Dialect& dialect, bool done);

  GangBook& book_;
  Agenda& agenda_;
  Outbox& outbox_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
