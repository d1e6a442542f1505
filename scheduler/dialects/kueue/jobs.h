// SPDX-License-Identifier: Apache-2.0
// The kinds of job that wait for quota: where each says that it is suspended, how its status says that it has stopped
// or ended, and what is written into it to start and to stop it. A kind is a row of a table. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "dialects/pod_sets.h"
#include "model/object.h"

namespace tutti::dialects::kueue {

// Whose pods are held one by one, where a job has no flag by which it makes none.
enum class PodOwner {
  kNone,    // the job has a flag, and no pod is held
  kItself,  // a pod that waits alone
  kGroup,   // a group's that the pods name
  kStatefulSet,
  kLeaderWorkerSet,  // one replica's
  kDeployment,       // of these each waits alone
};

struct JobKind {
  model::ObjectKind kind;
  std::string reporter;      // by which name Kueue's Events about it come
  std::string suspend;       // the JSON pointer of the flag; empty: it has none
  bool omits_false = false;  // the flag is left out where it is false
  // Its templates take any change at any time. Others take what pods are scheduled by, and no schedulerName, and that
  // while the job is suspended and has not started.
  bool free_templates = false;
  // By its status alone: pods of it may be there, or come. Null: it has no flag.
  bool (*is_active)(const base::Json& status) = nullptr;
  // All of its pods are ready, or have ended well. Null: it has no flag.
  bool (*is_ready)(const base::Json& body) = nullptr;
  PodOwner pods = PodOwner::kNone;
  // An AppWrapper: what its pods are given stands beside its templates, and its controller is another dialect here.
  bool is_wrapper = false;

  bool by_pods() const { return pods != PodOwner::kNone; }
};

const std::vector<JobKind>& JobKinds();
// Of a group of pods; there are no objects of this kind.
const JobKind& GroupKind();
// Null: no such row. `name` is ObjectKind::Name().
const JobKind* FindJobKind(std::string_view name);
const JobKind* FindJobKind(const model::Object& object);

// The functions about flags, statuses and templates are for kinds that have a flag; of others see pods.h.

bool IsSuspended(const JobKind& kind, const base::Json& body);
// It may make pods, or pods of it may still be there.
bool IsReleased(const JobKind& kind, const base::Json& body);
// By set, how many of its pods have ended well and are not followed by others. Of kinds that do not say so: none.
std::map<std::string, int64_t> DoneOf(const JobKind& kind, const std::vector<PodSet>& sets, const base::Json& body);
// Says why the job cannot wait for quota, beginning with the field; empty: it can.
std::string WhyNotHeld(const JobKind& kind, const base::Json& body);
// Tells whether the job is to wait in the queue that its label names. It is not where another job makes it, or where it
// uses a cluster that is there already.
bool WaitsInQueue(const model::Object& job);
// Jobs of the kind make other jobs, or pods, that do not wait for quota themselves.
bool MakesJobs(std::string_view kind);

struct JobEnd {
  bool succeeded = false;
  std::string message;
};
// nullopt: it goes on.
std::optional<JobEnd> EndOf(const JobKind& kind, const base::Json& body);

// What the pods of one set are given when the job starts.
struct PodSetGrant {
  std::string name;
  int64_t count = 0;
  model::StringMap labels, annotations, node_selector;
  base::Json tolerations = base::Json::array();
  std::string scheduler_name;  // for templates that name none
};

// Removes the scheduling gate of that name from the spec of a pod or a template.
void RemoveGate(std::string_view gate, base::Json* spec);
// Gives the template all of that but the scheduler's name, and takes the gate of elastic jobs out.
void GrantTo(const PodSetGrant& grant, base::Json* pod_template);

base::Json TolerationJson(const model::Toleration& toleration);

// Whether the flag can be written: what it stands in is an object, or is not there.
bool TakesFlag(const JobKind& kind, const base::Json& body);
// REQUIRES for Suspended, Started and Stopped: TakesFlag.

// The job's body with the flag set; a suspended job makes no pods.
base::Json Suspended(const JobKind& kind, base::Json body);
// The job's body as it starts: not suspended, and with the grants in the templates of its sets. Fewer pods than the job
// asks for are written into the jobs that may start with fewer.
base::Json Started(const JobKind& kind, const std::vector<PodSet>& sets, const std::vector<PodSetGrant>& grants,
                   base::Json body);
// The job has what Started writes, of one of its sets at least.
bool HasGrants(const JobKind& kind, const std::vector<PodSet>& sets, const base::Json& body);
// The job's body as it stops: suspended, and with what is scheduled by in its templates as the Workload's pod sets have
// it. `scheduler_name` is that of the grants.
base::Json Stopped(const JobKind& kind, const std::vector<PodSet>& sets, const base::Json& pod_sets,
                   const std::string& scheduler_name, base::Json body);

// The merge patch (RFC 7386) that makes `to` of `from`; an empty object: they are equal. A list goes as a whole.
base::Json MergeBetween(const base::Json& from, const base::Json& to);

}  // namespace tutti::dialects::kueue
