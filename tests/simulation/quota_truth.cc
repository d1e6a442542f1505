// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/quota_truth.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/quantity.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using sim::DigString;
using sim::EventType;
using sim::IntOf;
using sim::Json;

namespace {

constexpr const char* kOfGroup = "kueue.x-k8s.io/is-group-workload";
const sim::GroupResource kResourceFlavors{"kueue.x-k8s.io", "resourceflavors"};

int64_t Milli(const Json& quantity) {
  if (quantity.is_number_integer()) return 1000 * quantity.get<int64_t>();
  const auto read = model::ParseMilli(sim::StringOf(quantity));
  return read ? read->value : 0;
}

TrueLeaf ReadLeaf(const Json& queue) {
  TrueLeaf leaf;
  const Json& spec = sim::Child(queue, "spec");
  leaf.cohort = DigString(spec, "cohort").empty() ? DigString(spec, "cohortName") : DigString(spec, "cohort");
  for (const Json& group : sim::ArrayOf(sim::Child(spec, "resourceGroups")))
    for (const Json& flavor : sim::ArrayOf(sim::Child(group, "flavors")))
      for (const Json& resource : sim::ArrayOf(sim::Child(flavor, "resources"))) {
        TrueLeaf::Limits& limits = leaf.limits[{DigString(flavor, "name"), DigString(resource, "name")}];
        const auto read = [&](const char* field, int64_t absent) {
          return sim::Child(resource, field).is_null() ? absent : Milli(sim::Child(resource, field));
        };
        limits = {read("nominalQuota", 0), read("borrowingLimit", -1), read("lendingLimit", -1)};
      }
  return leaf;
}

void ReadAdmission(const Json& status, TrueWorkload* workload) {
  const Json& admission = sim::Child(status, "admission");
  workload->leaf = DigString(admission, "clusterQueue");
  workload->uses.clear();
  workload->counts.clear();
  std::map<std::string, int64_t> done;
  for (const Json& set : sim::ArrayOf(sim::Child(status, "reclaimablePods")))
    done[DigString(set, "name")] = IntOf(sim::Child(set, "count"));
  for (const Json& set : sim::ArrayOf(sim::Child(admission, "podSetAssignments"))) {
    const int64_t count = IntOf(sim::Child(set, "count"));
    const int64_t left = std::max<int64_t>(0, count - done[DigString(set, "name")]);
    workload->counts[DigString(set, "name")] = left;
    for (const auto& [resource, flavor] : sim::MapOf(sim::Child(set, "flavors")).items())
      if (count > 0)
        workload->uses[{sim::StringOf(flavor), resource}] +=
            Milli(sim::Dig(set, "resourceUsage", resource)) / count * left;
  }
}

}  // namespace

QuotaTruth::QuotaTruth(sim::Store& store, const Truth& truth) : store_(store), truth_(truth) {
  subscription_ = store_.Subscribe([this](const sim::WatchEvent& event) {
    if (event.resource == kWorkloads)
      OnWorkload(event);
    else if (event.resource == sim::kPods)
      OnPod(event);
    else if (event.resource == sim::kJobs || event.resource == sim::kRayClusters)
      OnJob(event);
    else if (event.resource == kClusterQueues)
      OnLeaf(event);
    else if (event.resource == kResourceFlavors || event.resource == kLocalQueues)
      queues_changed_ = event.resource_version;
  });
}

QuotaTruth::~QuotaTruth() { store_.Unsubscribe(subscription_); }

const TrueWorkload* QuotaTruth::WorkloadOf(const std::string& job) const {
  for (const auto& [name, workload] : workloads_)
    if (workload.job == job && !workload.finished) return &workload;
  return nullptr;
}

const TrueJob* QuotaTruth::JobOf(const TrueWorkload& workload) const {
  const auto at = jobs_.find(workload.job);
  return at == jobs_.end() ? nullptr : &at->second;
}

