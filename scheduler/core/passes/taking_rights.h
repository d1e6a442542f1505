// SPDX-License-Identifier: Apache-2.0
// TakingRights: what one gang may have evicted: pods of a lower priority, and what other queues have above their due
// while its own has less.
//
// RightToEvict says for which cause a pod may go at all. While units are taken, queues have that much less in use, in a
// speculation: nothing else may be charged meanwhile. Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <functional>
#include <optional>
#include <vector>

#include "core/admit/queue_admission.h"
#include "core/commit/right_to_evict.h"
#include "core/place/victim_rights.h"
#include "core/place/victim_units.h"

namespace tutti::core {

class TakingRights final : public VictimRights {
 public:
  // Computes the rights of gang `id`, which lacks what `requirement` says. `lets_go` tells whether nothing keeps a pod
  // for a while. All but that must outlive it. REQUIRES: the queues' shares are renewed.
  TakingRights(const Options& options, const cluster::ClusterState& state, GangBook& book, Queues& queues,
               const QueueAdmission& admission, const base::Clock& clock, model::GangId id, const Census& census,
               const Requirement& requirement, std::function<bool(model::PodId)> lets_go);
  ~TakingRights() override { GiveAllBack(); }

  // Tells whether there is a right to anything.
  bool any() const { return by_priority_ || by_share_; }
  // Tells whether that depends on queues, which change otherwise than nodes do.
  bool depends_on_queues() const {
    return right_.shares_decide() || right_.within_queue() || !short_.empty() || gang_.quota;
  }
  // Tells whether some unit could not be taken for what time changes.
  bool waits_for_time() const { return right_.waits_for_time(); }
  // Returns why the unit may be evicted. REQUIRES: it may ever be taken.
  EvictionCause CauseOf(const VictimUnit& unit) const { return *CauseFor(unit); }
  // Sets what the gang's members weigh on its queue, as they were placed.
  void SetAsk(const std::vector<cluster::Placement>& placements);
  // Returns when the first unit that was refused for its age alone may be taken (monotonic); 0: none was.
  base::Millis again_ms() const { return again_ms_; }

  int32_t below() const override;
  bool LetsGo(model::PodId pod) const override { return lets_go_(pod); }
  bool MayEverTake(const VictimUnit& unit) override;
  bool MayTake(const VictimUnit& unit) override;
  void Take(const VictimUnit& unit) override;
  void GiveAllBack() override;
  bool QueueTakesGang() const override;
  bool MakesRoomInQueue(const VictimUnit& unit) const override;

 private:
  queue::QueueId QueueOfUnit(const VictimUnit& unit) const;
  std::optional<EvictionCause> CauseFor(const VictimUnit& unit) const;
  bool MayReclaim(const VictimUnit& unit) const;
  // Returns for how long the gang has to run before anything is taken back of it.
  base::Millis LeastRuntimeOf(const Gang& gang, queue::QueueId giver) const;
  // Returns for how long the unit still has to run before it may be taken back; 0: for no time.
  base::Millis StaysFor(const VictimUnit& unit, queue::QueueId giver) const;

  const cluster::ClusterState& state_;
  GangBook& book_;
  Queues& queues_;
  const QueueAdmission& admission_;
  const base::Clock& clock_;
  const QueueRule& rule_;
  const Gang& gang_;
  const RightToEvict right_;
  const Census& census_;
  const Requirement& requirement_;
  const std::function<bool(model::PodId)> lets_go_;
  const queue::QueueId queue_;  // invalid: the gang has none, or none that is known
  bool by_priority_ = false;
  bool by_share_ = false;                                        // of some of what the queue asks for
  queue::Ask ask_;                                               // of the gang
  std::vector<std::pair<queue::QueueId, queue::CellId>> short_;  // what the queue has too little of, with nothing taken
  base::Millis again_ms_ = 0;
  std::optional<queue::Ledger::Mark> mark_;  // before the first unit was taken
  absl::flat_hash_set<model::PodId> taken_;
};

}  // namespace tutti::core
