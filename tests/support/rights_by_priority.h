// SPDX-License-Identifier: Apache-2.0
// RightsByPriority: the right to evict all pods of lower priority, whatever their queue.
#pragma once

#include "core/place/victim_rights.h"
#include "core/place/victim_units.h"

namespace tutti::core {

class RightsByPriority : public VictimRights {
 public:
  explicit RightsByPriority(int32_t priority) : priority_(priority) {}
  int32_t below() const override { return priority_; }
  bool LetsGo(model::PodId) const override { return true; }
  bool MayEverTake(const VictimUnit& unit) override { return unit.priority < priority_; }
  bool MayTake(const VictimUnit& unit) override { return MayEverTake(unit); }
  void Take(const VictimUnit&) override {}
  void GiveAllBack() override {}
  bool QueueTakesGang() const override { return true; }
  bool MakesRoomInQueue(const VictimUnit&) const override { return false; }

 private:
  const int32_t priority_;
};

}  // namespace tutti::core
