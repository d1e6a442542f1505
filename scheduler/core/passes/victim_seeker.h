// SPDX-License-Identifier: Apache-2.0
// VictimSeeker: seeks the pods that leave so that a gang starts. A lone pod evicts others by kube-scheduler's rules:
// see PreemptPass.
//
// A refusal is remembered by shape, priority and queue. What is proven by nodes and priorities alone holds until
// VictimRefusals says otherwise, and gangs are considered again then. Any other refusal holds until something changes,
// in queues or on nodes. All that were refused so are considered again in rounds, each shape once a round. A round
// begins if something has changed since the last one began, five seconds after that one's end at the earliest. What is
// not noted as a change is found out once a minute.
//
// For a shape that was refused before, victims are sought in its turn in a round alone, whatever else makes its gangs
// ready: a few at a time, so that these searches take a twentieth of the time at most. A shape that was never refused
// has its search at once.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <deque>
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

  struct Choice {
    std::vector<Victim> victims;
    std::vector<model::GangId> holders;  // gangs whose plans are aborted, for the room that they hold (kHeld)
    PlanResult result;                   // it fits where the places are known that the gang then has
    bool empty() const { return victims.empty() && holders.empty(); }
  };
  // Seeks victims without which the gang fits and its queue takes it. Returns none if there are none now. REQUIRES:
  // VictimRemoval::MayChoose
  Choice Choose(model::GangId id, const Census& census, const Requirement& requirement, const std::string& shape);
  // Returns what Choose would choose, whatever was refused before. Nothing is remembered, and nothing comes of it.
  // REQUIRES: CatchUp was called before anything was speculated.
  Choice Rehearse(model::GangId id, const Census& census, const Requirement& requirement);
  void CatchUp() { search_.CatchUp(); }
  // Tells whether some gangs may have victims.
  bool SeeksAny() const {
    return options_.gang_preemption != Options::GangPreemption::kNever || options_.queue_rule.reclaim;
  }
  // Says why no pod leaves for the gang, where that is its own doing; empty: it is not. REQUIRES: Choose found none.
  std::string WhyNone(const Gang& gang, const Census& census, const Requirement& requirement) const;
  // Has the gang considered again in a while, if it may have victims: earlier ones are being given up.
  void SeekAgain(model::GangId id);
  // The gang does not start without the victims that were chosen either, and no others are chosen for a while.
  void PutOff(model::GangId id, const std::string& shape);

  // Notes a change, in queues or on nodes, on which the right to victims may depend.
  void NoteChange() { ++changes_; }
  // Something happened on nodes. Gangs for which no victims would have helped may have some by now.
  void NoteNodes();
  // Makes some of those ready that were refused, if it is time.
  void WakeRefused();
  // Returns when it is time (monotonic); nullopt: no gang waits for that.
  std::optional<base::Millis> DueAt() const;

 private:
  // Returns the victims that Options::choose_victims names.
  std::vector<Victim> ChooseAsTold(const Gang& gang) const;
  // Seeks the victims, and checks them against the right to them.
  VictimAnswer Seek(model::GangId id, const Census& census, const Requirement& requirement, TakingRights& rights);
  static Choice ChoiceOf(VictimAnswer answer, const TakingRights& rights);
  // Returns what gangs have in common for which the same victims would help. Empty: the gang is like no other.
  static std::string KeyOf(const Gang& gang, const std::string& shape);
  // Returns the same for a gang whose right to victims depends on its queue.
  std::string KeyInQueue(const Gang& gang, const std::string& shape) const;
  // Has gangs like this one considered in the next round.
  void Await(Gang& gang);
  // Tells whether victims may be sought for the gang now. False: there are none still, or it has to wait for its turn.
  bool MaySeek(model::GangId id, const std::string& key, const std::string& shape);
  // Stores that there are no victims for the gang, and has it tried again. `proven`: that was found out.
  void Refuse(model::GangId id, const std::string& shape, const TakingRights& rights, bool proven);
  void Remember(const std::string& key, uint64_t changes, bool by_nodes);
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
  struct Refused {
    uint64_t changes = 0;   // `changes_` then; 0: it does not hold, but it was
    bool by_nodes = false;  // VictimRefusals says whether it holds
  };
  absl::flat_hash_map<std::string, Refused> refused_;  // by KeyInQueue
  std::deque<uint32_t> round_;                         // groups of the agenda, still to be woken in this round
  std::set<model::GangId> turns_;                      // that were woken last and may have their search
  uint64_t round_changes_ = 1;                         // `changes_` when this round began
  bool put_off_ = false;                               // since then some had to wait for their turn
  // All monotonic.
  base::Millis next_ms_ = 0;  // no others of the round are woken before
  base::Millis rest_ms_ = 0;  // no round begins before
  base::Millis free_ms_ = 0;  // nothing is searched again before: earlier searches have taken their part of the time
  base::Millis anew_ms_ = 0;  // when all is taken to have changed
};

}  // namespace tutti::core
