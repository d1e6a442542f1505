// SPDX-License-Identifier: Apache-2.0
// VictimRights: which units a gang may have evicted, for reasons that a search for victims does not know: priority, and
// what queues may take from each other.
//
// A right may depend on what is taken already: a queue loses no more once it has no more than it deserves. So units are
// taken one after another, and given back together. It is asked on behalf of one gang. Scheduler thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"

namespace tutti::core {

struct VictimUnit;

class VictimRights {
 public:
  virtual ~VictimRights() = default;
  static constexpr int64_t kPerUnit = 20;  // what it costs to ask about a unit, in units of a Budget

  // No unit of this priority, or of a higher one, may be taken.
  virtual int32_t below() const = 0;
  // Nothing keeps the pod on its node for a while.
  virtual bool LetsGo(model::PodId pod) const = 0;
  // The unit may be taken beside those that are, or may be beside others.
  virtual bool MayEverTake(const VictimUnit& unit) = 0;
  // The unit may be taken beside those that are. Then MayEverTake says so, too.
  virtual bool MayTake(const VictimUnit& unit) = 0;
  // REQUIRES: MayTake(unit)
  virtual void Take(const VictimUnit& unit) = 0;
  virtual void GiveAllBack() = 0;
  // Without what is taken, the gang's queue takes the gang.
  virtual bool QueueTakesGang() const = 0;
  // The queue has too little, and the unit holds some of that.
  virtual bool MakesRoomInQueue(const VictimUnit& unit) const = 0;

  // Takes what of `units` may be taken, the cheapest first; what may be only once others are is looked at again.
  // Returns their places. In whatever order they are given, the same are taken. REQUIRES: none of them overlap.
  std::vector<size_t> TakeOf(std::span<const VictimUnit> units);
  // All of these may be taken together, and the queue then takes the gang. Nothing is taken afterwards.
  bool Suffice(std::span<const VictimUnit> units);
};

}  // namespace tutti::core
