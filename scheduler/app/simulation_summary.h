// SPDX-License-Identifier: Apache-2.0
// SimulationSummary: a simulation in figures: how long gangs waited, how many GPUs were in use, and what is short.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace tutti::app {

// Times are milliseconds since the start.
struct SimulationSummary {
  struct Gang {
    std::string name;                      // "namespace/name"
    base::Millis arrived_ms = 0;           // its first pod, or its declaration, was seen
    std::optional<base::Millis> whole_ms;  // when it was first whole; none: never
    std::optional<base::Millis> ended_ms;  // when all of its members had ended or were deleted
    std::string waits_for;                 // the sentence of a gang that still waits; empty for others
  };
  // The use from this instant until that of the next entry. GPUs are all extended resources whose name ends with
  // "/gpu".
  struct GpuUse {
    base::Millis at_ms = 0;
    int64_t used = 0, capacity = 0;
  };
  std::vector<Gang> gangs;   // by arrival
  std::vector<GpuUse> gpus;  // by time; empty: the cluster has no GPUs
  base::Millis end_ms = 0;
};

// Renders the summary as some lines and a table.
std::string SummaryText(const SimulationSummary& summary);

// Draws the GPUs in use over time. Below it each gang has a line, pale while it waits and strong while it runs.
std::string SummarySvg(const SimulationSummary& summary);

}  // namespace tutti::app
