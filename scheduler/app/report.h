// SPDX-License-Identifier: Apache-2.0
// Reports of the offline verbs: an HTML document in one file, to be opened in a browser or sent to a colleague.
//
// A report holds no script and asks no network for anything; its policy allows the browser neither. Every text of the
// input is shown as text.
#pragma once

#include <string>
#include <vector>

#include "app/simulation_summary.h"
#include "base/json_fwd.h"

namespace tutti::app {

// Renders what Simulate returned: the summary with its drawing, and a table each for gangs, workloads, pods and the
// timeline.
std::string SimulationReport(const nlohmann::ordered_json& result, const SimulationSummary& summary,
                             const std::vector<std::string>& notes);

// Renders what Evaluate returned: a line for each node, with the reasons against it or its scores, and what preemption
// would do.
std::string EvaluationReport(const nlohmann::ordered_json& result);

}  // namespace tutti::app
