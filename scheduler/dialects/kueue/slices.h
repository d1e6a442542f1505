// SPDX-License-Identifier: Apache-2.0
// Slices: the Workloads of one job. An elastic job that grows while it runs has two for a while: the one that has
// quota, and a larger form of it, which waits for the rest. Once that has its quota, it is the job's, and the other is
// over. Pure functions.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "dialects/kueue/workload.h"
#include "dialects/pod_sets.h"
#include "model/object.h"

namespace tutti::dialects::kueue {

// Tells whether the job says so: it may have more or fewer pods while it runs.
bool IsElastic(const model::Object& job);

struct Slice {
  std::shared_ptr<const model::Object> object;  // never null
  WorkloadRead read;
};
using Slices = std::map<std::string, Slice>;  // by name

// The one that says what the job has, and the one that waits to replace it. Null: there is none.
struct SliceChoice {
  const Slice *current = nullptr, *next = nullptr;
};
// The newest that has quota, also where it was replaced by one that has none yet; else the newest that may get some;
// else the newest.
SliceChoice ChooseSlice(const Slices& slices);

// The name of the Workload that replaces the one of that name.
std::string NextSliceName(const model::Object& job, const std::string& current);
// The name of the job's first Workload, if this one is a slice of an elastic job; nullopt: it is not.
std::optional<std::string> FirstSliceOf(const model::Object& workload);

// The pod sets of a Workload, each with as many pods as the job asks for now. Null: the job has other sets.
base::Json Resized(const base::Json& pod_sets, const std::vector<PodSet>& sets);
// Whether some set of `b` has more pods than it has in `a`; and if none has, whether some has fewer.
enum class Resize { kNone, kMore, kFewer };
Resize ResizeBetween(const base::Json& a, const base::Json& b);

// The name of the Workload that this one says it replaces, be that "namespace/name" or the name alone.
std::string NameOfReplaced(const WorkloadRead& read);

// The status of one that `next` has replaced.
base::Json ReplacedStatus(base::Json status, const model::Object& next, const std::string& job_uid,
                          base::Millis now_wall_ms);
// The sentence about that.
std::string ReplacedText(const std::string& next_uid, const std::string& job_uid);
// What the one that replaces another goes on from: since when the job is admitted; or how long it has run, where checks
// are asked again.
base::Json SucceedingStatus(base::Json status, const base::Json& replaced, bool has_checks);

}  // namespace tutti::dialects::kueue
