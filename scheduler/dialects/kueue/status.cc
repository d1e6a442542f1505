// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/deadlines.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/queue_status.h"
#include "dialects/kueue/slices.h"
#include "model/quantity.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

// Words of the rule, and how Kueue says why a workload goes.
constexpr std::string_view kPreemptions[] = {"InClusterQueue", "InCohortReclamation", "InCohortFairSharing",
                                             "InCohortReclaimWhileBorrowing"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kEvictions = {
    {{"ClusterQueueStopped", "The ClusterQueue is stopped"},
     {"LocalQueueStopped", "The LocalQueue is stopped"},
     {"AdmissionCheck", "At least one admission check is false"},
     {"Deactivated", "The workload is deactivated"},
     {kWorkloadDeleted, "Workload is deleted"},
     {kOnHold, "StatefulSet scaled to zero; workload on hold"},
     {kReplacementWaits, "Another Workload, which replaces this one, waits for quota"},
     {kLacksPods, "The group lacks pods that had to leave; it stands in line once others have come for them"},
     {"DeactivatedDueToMaximumExecutionTimeExceeded",
      "The workload is deactivated due to exceeding the maximum execution time"},
     {"DeactivatedDueToRequeuingLimitExceeded",
      "The workload is deactivated due to exceeding the maximum number of re-queuing retries"}}};

Json Amounts(const model::ResourceList& list) {
  Json amounts = Json::object();
  for (const auto& [resource, amount] : list) amounts[resource] = QuantityText(resource, amount);
  return amounts;
}

// What each set asks for in all.
Json Requests(const std::vector<RoleRead>& roles) {
  Json requests = Json::array();
  for (const RoleRead& role : roles) {
    if (!role.pod) continue;
    model::ResourceList total;
    for (const auto& [resource, amount] : role.ask.pod->requests)
      total.Set(resource, model::SaturatingMul(amount, role.ask.count));
    requests.push_back({{"name", role.ask.name}, {"resources", Amounts(total)}});
  }
  return requests;
}

Json Admission(const model::HeldQuota& has, const std::map<std::string, Json>& topology) {
  Json sets = Json::array();
  for (const model::HeldQuota::Role& role : has.roles) {
    Json flavors = Json::object();
    for (const auto& [resource, flavor] : role.flavors) flavors[resource] = flavor;
    Json set = {{"name", role.name},
                {"flavors", std::move(flavors)},
                {"resourceUsage", Amounts(role.requests)},
                {"count", role.count}};
    if (const auto placed = topology.find(role.name); placed != topology.end())
      set["topologyAssignment"] = placed->second;
    sets.push_back(std::move(set));
  }
  return {{"clusterQueue", has.leaf}, {"podSetAssignments", std::move(sets)}};
}

constexpr std::string_view kNotReady = "Not all pods are ready or succeeded";

class Writer {
 public:
  explicit Writer(const StatusOfWorkload& of)
      : of_(of), conditions_(Field(of.before, "conditions")), status_(of.before) {
    if (!conditions_.is_array()) conditions_ = Json::array();
    if (!status_.is_object()) status_ = Json::object();
  }

  Json Write() {
    const QuotaReport& quota = of_.report.quota;
    const bool ended = of_.end || quota.reason == kSliceReplaced || IsTrue(conditions_, "Finished");
    if (ended) {
      Finish();
    } else {
      if (of_.absent) TellAbsent(*of_.absent > 0);
      if (!quota.evicted_reason.empty() && quota.evicted_reason != kOnHold && (!quota.has || quota.has->evicted))
        Evict();
      if (!quota.has)
        Wait();
      else if (!quota.has->evicted)
        Hold(*quota.has);
    }
    if (!conditions_.empty()) status_["conditions"] = std::move(conditions_);
    return std::move(status_);
  }

 private:
  void Set(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
    SetCondition(type, holds, reason, message, of_.report.now_wall_ms, &conditions_);
  }

  void Finish() {
    const QuotaReport& quota = of_.report.quota;
    if (quota.reason == kSliceReplaced)
      Set("Finished", true, kSliceReplaced,
          ReplacedText(quota.by_uid.empty() ? of_.replaced_by : quota.by_uid, "UNKNOWN"));
    if (of_.end) Set("Finished", true, of_.end->succeeded ? "Succeeded" : "Failed", of_.end->message);
  }

  // Whether its group lacks pods, and why.
  void TellAbsent(bool lacks) {
    constexpr std::string_view kType = kLacksPods;
    if (!lacks) {
      if (FindTrue(conditions_, kType)) Set(kType, false, "PodsReady", "No pods need replacement");
      return;
    }
    if (const Json* evicted = FindTrue(conditions_, "Evicted"))
      Set(kType, true, TextIn(*evicted, "reason"), TextIn(*evicted, "message"));
    else if (!FindTrue(conditions_, kType))
      Set(kType, true, "PodsFailed", "Some Failed pods need replacement");
  }

  void Evict() {
    const QuotaReport& quota = of_.report.quota;
    const Json* before = FindTrue(conditions_, "Evicted");
    const std::string reason = EvictedReason(quota.evicted_reason);
    if (before && Field(*before, "reason") == reason) return;
    Set("Evicted", true, reason, of_.eviction);
    if (IsPreemption(quota.evicted_reason)) Set("Preempted", true, quota.evicted_reason, of_.eviction);
    const size_t by = reason.find("DueTo");
    Count(reason.substr(0, by), by == reason.npos ? "" : reason.substr(by + 5));
  }

  void Count(const std::string& reason, const std::string& cause) {
    Json evictions = Field(Field(of_.before, "schedulingStats"), "evictions");
    if (!evictions.is_array()) evictions = Json::array();
    const auto same = std::ranges::find_if(evictions, [&](const Json& each) {
      return Field(each, "reason") == reason && Field(each, "underlyingCause") == cause;
    });
    if (same == evictions.end()) {
      evictions.push_back({{"reason", reason}, {"underlyingCause", cause}, {"count", 1}});
    } else {
      (*same)["count"] = std::min(CountIn(*same, "count") + 1, kLargestCount);
    }
    status_["schedulingStats"] = {{"evictions", std::move(evictions)}};
  }

  // It has none.
  void Wait() {
    const QuotaReport& quota = of_.report.quota;
    const bool had = IsTrue(conditions_, "QuotaReserved");
    const std::string text = PendingText(of_.report);
    // Without any word of it, what it has is not taken up yet.
    if (had && quota.evicted_reason.empty() && quota.reason.empty() && text.empty()) return;
    if (had) Release();
    const std::string barred = of_.report.spec->quota ? of_.report.spec->quota->barred : std::string();
    // Why a check or a limit has deactivated it stays, once it is written that it is inactive.
    const bool is_said = barred.starts_with("Deactivated") && IsTrue(conditions_, "Evicted");
    if (!text.empty() && !(had && !barred.empty()) && !is_said) {
      Set("QuotaReserved", false, PendingReason(of_.report), text);
      if (!of_.roles.empty()) status_["resourceRequests"] = Requests(of_.roles);
      if (!had) Requeue();
    }
  }

  // Why it has to leave, where that is written, and not yet that it has left. Empty: it is not.
  std::string WhyLeaves() const {
    const Json* evicted = FindTrue(conditions_, "Evicted");
    return evicted && IsTrue(conditions_, "QuotaReserved") ? TextIn(*evicted, "reason") : std::string();
  }

  void Release() {
    const Json* evicted = FindTrue(conditions_, "Evicted");
    const std::string reason = evicted ? TextIn(*evicted, "reason") : std::string();
    const bool on_hold = of_.report.quota.evicted_reason == kOnHold;
    const std::string text = evicted && !on_hold ? TextIn(*evicted, "message") : of_.eviction;
    const bool at_once =
        reason == "Preempted" || reason == "NodeFailures" || (of_.old_words && reason == "AdmissionCheck");
    if (evicted && !on_hold) Set("Requeued", at_once, reason, text);
    Set("QuotaReserved", false, on_hold ? kOnHold : "Pending", text.empty() ? "The quota was given back" : text);
    status_.erase("admission");
    if (FindCondition(conditions_, "PodsReady")) Set("PodsReady", false, "WaitForStart", kNotReady);
    if (reason.starts_with("Deactivated")) {
      std::erase_if(conditions_.get_ref<Json::array_t&>(),
                    [](const Json& each) { return TextIn(each, "type") == "DeactivationTarget"; });
      status_.erase("requeueState");
    }
    if (const Json* admitted = FindTrue(conditions_, "Admitted")) {
      AddTime(TimeIn(*admitted, "lastTransitionTime"));
      Set("Admitted", false, "NoReservation", "The workload has no reservation");
    }
    ResetChecks();
  }

  // How long it ran.
  void AddTime(base::Millis since_ms) {
    if (since_ms == 0) return;
    const int64_t ran = std::max<int64_t>(0, (of_.report.now_wall_ms - since_ms) / 1000);
    SetPastSeconds(PastSeconds(of_.before) + ran, &status_);
  }

  void ResetChecks() {
    Json checks = Field(of_.before, "admissionChecks");
    if (!checks.is_array()) return;
    for (Json& check : checks) {
      const Json& state = Field(check, "state");
      if (!check.is_object() || !state.is_string() || state == "Pending") continue;
      check["message"] = fmt::format("Reset to Pending after eviction. Previously: {}", state.get<std::string>());
      check["state"] = "Pending";
      check["lastTransitionTime"] = base::FormatTime(of_.report.now_wall_ms);
      check.erase("podSetUpdates");
    }
    status_["admissionChecks"] = std::move(checks);
  }

  // It stands in line again after a pause.
  void Requeue() {
    const Json* requeued = FindCondition(conditions_, "Requeued");
    if (!requeued || Field(*requeued, "status") != "False" || of_.report.quota.reason == "Suspended") return;
    if (of_.report.spec->quota &&
        (!of_.report.spec->quota->barred.empty() || of_.report.spec->quota->not_before_ms > of_.report.now_wall_ms))
      return;
    const std::string was = TextIn(*requeued, "reason");
    if (was == "ClusterQueueStopped")
      Set("Requeued", true, "ClusterQueueRestarted", "The ClusterQueue was restarted after being stopped");
    else if (was == "LocalQueueStopped")
      Set("Requeued", true, "LocalQueueRestarted", "The LocalQueue was restarted after being stopped");
    else if (was.starts_with("Deactivated"))
      Set("Requeued", true, "Reactivated", "The workload was reactivated");
    else
      Set("Requeued", true, "BackoffFinished", "The workload backoff was finished");
  }

  void Hold(const model::HeldQuota& has) {
    // That its pods were not ready in time is said first, and then it has to leave.
    const std::string why = WhyLeaves();
    const bool leaves_soon = why == kPodsReadyTimeout;
    if (!why.empty() && !leaves_soon) return Release();  // what it was given since is written next
    Requeue();
    Set("QuotaReserved", true, "QuotaReserved", fmt::format("Quota reserved in ClusterQueue {}", has.leaf));
    for (const char* type : {"Evicted", "Preempted"})
      if (const Json* holds = FindTrue(conditions_, type); holds && !leaves_soon)
        Set(type, false, "QuotaReserved", fmt::format("Previously: {}", TextIn(*holds, "message")));
    status_["admission"] = Admission(has, of_.topology);
    status_.erase("resourceRequests");
    if (!of_.topology.empty() && !IsOnFailedNode()) status_.erase("unhealthyNodes");
    NameChecks();
    TellDone();
    if (IsAdmitted(of_.report, of_.awaits_checks)) Set("Admitted", true, "Admitted", "The workload is admitted");
    if (!IsTrue(conditions_, "Admitted")) return;
    if (of_.pods_ready) TellPodsReady(*of_.pods_ready);
    EndInTime();
  }

  // Some pod still has its place on a node that its status says has failed.
  bool IsOnFailedNode() const {
    const auto failed = [&](const Json& domain) {
      const Json& values = ListIn(domain, "values");
      return !values.empty() && std::ranges::any_of(ListIn(of_.before, "unhealthyNodes"), [&](const Json& node) {
        return Field(node, "name") == values.back();
      });
    };
    return std::ranges::any_of(of_.topology, [&](const auto& placed) {
      return std::ranges::any_of(ListIn(placed.second, "domains"), failed);
    });
  }

  void TellDone() {
    if (!of_.done) return;
    status_.erase("reclaimablePods");
    for (const auto& [name, count] : *of_.done)
      status_["reclaimablePods"].push_back({{"name", name}, {"count", count}});
  }

  void TellPodsReady(bool ready) {
    const Json* before = FindCondition(conditions_, "PodsReady");
    const std::string was = before ? TextIn(*before, "reason") : std::string();
    const bool recovers = was == "WaitForRecovery";
    if (ready)
      Set("PodsReady", true, recovers || was == "Recovered" ? "Recovered" : "Started",
          "All pods reached readiness and the workload is running");
    else if (recovers || was == "Started" || was == "Recovered")
      Set("PodsReady", false, "WaitForRecovery", "At least one pod has failed, waiting for recovery");
    else
      Set("PodsReady", false, "WaitForStart", kNotReady);
  }

  // Where its time is over: that it has to leave. What the queue holds of it goes with that.
  void EndInTime() {
    if (of_.max_seconds == 0 && !of_.pods_rule.enabled) return;
    const base::Millis now = of_.report.now_wall_ms;
    Json latest = status_;
    latest["conditions"] = conditions_;
    const Deadline deadline = DeadlineOf(latest, of_.max_seconds, of_.pods_rule);
    if (deadline.at_ms == 0 || now < deadline.at_ms) return;
    if (!deadline.of_pods) {
      for (const char* key : {"accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds"})
        status_.erase(key);
      return Set("DeactivationTarget", true, kExecutionExceeded, "exceeding the maximum execution time");
    }
    const int64_t times = std::min(CountIn(Field(status_, "requeueState"), "count") + 1, kLargestCount);
    if (of_.pods_rule.requeue_limit && times > *of_.pods_rule.requeue_limit)
      return Set("DeactivationTarget", true, kRequeuesExceeded, "exceeding the maximum number of re-queuing retries");
    status_["requeueState"] = {{"count", times}, {"requeueAt", base::FormatTime(now + PauseOf(of_.pods_rule, times))}};
    Set("Evicted", true, kPodsReadyTimeout, PodsReadyText(of_.report.spec->key));
    Count(std::string(kPodsReadyTimeout), deadline.cause);
  }

  // Those that it needs, each as it stands.
  void NameChecks() {
    const Json& before = Field(of_.before, "admissionChecks");
    if (of_.checks.empty() && (!before.is_array() || before.empty())) return;
    Json checks = Json::array();
    for (const std::string& name : of_.checks) {
      const Json* known = nullptr;
      if (before.is_array())
        for (const Json& check : before)
          if (Field(check, "name") == name) known = &check;
      Json check = known ? *known
                         : Json{{"name", name},
                                {"state", "Pending"},
                                {"message", ""},
                                {"lastTransitionTime", base::FormatTime(of_.report.now_wall_ms)}};
      for (const CheckUpdate& update : of_.updates)
        if (update.name == name) Follow(update, &check);
      checks.push_back(std::move(check));
    }
    status_["admissionChecks"] = std::move(checks);
  }

  // One that was answered no stays so until its Workload has left; one that was answered yes may only be revoked.
  void Follow(const CheckUpdate& update, Json* check) {
    const std::string before = TextIn(*check, "state");
    if (before == "Retry" || before == "Rejected") return;
    if (before == "Ready" && update.state != "Rejected") return;
    if (before != update.state) (*check)["lastTransitionTime"] = base::FormatTime(of_.report.now_wall_ms);
    (*check)["state"] = update.state;
    (*check)["message"] = update.message;
    if (update.retry_count > 0) (*check)["retryCount"] = update.retry_count;
    if (!update.pod_set_updates.is_null()) (*check)["podSetUpdates"] = update.pod_set_updates;
    if (update.requeue_at_ms > 0)
      status_["requeueState"] = {{"count", update.retry_count}, {"requeueAt", base::FormatTime(update.requeue_at_ms)}};
  }

  const StatusOfWorkload& of_;
  Json conditions_;
  Json status_;
};

}  // namespace

