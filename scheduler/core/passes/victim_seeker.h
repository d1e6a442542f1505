// SPDX-License-Identifier: Apache-2.0
// VictimSeeker: seeks the pods that leave so that a gang starts. A lone pod evicts others by kube-scheduler's rules:
// see PreemptPass.
//
// Where the right to victims depends on queues, a refusal holds until something changes, in queues or on nodes. Then
// all gangs that were refused so are considered again, in rounds: a few at a time, so that searches take a twentieth of
// the time at most, and each gang once a round. A round begins if something has changed since the last one began, five
// seconds after that one's end at the earliest. What is not noted as a change is found out once a minute. Where the
// right depends on priorities alone, VictimRefusals says for how long a refusal holds.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/admit/queue_admission.h"
#include "core/commit/committer.h"
#include "core/passes/taking_rights.h"
#include "core/place/victim_refusals.h"
#include "core/place/victim_search.h"

namespace tutti::core {

class VictimSeeker {
 public:
  VictimSeeker(const Options& options, const cluster::ClusterState& state, GangBook& book, Agenda& agenda,
               Queues& queues, QueueWaits& waits, const QueueAdmission& admission, Committer& committer,
               const Planner& planner, VictimSearch& search, VictimRefusals& refusals, const Announcer& announcer,
               const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        queues_(queues),
        waits_(waits),
        admission_(admission),
        committer_(committer),
        planner_(planner),
        search_(search),
        refusals_(refusals),
        announcer_(announcer),
        clock_(clock) {}

  // Seeks victims without which the gang fits and its queue takes it, and the places that it then has: where those are
  // known, `result` fits. Returns none if there are none now. REQUIRES: VictimRemoval::MayChoose
  std::vector<Victim> Choose(model::GangId id, const Census& census, const Requirement& requirement,
                             const std::string& shape, PlanResult* result);
  // Tells whether some gangs may have victims.
  bool SeeksAny() const {
    return options_.gang_preemption != Options::GangPreemption::kNever || options_.queue_rule.reclaim;
  }
  // Has the gang considered again in a while, if it may have victims: what keeps it from having some is none of what
  // wakes a gang that waits for nodes.
  void SeekAgain(model::GangId id);

  // Notes a change, in queues or on nodes, on which the right to victims may depend.
  void NoteChange() { ++changes_; }
  // Makes some of those ready that were refused, if it is time.
  void WakeRefused();
  // Returns when it is time (monotonic); nullopt: no gang waits for that.
  std::optional<base::Millis> DueAt() const;

 private:
  // Returns the victims that Options::choose_victims names.
  std::vector<Victim> ChooseAsTold(const Gang& gang) const;
  // Returns what gangs have in common for which the same victims would help. Empty: the gang is like no other.
  static std::string KeyOf(const Gang& gang, const std::string& shape);
  // Returns the same for a gang whose right to victims depends on its queue.
  std::string KeyInQueue(const Gang& gang, const std::string& shape) const;
  // Has the gang woken in the next round.
  void Await(model::GangId id);
  // Stores that there are no victims for the gang, and has it tried again. `proven`: that was found out.
  void Refuse(model::GangId id, const std::string& shape, const TakingRights& rights, bool proven);
  // Brings what queues deserve up to date with what was asked for since the cycle began.
  void RenewShares();

  const Options& options_;
  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Queues& queues_;
  QueueWaits& waits_;
  const QueueAdmission& admission_;
  Committer& committer_;
  const Planner& planner_;
  VictimSearch& search_;
  VictimRefusals& refusals_;
  const Announcer& announcer_;
  const base::Clock& clock_;
  uint64_t changes_ = 1;
  absl::flat_hash_map<std::string, uint64_t> refused_;  // `changes_` then, by KeyInQueue
  std::set<model::GangId> waiting_;                     // refused so, for the next round
  std::set<model::GangId> round_;                       // still to be woken in this one
  uint64_t round_changes_ = 1;                          // `changes_` when this round began
  base::Millis woken_ms_ = 0, due_ms_ = 0;              // monotonic; when some were last woken, and are next
  base::Millis anew_ms_ = 0;                            // monotonic; when all is taken to have changed
  int64_t work_ = 0;                                    // of searches, since some were last woken
};

}  // namespace tutti::core
