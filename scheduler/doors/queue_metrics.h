// SPDX-License-Identifier: Apache-2.0
// What /metrics/queues shows: the gangs of each queue by state, those that wait by reason, and what queues have. The
// labels are `dialect` and `queue`.
#pragma once

#include <cstddef>
#include <string>

#include "base/clock.h"
#include "doors/source.h"
#include "doors/table.h"

namespace tutti::doors {

// So many queues have series of their own, the first ones by dialect and name. The gangs of all others are counted for
// a queue "(others)", which no queue is named.
inline constexpr size_t kMostQueuesShown = 500;

// Renders them in Prometheus' text format 0.0.4. `now_ms`: wall time.
std::string QueueMetricsText(const Table& gangs, const QueueViews& queues, base::Millis now_ms,
                             size_t most_queues = kMostQueuesShown);

}  // namespace tutti::doors
