// SPDX-License-Identifier: Apache-2.0
// Refusals: makes a gang wait: with what is to be said besides, and with figures that it was told a moment ago.
#pragma once

#include "core/commit/committer.h"
#include "core/publish/figure_refresh.h"

namespace tutti::core {

class Refusals {
 public:
  Refusals(GangBook& book, Agenda& agenda, Committer& committer, ExtenderDesk& extender_desk, FigureRefresh& figures,
           const base::Clock& clock)
      : book_(book),
        agenda_(agenda),
        committer_(committer),
        extender_desk_(extender_desk),
        figures_(figures),
        clock_(clock) {}

  // Stores the reason why the gang waits. `besides`: what is said with it; may be empty.
  void Wait(model::GangId id, Refusal refusal, const std::string& besides = {});
  // Marks the refusal as not shared with other gangs, and schedules a new question, if extenders were asked about these
  // members: what an extender says is true of this moment alone.
  Refusal Judged(model::GangId id, const Members& members, Refusal refusal);

 private:
  GangBook& book_;
  Agenda& agenda_;
  Committer& committer_;
  ExtenderDesk& extender_desk_;
  FigureRefresh& figures_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
