// SPDX-License-Identifier: Apache-2.0
// GangRank: a gang's place in a line. The gang with the higher priority is first, then the older one.
//
// A priority may rise, or fall, with the gang's age. Of two gangs whose priorities change alike, the first stays the
// first. So a line has one part for each slope, each of which keeps its order; and the first gangs of the parts are
// compared when one is taken.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "model/quantity.h"

namespace tutti::model {

// So many units of a slope are a priority of 1 a second.
inline constexpr int32_t kSlopeUnit = 10'000;

struct GangRank {
  int32_t priority = 0;
  base::Millis created_ms = 0;
  int32_t slope = 0;  // what the priority gains each second from then on, in units of kSlopeUnit

  // The priority at the instant (wall time), in units that are as small as a slope needs. Between ranks of one slope
  // the instant makes no difference.
  int64_t PriorityAt(base::Millis now_ms) const {
    constexpr int64_t kUnit = int64_t{1'000} * kSlopeUnit;
    const int64_t declared = int64_t{priority} * kUnit;
    if (slope == 0) return declared;
    return SaturatingAdd(declared, SaturatingMul(slope, SaturatingSub(now_ms, created_ms)));
  }
};

}  // namespace tutti::model
