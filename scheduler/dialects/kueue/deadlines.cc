// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/deadlines.h"

#include <algorithm>

#include "base/json.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/pause.h"

namespace tutti::dialects::kueue {

using base::Json;
using base::Millis;

namespace {

void Bring(Deadline* deadline, Millis at_ms, bool of_pods, const std::string& cause) {
  if (deadline->at_ms == 0 || at_ms < deadline->at_ms) *deadline = {std::max<Millis>(1, at_ms), of_pods, cause};
}

// Of a limit that counts from that instant; 0: from the gang's start.
void Limit(Millis limit_ms, Millis from_ms, model::GangSpec* spec) {
  if (limit_ms == 0) return;
  Millis& limit = from_ms > 0 ? spec->ends_ms : spec->run_limit_ms;
  if (limit == 0 || from_ms + limit_ms < limit) limit = from_ms + limit_ms;
}

}  // namespace

void SetRunLimits(const model::Object* workload, int64_t max_seconds, const model::Object* job, model::GangSpec* spec) {
  if (workload && max_seconds > 0) {
    const Json& status = StatusOf(*workload);
    const Json* admitted = FindTrue(Field(status, "conditions"), "Admitted");
    Limit(model::RunLimit(std::max<int64_t>(1, max_seconds - PastSeconds(status))),
          admitted ? TimeIn(*admitted, "lastTransitionTime") : 0, spec);
  }
  if (job)
    Limit(model::RunLimit(CountIn(Field(*job->body, "spec"), "activeDeadlineSeconds")),
          TimeIn(StatusOf(*job), "startTime"), spec);
}

int64_t PastSeconds(const Json& status) {
  return std::max(CountIn(status, "accumulatedPastExecutionTimeSeconds"),
                  CountIn(status, "accumulatedPastExexcutionTimeSeconds"));
}

void SetPastSeconds(int64_t seconds, Json* status) {
  for (const char* field : {"accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds"})
    (*status)[field] = std::min(seconds, kLargestCount);
}

Deadline DeadlineOf(const Json& status, int64_t max_seconds, const PodsReadyRule& rule) {
  Deadline deadline;
  const Json& conditions = Field(status, "conditions");
  const Json* admitted = FindTrue(conditions, "Admitted");
  if (!admitted || IsTrue(conditions, "Evicted") || IsTrue(conditions, "DeactivationTarget")) return deadline;
  const Millis admitted_ms = TimeIn(*admitted, "lastTransitionTime");
  if (max_seconds > 0) Bring(&deadline, admitted_ms + (max_seconds - PastSeconds(status)) * 1'000, false, {});
  const Json* ready = FindCondition(conditions, "PodsReady");
  if (!rule.enabled || !ready || IsTrue(conditions, "PodsReady")) return deadline;
  const std::string cause = TextIn(*ready, "reason");
  // A job that has grown was admitted long before those pods were to be ready.
  const Millis ready_ms = TimeIn(*ready, "lastTransitionTime");
  if (cause != "WaitForRecovery")
    Bring(&deadline, std::max(admitted_ms, ready_ms) + rule.timeout_ms, true, "WaitForStart");
  else if (rule.recovery_timeout_ms)
    Bring(&deadline, ready_ms + *rule.recovery_timeout_ms, true, cause);
  return deadline;
}

Millis PauseOf(const PodsReadyRule& rule, int64_t times) {
  return std::min(DoubledPause(rule.first_pause_ms, times - 1), rule.longest_pause_ms);
}

}  // namespace tutti::dialects::kueue
