// SPDX-License-Identifier: Apache-2.0
// SimulationSummary: a simulation in figures: how long gangs waited, how much of the GPUs was in use, what is short.
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
    std::optional<base::Millis> whole_ms;  // first; none: never
    std::optional<base::Millis> ended_ms;  // all of it has ended, or went
    std::string waits_for;                 // of one that has members, is not whole and has not ended: its sentence
  };
  // From this instant until the next one's. GPUs are all extended resources whose name ends with "/gpu".
  struct GpuUse {
    base::Millis at_ms = 0;
    int64_t used = 0, capacity = 0;
  };
  std::vector<Gang> gangs;   // by arrival
  std::vector<GpuUse> gpus;  // by time; empty: there are none
  base::Millis end_ms = 0;
};

// For people: some lines and a table.
std::string SummaryText(const SimulationSummary& summary);

// A drawing: GPUs in use over time; below it, for each gang a line, pale while it waits and strong while it runs.
std::string SummarySvg(const SimulationSummary& summary);

}  // namespace tutti::app
