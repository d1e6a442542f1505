// SPDX-License-Identifier: Apache-2.0
// What one entry of Workloads is: held, let go, ready, ended; by its job, or by its pods.
#include <algorithm>

#include "dialects/kueue/names.h"
#include "dialects/kueue/workloads.h"

namespace tutti::dialects::kueue {
namespace {

bool SameRole(const RoleRead& a, const RoleRead& b) {
  return a.ask == b.ask && a.topology == b.topology && !a.pod == !b.pod &&
         (!a.pod || (a.pod->meta.labels == b.pod->meta.labels && a.pod->meta.annotations == b.pod->meta.annotations));
}

}  // namespace

bool Entry::CountsWorkload() const { return workload && (!job || read.has || !IsHeld()); }

bool Entry::orphaned() const {
  if (job || !workload) return false;
  if (model::Find(workload->meta.annotations, kIsOfGroup)) return true;
  const model::OwnerReference* owner = workload->meta.Controller();
  return owner && std::ranges::any_of(JobKinds(), [&](const JobKind& row) { return row.kind.kind == owner->kind; });
}

bool Entry::ended() const {
  if (read.finished || (read.replaced && !job) || orphaned()) return true;
  return job && (End() || (job->meta.deleting() && !(by_pods() && IsLetGo())));
}

bool Entry::IsHeld() const {
  if (!by_pods()) return IsSuspended(*kind, *job->body);
  return std::ranges::none_of(pods, [](const auto& item) { return item.second.started; });
}

bool Entry::IsLetGo() const {
  if (!by_pods()) return IsReleased(*kind, *job->body);
  return std::ranges::any_of(pods, [](const auto& item) { return item.second.runs(); });
}

std::optional<JobEnd> Entry::End() const {
  switch (kind->pods) {
    case PodOwner::kNone: return EndOf(*kind, *job->body);
    case PodOwner::kItself: return pods.empty() ? std::nullopt : EndOfPod(pods.begin()->second);
    case PodOwner::kGroup: return EndOfGroup(group, pods);
    case PodOwner::kStatefulSet:
    case PodOwner::kLeaderWorkerSet:
    case PodOwner::kDeployment: break;
  }
  return std::nullopt;
}

std::map<std::string, int64_t> Entry::Done() const {
  if (!by_pods()) return DoneOf(*kind, sets, *job->body);
  std::map<std::string, int64_t> done;
  if (kind->pods != PodOwner::kGroup || group.serves) return done;
  for (const auto& [name, pod] : pods)
    if (pod.succeeded) ++done[pod.role];
  for (const auto& [role, count] : read.done) done[role] = std::max(done[role], count);  // some may be gone by now
  return done;
}

bool Entry::IsReady() const {
  if (!by_pods()) return kind->is_ready(*job->body);
  int64_t wanted = 0;
  for (const PodSet& set : sets) wanted += set.count;
  return std::ranges::count_if(pods, [](const auto& item) { return item.second.ready || item.second.succeeded; }) >=
         wanted;
}

bool Entry::IsScaledToZero() const {
  return job && kind->pods == PodOwner::kStatefulSet &&
         std::ranges::all_of(sets, [](const PodSet& set) { return set.count == 0; });
}

bool Entry::InStep() const {
  return read.terms == terms && std::ranges::equal(of_job.roles, of_workload.roles, SameRole);
}

}  // namespace tutti::dialects::kueue
