// SPDX-License-Identifier: Apache-2.0
// Workloads: how a job becomes one, and what one says. Pure functions.
//
// A pod set of a Workload is the JSON value {"name", "count", "minCount", "template", "topologyRequest"}.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cluster/json_reader.h"
#include "dialects/pod_sets.h"
#include "model/gang.h"
#include "model/object.h"

namespace tutti::dialects::kueue {

// The job's sets under the names that they have in a Workload: in lower case.
base::Result<std::vector<PodSet>> SetsOf(const base::Json& job);
// The pod sets of the job's Workload. A submitter is not among them, as it asks for more than the Ray cluster that
// users size their quota by.
base::Json PodSetsFor(const base::Json& job, const std::vector<PodSet>& sets);
// The others, in the same form.
base::Json LateSetsOf(const base::Json& job, const std::vector<PodSet>& sets);

// Why a label or an annotation of the job is no term that it can wait on, in the words of Kueue's webhook. Empty:
// nothing is wrong.
std::string WrongTermIn(const base::Json& job);
// The seconds that the job may run, by its label; 0: as long as it likes.
int64_t MaxSecondsIn(const model::StringMap& labels);

// One pod set. `job`: whose it is.
base::Json PodSetJson(const std::string& name, int64_t count, base::Json pod_template, const base::Json& job);

// What else a Workload says of its job.
struct Terms {
  std::string queue;
  int32_t priority = 0;
  std::string priority_class;
  bool workload_class = false;  // the class is a WorkloadPriorityClass
  int64_t max_seconds = 0;      // 0: no limit
  friend bool operator==(const Terms&, const Terms&) = default;
};

// The spec's fields that follow the job, as a merge patch: null where the job does not say it.
base::Json SpecFor(const base::Json& pod_sets, const Terms& terms);
// Without saying that it is the controller.
base::Json OwnerReferenceTo(const model::Object& owner);
// The whole object, to be created. `version` is the one that is served.
base::Json NewWorkload(const model::Object& job, std::string_view version, const std::string& name,
                       const base::Json& pod_sets, const Terms& terms);

// What the Workload itself says.
struct WorkloadRead {
  Terms terms;
  bool active = true;
  bool finished = false;
  bool replaced = false;  // it is finished, as another one has what it had
  std::optional<model::HeldQuota> has;  // without uid, priority and queued_ms
  struct CheckState {
    std::string name, state, message;
  };
  std::vector<CheckState> checks;
  base::Millis requeue_at_ms = 0;       // wall; 0: at once
  std::string deactivates;              // the reason of condition DeactivationTarget, where that holds
  std::string evicted_reason;           // of condition Evicted, where that holds
  base::Millis evicted_ms = 0;          // since then; wall
  base::Millis ready_ms = 0;            // since when condition PodsReady holds; wall; 0: it does not
  base::Millis admitted_ms = 0;         // the same of condition Admitted
  std::map<std::string, int64_t> done;  // reclaimablePods, by pod set
  std::string replaces;                 // "namespace/name" of the Workload that this one is a larger form of
};
WorkloadRead ReadWorkload(const model::Object& workload);
// One pod set, read.
struct RoleRead {
  model::RoleAsk ask;
  model::TopologyRequest topology;
  std::shared_ptr<const model::Pod> pod;  // null: its template cannot be read
};
// A pod that names no schedulerName, or kube-scheduler's, has the first of these: its job gets that when it starts. One
// that names another than these is a problem, as is what cannot be read.
std::vector<RoleRead> ReadPodSets(cluster::JsonReader& read, const cluster::JsonField& pod_sets, std::string_view ns,
                                  const std::vector<std::string>& scheduler_names);

}  // namespace tutti::dialects::kueue
