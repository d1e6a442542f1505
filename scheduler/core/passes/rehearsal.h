// SPDX-License-Identifier: Apache-2.0
// Rehearsal: says what would become of gangs that are not there, of those on a node that is to be drained, or of those
// that wait in a queue whose limit is to change; and when a gang that waits could start. Nothing comes of it.
//
// Their members are promised to the state while a question is answered; placements, evictions and charges are
// speculated, and the same planner, admission and victim search are asked as for any gang. Gangs are looked at by
// priority, each with what was found for those before it in place. Between two cycles alone, on the scheduler's thread.
// Once some 10 ms of work are spent, no further gang is looked at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/admit/queue_admission.h"
#include "core/admit/quota_desk.h"
#include "core/gangs/fit.h"
#include "core/gangs/strangers.h"
#include "core/passes/forecast.h"
#include "core/passes/start_pass.h"
#include "core/passes/victim_seeker.h"
#include "core/place/lone_preemption.h"
#include "core/place/planner.h"
#include "model/gang_draft.h"
#include "observe/prospect.h"

namespace tutti::core {

class Trial;

class Rehearsal {
 public:
  Rehearsal(const Options& options, cluster::ClusterState& state, const dialects::DialectList& dialects, GangBook& book,
            Queues& queues, QueueWaits& waits, QuotaDesk& desk, const QueueAdmission& admission, Planner& planner,
            Rankings& rankings, VictimSeeker& seeker, LonePreemption& preemption, StartPass& start,
            const AutoFits& auto_fits, const Strangers& strangers, const RunLengths& lengths, const base::Clock& clock)
      : options_(options),
        state_(state),
        dialects_(dialects),
        book_(book),
        queues_(queues),
        waits_(waits),
        desk_(desk),
        admission_(admission),
        planner_(planner),
        rankings_(rankings),
        seeker_(seeker),
        preemption_(preemption),
        start_(start),
        auto_fits_(auto_fits),
        strangers_(strangers),
        clock_(clock),
        forecast_(options, state, dialects, book, queues, waits, desk, planner, seeker, lengths, clock) {}

  // Says what would become of the gangs if they were there now; or where the gangs on the node that is drained would
  // find places for their members there; or which gangs that wait in the queue would start; or when the gang could that
  // waits. nullopt: there is no such node, queue or gang.
  std::optional<observe::Outlook> Run(const observe::WhatIf& what_if);

 private:
  using Amounts = decltype(observe::LimitChange::amounts);
  class Relimited;  // a queue, while its limit is another one

  std::optional<observe::Outlook> Drain(const std::string& node);
  std::optional<observe::Outlook> Relimit(const observe::LimitChange& change);
  observe::Outlook Relimit(queue::QueueId queue, const Amounts& amounts);
  // The same of a queue that gives quota before there are pods.
  observe::Outlook Relimit(model::LeafQueueSpec leaf, const Amounts& amounts);
  // Of gangs that were not looked at.
  observe::Outlook Undecided(const std::vector<model::GangDraft>& drafts, std::vector<std::string> why,
                             int64_t left_out) const;
  // Returns the gangs by their turns.
  std::vector<const model::GangDraft*> InOrder(const std::vector<model::GangDraft>& drafts) const;
  // `drained`: the node that all pods leave, and that takes none of the gangs' members; invalid: there is none.
  // `changed`: see queue::KueueProspect.
  observe::Outlook Answer(const std::vector<const model::GangDraft*>& asked, model::NodeId drained,
                          const std::optional<model::LeafQueueSpec>& changed = std::nullopt);
  observe::Prospect Describe(const model::GangDraft& draft) const;
  void Look(model::GangId id, const model::GangDraft& draft, Trial& trial, observe::Prospect* prospect);
  // Finds places for the gang, and takes them in the trial; or returns why it has none. Sets the verdict.
  std::optional<Refusal> Place(model::GangId id, Trial& trial, observe::Prospect* prospect);
  // Does the same for a gang whose queue gives quota before there are pods: with quota and places, or with neither.
  std::optional<Refusal> PlaceWithQuota(model::GangId id, const model::GangDraft& draft, Trial& trial,
                                        observe::Prospect* prospect);
  // Returns why the gang has no places with the pods of these gangs gone. Sets the verdict then, and takes none.
  std::optional<Refusal> RefuseNodes(model::GangId id, const std::vector<queue::Victim>& gone,
                                     observe::Prospect* prospect);
  // Has the pods of the gangs leave.
  void Evict(const std::vector<queue::Victim>& victims, Trial& trial, observe::Prospect* prospect);
  void Evict(model::PodId pod, bool reclaim, Trial& trial, observe::Prospect* prospect);
  // Does the same with victims. Returns false if there are none.
  bool PlaceWithVictims(model::GangId id, const Census& census, const Requirement& requirement, Trial& trial,
                        observe::Prospect* prospect);
  VictimSeeker::Choice ChooseVictims(model::GangId id, const Census& census, const Requirement& requirement);
  void Settle(const Gang& gang, const std::vector<cluster::Placement>& placements, Trial& trial,
              observe::Prospect* prospect);

  const Options& options_;
  cluster::ClusterState& state_;
  const dialects::DialectList& dialects_;
  GangBook& book_;
  Queues& queues_;
  QueueWaits& waits_;
  QuotaDesk& desk_;
  const QueueAdmission& admission_;
  Planner& planner_;
  Rankings& rankings_;
  VictimSeeker& seeker_;
  LonePreemption& preemption_;
  StartPass& start_;
  const AutoFits& auto_fits_;
  const Strangers& strangers_;
  const base::Clock& clock_;
  Forecast forecast_;
};

}  // namespace tutti::core
