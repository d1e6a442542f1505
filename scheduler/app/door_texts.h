// SPDX-License-Identifier: Apache-2.0
// Texts of `kubectl tutti`: answers of the door, which are messages of proto/tutti/v1 as JSON, as people read them.
#pragma once

#include <string>
#include <string_view>

#include "app/output.h"
#include "base/clock.h"
#include "base/json_fwd.h"

namespace tutti::app {

// How much a table shows.
enum class Width { kNormal, kWide };
struct GangColumns {
  Width width = Width::kNormal;
  bool namespaces = true;
  bool positions = true;  // false: of gangs that a watch tells, which are without them
};

// ListGangsResponse, ListQueuesResponse and ListNodesResponse as tables. `now_ms`: wall time, for ages.
Table GangTable(const base::Json& list, const GangColumns& columns, base::Millis now_ms);
Table QueueTable(const base::Json& list, Width width);
Table NodeTable(const base::Json& list, Width width);
// Such a list as lines "gang/NAME". `kind`: "gang", "queue" or "node".
std::string NameLines(const base::Json& list, const std::string& kind);

// A Gang: why it waits or runs, its place in line, and which gangs hold what it lacks.
std::string WhyText(const base::Json& gang, base::Millis now_ms);
// WhatIfResponse: what would become of the gangs, and why; where those of the node would go; or which of those that wait
// in the queue would start.
std::string PlanText(const base::Json& answer);
std::string DrainText(const base::Json& answer, const std::string& node);
std::string QuotaText(const base::Json& answer, const std::string& queue);
// Whether all gangs of a WhatIfResponse would start, if need be after others leave for them.
bool AllWouldStart(const base::Json& answer);
// Whether there are some besides.
bool StartsSome(const base::Json& answer);
// GangHistory.
std::string HistoryText(const base::Json& history);

// What a terminal may show of a text from the cluster: control characters, which move its cursor, and those that turn
// the direction of text are "?".
enum class Lines { kOne, kKept };
std::string Shown(std::string_view text, Lines lines = Lines::kOne);

}  // namespace tutti::app
