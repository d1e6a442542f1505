// SPDX-License-Identifier: Apache-2.0
// VictimSeeker: seeks the pods that leave so that a gang starts. A lone pod evicts others by kube-scheduler's rules:
// see PreemptPass.
//
// Where the right to victims depends on queues, a refusal holds until something changes, in queues or on nodes. Then
// the gangs that were refused so are considered again, but none more often than every five seconds. Where it depends on
// priorities alone, VictimRefusals says for how long a refusal holds.
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

// What is known of gangs of one shape is kept under that; of a gang that is like no other, whose shape is empty, under
// its id.
std::string KeyOf(model::GangId id, const std::string& shape);

class VictimSeeker {
 public:
  VictimSeeker(const Options& options, const cluster::ClusterState& state, GangBook& book, Agenda& agenda,
               Queues& queues, QueueWaits& waits, const QueueAdmission& admission, Committer& committer,
               VictimSearch& search, VictimRefusals& refusals, const Announcer& announcer, const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        queues_(queues),
        waits_(waits),
        admission_(admission),
        committer_(committer),
        search_(search),
        refusals_(refusals),
        announcer_(announcer),
        clock_(clock) {}

  // Seeks victims without which the gang fits and its queue takes it, and the places that it then has: where those are
  // known, `result` fits. None: there are none now. REQUIRES: VictimRemoval::MayChoose
  std::vector<Victim> Choose(model::GangId id, const Census& census, const Requirement& requirement,
                             const std::string& shape, PlanResult* result);
  // Some gangs may have victims.
  bool SeeksAny() const {
    return options_.gang_preemption != Options::GangPreemption::kNever || options_.queue_rule.reclaim;
  }
  // Has the gang considered again in a while, if it may have victims: what keeps it from having some is none of what
  // wakes a gang that waits for nodes.
  void SeekAgain(model::GangId id);

  // Something changed, in queues or on nodes, on which the right to victims may depend.
  void NoteChange() { ++changes_; }
  // Makes those ready that were refused, if it is time.
  void WakeRefused();
  // When it will be; monotonic. nullopt: nothing has changed since.
  std::optional<base::Millis> DueAt() const;

 private:
  // By Options::choose_victims.
  std::vector<Victim> ChooseAsTold(const Gang& gang) const;
  // They are refused now; `key`: as what.
  void Refuse(model::GangId id, const std::string& key, const TakingRights& rights, bool proven);
  bool IsRefused(model::GangId id, const std::string& key, const TakingRights& rights);
  void RenewShares();

  const Options& options_;
  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Queues& queues_;
  QueueWaits& waits_;
  const QueueAdmission& admission_;
  Committer& committer_;
  VictimSearch& search_;
  VictimRefusals& refusals_;
  const Announcer& announcer_;
  const base::Clock& clock_;
  uint64_t changes_ = 1;
  absl::flat_hash_map<std::string, uint64_t> refused_;  // `changes_` then, by queue and shape
  std::set<model::GangId> waiting_;                     // refused so since they were last woken
  uint64_t woken_at_ = 1;                               // `changes_` when all had been woken
  model::GangId last_woken_;
  base::Millis due_ms_ = 0;  // monotonic; none is woken before
};

}  // namespace tutti::core
