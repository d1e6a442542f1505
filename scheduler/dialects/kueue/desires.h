// SPDX-License-Identifier: Apache-2.0
// What a job and its Workload should be, by what was decided. Pure functions.
//
// The order is that of Kueue: the Workload is there, then its status says that it is admitted, then the job starts.
// When it has to leave, its status says so, then the job stops; once it has stopped the status gives the quota back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/desired.h"
#include "dialects/kueue/queues.h"
#include "dialects/kueue/topology_assignment.h"
#include "dialects/kueue/workloads.h"
#include "dialects/queued_jobs.h"

namespace tutti::dialects::kueue {

struct Decided {
  const Entry& entry;
  const Owned& owned;  // by its Workload
  const Queues& queues;
  const NodeLabels& nodes;
  const GangReport& report;
  std::string eviction;      // the sentence about it, where it has to leave
  std::string_view version;  // in which Kueue's kinds are served
  const DialectSettings& settings;
  const JobController* wrappers;  // of AppWrappers; null: there is none
};

// What the Workload, the job, and those that its checks ask should be. Returns as Dialect::Desire does.
base::Millis DesireAll(const Decided& decided, const cluster::Unseen& unseen, std::vector<cluster::DesiredObject>* out);

}  // namespace tutti::dialects::kueue
