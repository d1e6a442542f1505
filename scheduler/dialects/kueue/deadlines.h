// SPDX-License-Identifier: Apache-2.0
// Deadlines: when an admitted Workload has to leave because time is over, and when it ends at the latest. Pure
// functions.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "dialects/dialect.h"

namespace tutti::dialects::kueue {

struct Deadline {
  base::Millis at_ms = 0;  // wall; 0: there is none
  bool of_pods = false;    // its pods are not ready by then; else it has run for as long as it may
  std::string cause;       // `of_pods`: the reason of condition PodsReady
};

// The first deadline of a Workload with that status; none where it has to leave already. `max_seconds`: for so long it
// may run in all; 0: without end.
Deadline DeadlineOf(const base::Json& status, int64_t max_seconds, const PodsReadyRule& rule);

// Sets when the gang ends at the latest (GangSpec::ends_ms, run_limit_ms): by the time that its Workload may run, or by
// the activeDeadlineSeconds of its job. Either may be null.
void SetRunLimits(const model::Object* workload, int64_t max_seconds, const model::Object* job, model::GangSpec* spec);

// How long it ran before it was admitted this time, as either version of the API spells it.
int64_t PastSeconds(const base::Json& status);
void SetPastSeconds(int64_t seconds, base::Json* status);

// How long it pauses after its pods were not ready in time for the `times`-th time.
base::Millis PauseOf(const PodsReadyRule& rule, int64_t times);

}  // namespace tutti::dialects::kueue
