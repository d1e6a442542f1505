// SPDX-License-Identifier: Apache-2.0
// PublishPass: after a cycle, tells about each touched gang and each marked queue once.
#pragma once

#include "core/options.h"
#include "core/passes/enrollment.h"
#include "core/publish/figure_refresh.h"
#include "core/publish/gang_status.h"
#include "core/publish/pod_status.h"
#include "core/publish/queue_status.h"
#include "observe/journal.h"

namespace tutti::core {

class PublishPass {
 public:
  PublishPass(const Options& options, GangBook& book, Agenda& agenda, Tallies& tallies, FigureRefresh& figures,
              PodStatus& pod_status, GangStatus& gang_status, QueueStatus& queue_status, Enrollment& enrollment,
              const Announcer& announcer, observe::Journal& journal, const base::Clock& clock)
      : options_(options),
        book_(book),
        agenda_(agenda),
        tallies_(tallies),
        figures_(figures),
        pod_status_(pod_status),
        gang_status_(gang_status),
        queue_status_(queue_status),
        enrollment_(enrollment),
        announcer_(announcer),
        journal_(journal),
        clock_(clock) {}

  void Run();

 private:
  void PublishGang(model::GangId id);
  // Tells each member that waits why: what it waits for itself on top of a whole gang, else `of_gang`. Returns false if
  // some are to be told new figures, and wait for their turn.
  bool TellMembers(model::GangId id, const Refusal& of_gang);
  // Returns true if members joined a moment ago, so that what says that some are missing is reported later.
  bool TooEarly(model::GangId id, const Refusal& refusal);
  // Tells whether gates hold all of its members: who put them says what they wait for.
  bool AreGated(Gang& gang);
  // Closes the gang if its members are gone, and that was reported.
  void CloseIfOver(model::GangId id);

  const Options& options_;
  GangBook& book_;
  Agenda& agenda_;
  Tallies& tallies_;
  FigureRefresh& figures_;
  PodStatus& pod_status_;
  GangStatus& gang_status_;
  QueueStatus& queue_status_;
  Enrollment& enrollment_;
  const Announcer& announcer_;
  observe::Journal& journal_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
