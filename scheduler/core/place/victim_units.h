// SPDX-License-Identifier: Apache-2.0
// VictimUnits: what may be evicted for a gang, in units that go together, and what each costs.
//
// A unit is a lone pod; one part of what a whole gang can spare (gangs/spare.h), several of which may be too much for
// it; or all of a gang. Pods that leave already are units too, and cost nothing: they are waited for. Of a gang that is
// not whole nothing is taken: it is about to start, or to be undone. Scheduler thread only.
//
// A unit breaks a PodDisruptionBudget if cheaper units use up its evictions. A whole gang competes only with other
// whole gangs, because its parts are units, too.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "cluster/state.h"
#include "core/gangs/gang_book.h"
#include "core/gangs/spare.h"
#include "core/place/victim_rights.h"

namespace tutti::core {

// In the order in which it counts. What several units cost is the sum; a sum that is too large stays the largest.
struct VictimCost {
  int64_t breaks = 0;  // pods whose eviction a PodDisruptionBudget does not allow
  int64_t gangs = 0;   // that lose all
  // For how long the pods had their GPUs and the like, times their number; of a gang that loses all, once more for each
  // time that it did before.
  int64_t lost_gpu_ms = 0;
  int64_t pods = 0;
  friend auto operator<=>(const VictimCost&, const VictimCost&) = default;
  VictimCost& operator+=(const VictimCost& other) {
    breaks += other.breaks, gangs += other.gangs, pods += other.pods;
    if (__builtin_add_overflow(lost_gpu_ms, other.lost_gpu_ms, &lost_gpu_ms))
      lost_gpu_ms = std::numeric_limits<int64_t>::max();
    return *this;
  }
};

struct VictimUnit {
  enum class What {
    kLeaving,  // leaves already
    kHeld,     // all room that a gang's plan holds, of which no bind has left: given back, and no pod is evicted
    kLone,
    kSpare,
    kGang,
  } what = What::kLone;
  model::GangId gang;                         // invalid: it has none
  int32_t priority = 0;                       // kLeaving: Evictable::kLeaving
  absl::InlinedVector<model::PodId, 1> pods;  // each weighs on a node; sorted
  VictimCost cost;
  base::Millis since_ms = 0;  // wall; since when the youngest is there
  size_t part = 0;            // kSpare: its place among Spare::parts()
};

// By cost, and of equal cost the youngest first.
inline auto RankOf(const VictimUnit& unit) {
  return std::tuple(unit.cost, -unit.since_ms, unit.pods.front(), unit.what);
}

class VictimUnits {
 public:
  // All must outlive it.
  VictimUnits(const cluster::ClusterState& state, GangBook& book, const base::Clock& clock)
      : state_(state), book_(book), clock_(clock) {}

  // Returns the units with a pod on `nodes` (sorted) that the gang may evict, by RankOf: their priority is at most
  // `highest`, the gang may ever have the right to them, and they are never its own. A kGang unit has the pods of the
  // kSpare units of the same gang as well. No pod goes that leaves for some gang already, or was not let go.
  std::vector<VictimUnit> On(std::span<const model::NodeId> nodes, int32_t highest, model::GangId gang);
  // Tells whether these kSpare units of one gang may all go. REQUIRES: it is of the last call, or nothing changed
  // since.
  bool MayGo(model::GangId gang, std::span<const size_t> parts) const { return spares_.at(gang).MayGo(parts); }
  // Adds the part to these of the gang, if all of them may go then. Returns true if it did. REQUIRES: as MayGo.
  bool TryAdd(model::GangId gang, size_t part, std::vector<size_t>* parts) const {
    return spares_.at(gang).TryAdd(part, parts);
  }
  // Returns what these cost if all of them go: a budget is broken by those that it does not allow together. REQUIRES:
  // none of them overlap.
  VictimCost CostTogether(std::span<const VictimUnit> units) const;
  // Sets the rights by which units may go at all, from the next call on; `rights` must live until the last one.
  void Begin(VictimRights& rights) {
    rights_ = &rights;
    spares_.clear();
  }
  // Tells whether in the last call some pods were passed over that may be allowed to go before long: they were not let
  // go, or their gang was starting members, or losing some.
  bool left_some() const { return left_some_; }

 private:
  void Add(VictimUnit unit, std::vector<VictimUnit>* units);
  void CountBreaks(std::vector<VictimUnit>* units) const;
  // How many evictions budgets allow, less those that were counted.
  using Left = absl::flat_hash_map<const model::DisruptionBudget*, int64_t>;
  // Counts the unit's pods, and returns how many break a budget.
  int64_t BreaksOf(const VictimUnit& unit, Left* left) const;
  void AddHeld(model::GangId id, std::vector<VictimUnit>* units);
  void AddGang(model::GangId id, std::span<const model::NodeId> nodes, std::vector<VictimUnit>* units);
  // Tells whether nothing keeps the pod on its node.
  bool Goes(model::PodId pod);
  VictimCost CostOf(model::PodId pod) const;
  base::Millis SinceOf(model::PodId pod) const;

  const cluster::ClusterState& state_;
  GangBook& book_;
  const base::Clock& clock_;
  absl::flat_hash_map<model::GangId, Spare> spares_;
  VictimRights* rights_ = nullptr;
  int32_t highest_ = 0;
  bool left_some_ = false;
};

}  // namespace tutti::core