void QuotaTruth::OnLeaf(const sim::WatchEvent& event) {
  if (event.type == EventType::kModified &&
      sim::Child(*event.previous, "spec") == sim::Child(*event.object, "spec"))
    return;
  queues_changed_ = event.resource_version;
  if (event.type == EventType::kDeleted)
    leaves_.erase(sim::NameOf(*event.object));
  else
    leaves_.insert_or_assign(sim::NameOf(*event.object), ReadLeaf(*event.object));
}

void QuotaTruth::OnJob(const sim::WatchEvent& event) {
  const Json& object = *event.object;
  const std::string& uid = sim::UidOf(object);
  if (event.type == EventType::kDeleted || sim::LabelOf(object, kQueueLabel).empty() ||
      !sim::ControllerOf(object).is_null()) {
    jobs_.erase(uid);
    return;
  }
  TrueJob& job = jobs_[uid];
  const bool suspended = sim::BoolOf(sim::Dig(object, "spec", "suspend"));
  if (event.type == EventType::kAdded || suspended != job.suspended) job.flipped = event.resource_version;
  job = {DigString(object, "kind"),
         sim::NameOf(object),
         sim::LabelOf(object, kQueueLabel),
         suspended,
         sim::IsTrue(object, "Complete") || sim::IsTrue(object, "Failed"),
         sim::IsTerminating(object),
         job.flipped};
  for (auto& [name, workload] : workloads_)
    if (workload.job == uid) NoteStopped(workload);
}

void QuotaTruth::OnPod(const sim::WatchEvent& event) {
  const std::string& group = sim::LabelOf(*event.object, kGroupLabel);
  if (!group.empty()) {
    std::set<std::string>& there = group_pods_[group];
    if (event.type == EventType::kDeleted)
      there.erase(sim::UidOf(*event.object));
    else
      there.insert(sim::UidOf(*event.object));
    if (there.empty()) {
      group_pods_.erase(group);
      jobs_.erase(group);
    } else {
      TrueJob& job = jobs_[group];
      job.name = group;
      job.queue = sim::LabelOf(*event.object, kQueueLabel);
      const auto has_succeeded = [this](const std::string& uid) {
        const TruePod* pod = truth_.Pod(uid);
        return pod && pod->phase == "Succeeded";
      };
      const std::string& total = sim::AnnotationOf(*event.object, "kueue.x-k8s.io/pod-group-total-count");
      job.ended = std::ranges::count_if(there, has_succeeded) >= std::stoll(total);
    }
  }
  const std::string& of = sim::AnnotationOf(*event.object, "kueue.x-k8s.io/workload");
  if (const auto at = workloads_.find(of.empty() ? group : of); at != workloads_.end()) NoteStopped(at->second);
}

void QuotaTruth::OnWorkload(const sim::WatchEvent& event) {
  const Json& object = *event.object;
  const std::string& name = sim::NameOf(object);
  if (event.type == EventType::kDeleted) {
    workloads_.erase(name);
    return;
  }
  TrueWorkload& workload = workloads_[name];
  const TrueWorkload before = workload;
  workload.ns = sim::NamespaceOf(object);
  workload.name = name;
  workload.uid = sim::UidOf(object);
  workload.changed = event.resource_version;
  workload.job = sim::AnnotationOf(object, kOfGroup).empty() ? DigString(sim::ControllerOf(object), "uid") : name;
  workload.reserved = sim::IsTrue(object, "QuotaReserved");
  workload.admitted = sim::IsTrue(object, "Admitted");
  workload.evicted = sim::IsTrue(object, "Evicted");
  workload.finished = sim::IsTrue(object, "Finished");
  workload.deleting = sim::IsTerminating(object);
  const Json& active = sim::Dig(object, "spec", "active");
  workload.active = active.is_null() || sim::BoolOf(active);
  ReadAdmission(sim::Child(object, "status"), &workload);
  if (!workload.leaves()) workload.stopped = false;
  NoteStopped(workload);
  if (!workload.reserved || (before.reserved && before.uid == workload.uid)) return;
  workload.reserved_at = event.resource_version;
  given_.push_back({name, {}, {}});
  FindBroken(workload, &given_.back());
  for (const auto& [other, each] : workloads_)
    if (other != name && each.job == workload.job && Holds(each))
      twice_ = fmt::format("Workloads {} and {} have quota for one job", name, other);
}

