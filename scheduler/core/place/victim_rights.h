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

  // Returns the priority from which on no unit may be taken.
  virtual int32_t below() const = 0;
  // Tells whether nothing keeps the pod on its node for a while.
  virtual bool LetsGo(model::PodId pod) const = 0;
  // Tells whether the unit may be taken, now or once other units are taken.
  virtual bool MayEverTake(const VictimUnit& unit) = 0;
  // Tells whether the unit may be taken beside those that are. Then MayEverTake says so, too.
  virtual bool MayTake(const VictimUnit& unit) = 0;
  // Takes the unit. REQUIRES: MayTake(unit)
  virtual void Take(const VictimUnit& unit) = 0;
  virtual void GiveAllBack() = 0;
  // Tells whether the gang's queue takes the gang, without what is taken.
  virtual bool QueueTakesGang() const = 0;
  // Tells whether the queue has too little, and the unit holds some of that.
  virtual bool MakesRoomInQueue(const VictimUnit& unit) const = 0;

  // Takes what of `units` may be taken, the cheapest first; what may be only once others are is looked at again.
  // Returns their places. In whatever order they are given, the same are taken. REQUIRES: none of them overlap.
  std::vector<size_t> TakeOf(std::span<const VictimUnit> units);
  // Tells whether all of these may be taken together, and the queue then takes the gang. Nothing is taken afterwards.
  bool Suffice(std::span<const VictimUnit> units);
};

}  // namespace tutti::core
