// SPDX-License-Identifier: Apache-2.0
// Pauses before another try.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "model/quantity.h"

namespace tutti::dialects {

// Returns `first_ms`, doubled `times` times. In constant time, for a tenant may write any number of times.
inline base::Millis DoubledPause(base::Millis first_ms, int64_t times) {
  return model::SaturatingMul(first_ms, int64_t{1} << std::clamp<int64_t>(times, 0, 62));
}

}  // namespace tutti::dialects
