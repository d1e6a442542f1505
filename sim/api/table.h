// SPDX-License-Identifier: Apache-2.0
// sim/api/table.h - the Table that `kubectl get` prints: columns and cells as a real API
// server computes them, for built-in kinds and for custom ones' printer columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/objects/object.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

// A Table without rows.
Json NewTable(const ApiResource& resource, std::string_view version, bool with_columns);

// One row's cells. `stored` is in the storage version.
Json TableCells(const ApiResource& resource, std::string_view version, const Json& stored, base::Millis now_ms);

// "5s", "3m12s", "4d": how kubectl says an age.
std::string HumanDuration(base::Millis duration_ms);
// The age of an RFC 3339 time; "<unknown>" when it is none.
std::string AgeOf(const Json& time, base::Millis now_ms);

inline std::string OrNone(const std::string& text) { return text.empty() ? "<none>" : text; }

// How a built-in kind is printed (sim/api/printers.cc, sim/api/pod_printer.cc).
struct Printer {
  std::vector<PrinterColumn> columns;
  Json (*cells)(const Json& object, base::Millis now_ms);
};
const Printer& PrinterFor(const GroupResource& resource);
Json PodCells(const Json& pod, base::Millis now_ms);

}  // namespace tutti::sim
