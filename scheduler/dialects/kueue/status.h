// SPDX-License-Identifier: Apache-2.0
// The status of a Workload, in Kueue's conditions, reasons and sentences. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "dialects/kueue/checks.h"
#include "dialects/kueue/jobs.h"
#include "dialects/kueue/workload.h"
#include "dialects/report.h"

namespace tutti::dialects::kueue {

// What a Workload's status is made of.
struct StatusOfWorkload {
  const base::Json& before;  // the status as it was seen, with what was written since
  const GangReport& report;
  const std::vector<RoleRead>& roles;
  std::optional<JobEnd> end;                   // of its job
  std::vector<std::string> checks;             // that it needs in the queue whose quota it has
  std::map<std::string, base::Json> topology;  // of each role that is placed in one: TopologyAssignment
  std::vector<CheckUpdate> updates;            // how those of these stand that are answered here
  std::string eviction;                        // EvictionText, where it has to leave
  bool awaits_checks = false;
  const PodsReadyRule& pods_rule;
  std::optional<bool> pods_ready;       // by its job; nullopt: there is none, or no rule
  std::optional<std::map<std::string, int64_t>> done;  // DoneOf, of its job; nullopt: it stays as it was
  std::optional<int64_t> absent;        // pods that a group lacks; nullopt: it is none
  int64_t max_seconds = 0;              // for so long it may run; 0: without end
  std::string replaced_by;              // the uid of the Workload that has come in its place, where it has no job
  bool old_words = false;               // DialectSettings::kueue_0_8
};

// The whole status as it should be; what is not of these conditions and fields is as it was.
base::Json WorkloadStatus(const StatusOfWorkload& of);

// Tells whether the word says that a gang leaves for another one: then Kueue's reason is Preempted.
bool IsPreemption(std::string_view evicted_reason);
// Kueue's reason of condition Evicted.
std::string EvictedReason(std::string_view evicted_reason);
// The sentence about an eviction that is no preemption.
std::string EvictionText(std::string_view evicted_reason, std::string_view message);
// The one about pods that were not ready in time.
std::string PodsReadyText(const model::GangKey& key);

// Tells whether the gang may start, by the report; what its job may do follows once its Workload says so.
bool IsAdmitted(const GangReport& report, bool awaits_checks);
// Kueue's reason of condition QuotaReserved while there is none.
std::string PendingReason(const GangReport& report);
// Its sentence; empty: nothing is known yet.
std::string PendingText(const GangReport& report);

}  // namespace tutti::dialects::kueue
