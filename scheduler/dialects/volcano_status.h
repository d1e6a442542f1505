// SPDX-License-Identifier: Apache-2.0
// A PodGroup's status in Volcano's words (volcano.sh, pkg/scheduler: job_info, session, plugins/gang).
#pragma once

#include "base/json_fwd.h"
#include "dialects/report.h"

namespace tutti::dialects {

// The whole status: phase, counters and the conditions of `before` with that of now, which is the newest by its
// lastTransitionTime, as Volcano's is. `before` is the status until now, whether it is `observed` or yet to be. Where
// others have more than 64 conditions in `observed`, or 16 KiB of them, it names none, and all stay as they are.
base::Json VolcanoStatus(const GangReport& report, const base::Json& before, const base::Json& observed);

// Tells whether a status that is written over `observed` names conditions: others' are few enough.
bool VolcanoNamesConditions(const base::Json& observed);

// Tells whether two objects, or what is to be written of them, have the same of what is ours in a status: the fields,
// and the conditions without transition ids, and instead of their times which of them is the newest.
bool VolcanoAgrees(const base::Json& fields, const base::Json& object);

}  // namespace tutti::dialects