Json WorkloadStatus(const StatusOfWorkload& of) { return Writer(of).Write(); }

bool IsPreemption(std::string_view evicted_reason) {
  return std::ranges::find(kPreemptions, evicted_reason) != std::end(kPreemptions);
}

std::string EvictedReason(std::string_view evicted_reason) {
  return std::string(IsPreemption(evicted_reason) ? "Preempted" : evicted_reason);
}

std::string EvictionText(std::string_view evicted_reason, std::string_view message) {
  for (const auto& [word, text] : kEvictions)
    if (word == evicted_reason) return std::string(text);
  return std::string(message);
}

std::string PodsReadyText(const model::GangKey& key) {
  return fmt::format("Exceeded the PodsReady timeout {}/{}", key.ns, key.name);
}

bool IsAdmitted(const GangReport& report, bool awaits_checks) {
  if (!report.quota.has || report.quota.has->evicted || awaits_checks) return false;
  return report.state == GangState::kAdmitted || report.state == GangState::kBinding ||
         report.state == GangState::kWhole || report.state == GangState::kFinished;
}

std::string PendingReason(const GangReport& report) {
  return report.state == GangState::kInvalid || report.quota.lacks_queue ? "Inadmissible" : "Pending";
}

std::string PendingText(const GangReport& report) {
  if (report.spec->quota && !report.spec->quota->barred.empty())
    return EvictionText(report.spec->quota->barred, report.quota.evicted_message);
  if (!report.quota.message.empty()) return report.quota.message;
  return report.spec->problem;
}

}  // namespace tutti::dialects::kueue
