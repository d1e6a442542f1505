// SPDX-License-Identifier: Apache-2.0
// Durations as people write them in annotations and configurations.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace tutti::base {

// "30s", "5m", "1h30m", "500ms": as Go's time.ParseDuration, in whole milliseconds, not negative. Error: kInvalid.
Result<Millis> ParseDuration(std::string_view text);
// The same, and days, which Go does not know: "1d", "2d12h". For what is ours alone: annotations, `simulate --until`.
Result<Millis> ParseSpan(std::string_view text);

}  // namespace tutti::base
