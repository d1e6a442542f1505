// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/deadlines.h"
#include "dialects/kueue/jobs.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/queue_status.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

// How many of them it replaces, one after another.
size_t DepthOf(const Slices& slices, const Slice& slice) {
  size_t depth = 0;
  for (const Slice* at = &slice; depth < slices.size(); ++depth) {
    const auto replaced = slices.find(NameOfReplaced(at->read));
    if (at->read.replaces.empty() || replaced == slices.end()) break;
    at = &replaced->second;
  }
  return depth;
}

bool IsOver(const WorkloadRead& read) { return read.finished || read.replaced; }

bool IsReplacedByWaiting(const Slices& slices, const Slice& slice) {
  return slice.read.replaced && std::ranges::any_of(slices, [&](const auto& item) {
           return !IsOver(item.second.read) && NameOfReplaced(item.second.read) == slice.object->meta.name;
         });
}

int StandOf(const Slices& slices, const Slice& slice) {
  const bool over = IsOver(slice.read);
  if (slice.read.has && !over) return 3;
  if (slice.read.has && IsReplacedByWaiting(slices, slice)) return 2;
  return over ? 0 : 1;
}

int64_t SizeOfSet(const Json& set) { return Field(set, "count").is_null() ? 1 : CountIn(set, "count"); }

void Copy(const Json& from, const char* field, Json* to) {
  if (from.contains(field)) (*to)[field] = from[field];
}

}  // namespace

std::string NameOfReplaced(const WorkloadRead& read) { return read.replaces.substr(read.replaces.find('/') + 1); }

bool IsElastic(const model::Object& job) {
  const std::string* says = model::Find(job.meta.annotations, kElastic);
  return says && *says == "true";
}

SliceChoice ChooseSlice(const Slices& slices) {
  SliceChoice choice;
  const auto rank = [&](const std::string& name, const Slice& slice) {
    return std::tuple(StandOf(slices, slice), DepthOf(slices, slice), slice.object->meta.created_ms, name);
  };
  for (const auto& [name, slice] : slices)
    if (!choice.current || rank(choice.current->object->meta.name, *choice.current) < rank(name, slice))
      choice.current = &slice;
  if (!choice.current || !choice.current->read.has) return choice;
  for (const auto& [name, slice] : slices)
    if (&slice != choice.current && StandOf(slices, slice) == 1 &&
        NameOfReplaced(slice.read) == choice.current->object->meta.name)
      choice.next = &slice;
  return choice;
}

std::string NextSliceName(const model::Object& job, const std::string& current) {
  return WorkloadName(job.kind, job.group, job.meta.name, fmt::format("{}\n{}", job.meta.uid, current));
}

std::optional<std::string> FirstSliceOf(const model::Object& workload) {
  if (!model::Find(workload.meta.annotations, kReplaces) && !model::Find(workload.meta.annotations, kSliceName))
    return std::nullopt;
  const model::OwnerReference* owner = workload.meta.Controller();
  if (!owner) return std::nullopt;
  const std::string_view group = SplitVersion(owner->api_version).group;
  const bool known = std::ranges::any_of(JobKinds(), [&](const JobKind& row) {
    return !row.by_pods() && row.kind.kind == owner->kind && row.kind.group == group;
  });
  if (!known) return std::nullopt;
  return WorkloadName(owner->kind, group, owner->name, owner->uid);
}

Json Resized(const Json& pod_sets, const std::vector<PodSet>& sets) {
  Json resized = AsList(pod_sets);
  const auto charged = std::ranges::count_if(sets, [](const PodSet& set) { return !set.late; });
  if (std::ssize(resized) != charged) return nullptr;
  for (Json& each : resized) {
    const auto set = std::ranges::find(sets, TextIn(each, "name"), &PodSet::name);
    if (set == sets.end() || set->late || !each.is_object()) return nullptr;
    each["count"] = set->count;
  }
  return resized;
}

Resize ResizeBetween(const Json& a, const Json& b) {
  bool fewer = false;
  for (const Json& of_a : AsList(a))
    for (const Json& of_b : AsList(b)) {
      if (Field(of_a, "name") != Field(of_b, "name")) continue;
      if (SizeOfSet(of_b) > SizeOfSet(of_a)) return Resize::kMore;
      fewer = fewer || SizeOfSet(of_b) < SizeOfSet(of_a);
    }
  return fewer ? Resize::kFewer : Resize::kNone;
}

std::string ReplacedText(const std::string& next_uid, const std::string& job_uid) {
  return fmt::format("Replaced to accommodate a workload (UID: {}, JobUID: {}) due to workload slice aggregation",
                     next_uid, job_uid);
}

Json ReplacedStatus(Json status, const model::Object& next, const std::string& job_uid, base::Millis now_wall_ms) {
  Json conditions = AsList(Field(status, "conditions"));
  SetCondition("Finished", true, kSliceReplaced, ReplacedText(next.meta.uid, job_uid), now_wall_ms, &conditions);
  status["conditions"] = std::move(conditions);
  return status;
}

Json SucceedingStatus(Json status, const Json& replaced, bool has_checks) {
  Json conditions = AsList(Field(status, "conditions"));
  for (const char* type : {"Admitted", "PodsReady"})
    if (const Json* holds = FindTrue(Field(replaced, "conditions"), type);
        holds && !has_checks && !FindCondition(conditions, type))
      conditions.push_back(*holds);
  status["conditions"] = std::move(conditions);
  Copy(replaced, "schedulingStats", &status);
  int64_t past = PastSeconds(replaced);
  const Json& before = Field(replaced, "conditions");
  const Json *admitted = FindTrue(before, "Admitted"), *finished = FindTrue(before, "Finished");
  if (has_checks && admitted && finished) {  // it is admitted again, and this counts
    const base::Millis ran = TimeIn(*finished, "lastTransitionTime") - TimeIn(*admitted, "lastTransitionTime");
    past += std::max<base::Millis>(0, ran) / 1000;
  }
  if (past > 0) SetPastSeconds(past, &status);
  return status;
}

}  // namespace tutti::dialects::kueue
