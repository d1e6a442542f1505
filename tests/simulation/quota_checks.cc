// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/quota_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.h"
#include "cluster/json_text.h"

namespace tutti::simulation {

using Step = observe::Observer::QuotaStep::Kind;

namespace {

std::optional<Violation> Broken(std::string_view invariant, std::string message) {
  return Violation{std::string(invariant), std::move(message)};
}

}  // namespace

std::optional<Violation> QuotaChecks::OnQuota(const Replica& replica, const observe::Observer::QuotaStep& step) {
  if (step.gang.dialect != "kueue") return std::nullopt;
  const auto at = quotas_.workloads().find(step.gang.name);
  const Replica::Knowledge known = replica.Knows();
  const std::pair decision(replica.name(), step.gang.name);
  if (step.kind == Step::kReserved) decided_.insert_or_assign(step.gang.name, known);
  if (step.kind == Step::kReleased) released_.insert(decision), decided_.erase(step.gang.name);
  if (step.kind == Step::kReserved && unseen_.erase(step.gang.name) > 0) outdated_[step.gang.name] = std::nullopt;
  const bool again = step.kind == Step::kReserved && released_.erase(decision) > 0;
  if (at == quotas_.workloads().end()) return std::nullopt;
  const TrueWorkload& workload = at->second;
  const bool excused = again || workload.reserved_at > known.gangs;
  if (step.kind == Step::kReserved && !Ask(kGivenOnce, excused) && workload.reserved && !workload.evicted)
    return Broken(kGivenOnce, fmt::format("{} is given quota, and has some", workload.name));
  if (step.kind == Step::kReleased && (!workload.reserved || workload.reserved_at > known.gangs))
    unseen_.insert(workload.name);
  if (step.kind == Step::kReleased && !Ask(kHeldUntilGone) && quotas_.HasBoundPods(workload, known.pods))
    return Broken(kHeldUntilGone, fmt::format("{} gives its quota back, and has pods on nodes", workload.name));
  return std::nullopt;
}

// Of pods that are held one by one the labels are written as they are let go.
std::optional<Violation> QuotaChecks::OnSubmit(const cluster::Command& command) {
  const auto* patch = std::get_if<cluster::Patch>(&command.body);
  if (patch && patch->status && patch->object.resource == "workloads")
    if (const auto old = outdated_.find(patch->object.name()); old != outdated_.end()) old->second = truth_.newest();
  if (!patch || patch->status) return std::nullopt;
  const bool of_job = patch->object.resource == "jobs" || patch->object.resource == "rayclusters";
  if (!of_job && patch->object.resource != "pods") return std::nullopt;
  const auto body = cluster::ParseJson(patch->body);
  const TrueWorkload* workload = nullptr;
  if (of_job) {
    const sim::Json& suspend = sim::Dig(body, "spec", "suspend");
    if (!suspend.is_boolean() || suspend.get<bool>()) return std::nullopt;
    workload = quotas_.WorkloadOf(patch->object.uid());
  } else {
    const std::string& name = sim::AnnotationOf(body, "kueue.x-k8s.io/workload");
    if (name.empty()) return std::nullopt;
    const auto at = quotas_.workloads().find(name);
    workload = at == quotas_.workloads().end() ? nullptr : &at->second;
  }
  if (Ask(kAdmittedFirst, !workload)) return std::nullopt;  // it was deleted just now
  if (workload->admitted) return std::nullopt;
  return Broken(kAdmittedFirst, fmt::format("{} is let go, and Workload {} is not admitted", patch->object.name(),
                                            workload->name));
}

std::optional<Violation> QuotaChecks::AfterStep() {
  std::erase_if(outdated_, [this](const auto& item) {
    const auto at = quotas_.workloads().find(item.first);
    return at == quotas_.workloads().end() || (item.second && at->second.changed > *item.second);
  });
  for (const QuotaTruth::Given& given : quotas_.TakeGiven()) {
    const auto decided = decided_.find(given.workload);
    if (decided == decided_.end()) continue;
    const bool excuse =
        !given.broken.empty() &&
        (quotas_.queues_changed() > decided->second.queues || AnyIsOutdated(given.holders));
    if (!Ask(kWithinQuota, excuse) && !given.broken.empty())
      return Broken(kWithinQuota, fmt::format("{} is given quota: {}: {}", given.workload, given.broken,
                                               fmt::join(given.holders, ", ")));
  }
  if (!quotas_.twice().empty()) return Broken(kGivenOnce, quotas_.twice());
  return std::nullopt;
}

// A Workload says of its quota what its scheduler has decided otherwise since, and could not write yet.
bool QuotaChecks::AnyIsOutdated(const std::vector<std::string>& workloads) const {
  return std::ranges::any_of(workloads, [this](const std::string& name) {
    return unseen_.contains(name) || outdated_.contains(name);
  });
}

// --- At rest ---

std::optional<Violation> QuotaChecks::AtRest(Version term_since) {
  outdated_.clear();
  for (const auto& [name, workload] : quotas_.workloads()) {
    Ask(kOneWorkload);
    if (!quotas_.JobOf(workload)) return Broken(kOneWorkload, fmt::format("Workload {} has no job", name));
    Ask(kNotHalfAdmitted);
    if (!workload.finished && workload.reserved && (workload.evicted || !workload.admitted))
      return Broken(kNotHalfAdmitted, fmt::format("Workload {} has quota, and is {}", name,
                                                  workload.evicted ? "to leave" : "not admitted"));
  }
  for (const auto& [uid, job] : quotas_.jobs())
    if (auto broken = JudgeJob(uid, job, term_since)) return broken;
  return std::nullopt;
}

std::optional<Violation> QuotaChecks::JudgeJob(const std::string& uid, const TrueJob& job, Version term_since) const {
  if (job.ended || job.deleting) return std::nullopt;
  const auto is_its = [&](const auto& each) { return each.second.job == uid && !each.second.finished; };
  const auto count = std::ranges::count_if(quotas_.workloads(), is_its);
  if (count > 1 || (count == 0 && !job.kind.empty()))
    return Broken(kOneWorkload, fmt::format("{} {} has {} Workloads", job.kind, job.name, count));
  if (count == 0) return std::nullopt;  // a group that lacks pods, or has ended
  const TrueWorkload& workload = *quotas_.WorkloadOf(uid);
  Ask(kHeldOrAdmitted);
  if (!job.kind.empty() && job.suspended == workload.admitted)
    return Broken(kHeldOrAdmitted, fmt::format("{} {} is {}, and Workload {} is {}", job.kind, job.name,
                                               job.suspended ? "suspended" : "let go", workload.name,
                                               workload.admitted ? "admitted" : "not admitted"));
  if (!job.kind.empty() && !workload.admitted && quotas_.HasBoundPods(workload, truth_.newest()))
    return Broken(kHeldOrAdmitted, fmt::format("{} has pods on nodes, and Workload {} is not admitted", job.name,
                                               workload.name));
  if (!workload.admitted) return std::nullopt;
  const auto gang = truth_.gangs().find(fmt::format("kueue/{}/{}", workload.ns, workload.name));
  const bool whole = gang != truth_.gangs().end() && truth_.StandingOf(gang->second).whole;
  // Pods that a user's hand let go before it was admitted do not say that they are its.
  const bool lacks = gang == truth_.gangs().end() || gang->second.members.empty() || quotas_.LacksPods(workload);
  const bool excused =
      !whole && (lacks || gang->second.was_whole ||
                 std::max({truth_.room_taken(), term_since, gang->second.disturbed}) > workload.reserved_at);
  if (!Ask(kOfUse, excused) && !whole)
    return Broken(kOfUse, fmt::format("Workload {} is admitted, and its pods have no places", workload.name));
  return std::nullopt;
}

}  // namespace tutti::simulation