void QuotaTruth::NoteStopped(TrueWorkload& workload) {
  if (!workload.leaves() || workload.stopped) return;
  const TrueJob* job = JobOf(workload);
  workload.stopped =
      (!job || job->kind.empty() || job->suspended || job->ended) && !HasBoundPods(workload, truth_.newest());
}

bool QuotaTruth::HasBoundPods(const TrueWorkload& workload, Version seen) const {
  const auto gang = truth_.gangs().find(fmt::format("kueue/{}/{}", workload.ns, workload.name));
  if (gang == truth_.gangs().end()) return false;
  return std::ranges::any_of(gang->second.members, [&](const std::string& uid) {
    const TruePod* pod = truth_.Pod(uid);
    return pod && pod->occupies() && pod->made <= seen;
  });
}

bool QuotaTruth::LacksPods(const TrueWorkload& workload) const {
  const TrueJob* job = JobOf(workload);
  const auto pods = group_pods_.find(workload.job);
  if (!job || !job->kind.empty() || pods == group_pods_.end()) return false;
  int64_t wanted = 0;
  for (const auto& [set, count] : workload.counts) wanted += count;
  return wanted > std::ranges::count_if(pods->second, [this](const std::string& uid) {
           const TruePod* pod = truth_.Pod(uid);
           return pod && pod->live();
         });
}

bool QuotaTruth::Holds(const TrueWorkload& workload) const {
  const TrueJob* job = JobOf(workload);
  return workload.reserved && !workload.finished && !(workload.leaves() && workload.stopped) && job && !job->ended &&
         !job->deleting;
}

void QuotaTruth::FindBroken(const TrueWorkload& workload, Given* given) const {
  for (const auto& [cell, amount] : workload.uses) {
    if (amount == 0) continue;
    std::map<std::string, int64_t> used;  // by leaf
    given->holders.clear();
    for (const auto& [name, each] : workloads_)
      if (const auto of = each.uses.find(cell); of != each.uses.end() && Holds(each)) {
        used[each.leaf] += of->second;
        given->holders.push_back(name);
      }
    given->broken = BrokenIn(workload.leaf, cell, used);
    if (!given->broken.empty()) return;
  }
}

std::string QuotaTruth::BrokenIn(const std::string& name, const TrueCell& cell,
                                 const std::map<std::string, int64_t>& used) const {
  const auto own = leaves_.find(name);
  if (own == leaves_.end()) return {};
  const auto used_by = [&used](const std::string& leaf) { return used.contains(leaf) ? used.at(leaf) : 0; };
  const std::string what = fmt::format("{} of flavor {}", cell.second, cell.first);
  const auto limits = own->second.limits.find(cell);
  if (limits == own->second.limits.end()) return fmt::format("ClusterQueue {} has no {}", name, what);
  const auto& [nominal, borrowing, lending] = limits->second;
  const int64_t mine = used_by(name);
  const std::string& cohort = own->second.cohort;
  if (cohort.empty() ? mine > nominal : borrowing >= 0 && mine > nominal + borrowing)
    return fmt::format("ClusterQueue {} uses {} of {} {}, and may borrow {}", name, mine, nominal, what,
                       cohort.empty() ? 0 : borrowing);
  if (cohort.empty() || mine <= limits->second.kept()) return {};
  int64_t shared = 0, taken = 0;
  for (const auto& [other, leaf] : leaves_) {
    if (leaf.cohort != cohort) continue;
    const auto at = leaf.limits.find(cell);
    const int64_t kept = at == leaf.limits.end() ? 0 : at->second.kept();
    shared += at == leaf.limits.end() ? 0 : at->second.nominal - kept;
    taken += std::max<int64_t>(0, used_by(other) - kept);
  }
  if (taken <= shared) return {};
  return fmt::format("cohort {} shares {} {}, and {} are in use", cohort, shared, what, taken);
}

}  // namespace tutti::simulation
