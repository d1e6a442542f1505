// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_v1beta1.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "dialects/declaration.h"
#include "dialects/wording.h"
#include "model/gang_rank.h"
#include "model/quantity.h"

namespace tutti::dialects {
namespace {

using base::Json;
using base::Millis;
using Items = WrapperWish::Items;

constexpr std::string_view kMcadTypes[] = {
    "Init",    "Queueing", "HeadOfLine",       "Rejoining", "Backoff",   "Dispatched",
    "Running", "Failed",   "PreemptCandidate", "Deleted",   "Completed", "RunningHoldCompletion"};

// The words that callers of MCAD leave in `sender`.
constexpr const char kSetQueueing[] = "before manageQueueJob - setQueueing", kSetHol[] = "before ScheduleNext - setHOL",
                     kRejoining[] = "before backoff - Rejoining",
                     kDispatching[] = "before manageQueueJob - afterEtcdDispatching",
                     kSetRunning[] = "before [syncQueueJob] setRunning",
                     kPreempting[] = "before PreemptQueueJobs - CanRun: false",
                     kSetCompleted[] = "before [UpdateQueueJobs] setCompleted";

// A Pod is shown so long after its creation, or it has gone.
constexpr Millis kShownWithinMs = 60'000;

// As MCAD says it; the reason follows.
const std::string kInsufficient = "Insufficient resources to dispatch AppWrapper. ",
                  kOverQuota = "Insufficient quota and/or resources to dispatch AppWrapper. ";

std::string McadState(const Json& status) { return TextIn(status, "state"); }

// The next status in the making.
class McadNext {
 public:
  explicit McadNext(const WrapperFacts& facts) : facts_(facts), now_ms_(facts.report.now_wall_ms) {
    conditions_ = Json::array();
    for (const Json& condition : ListIn(facts.status, "conditions"))
      if (std::ranges::find(kMcadTypes, TextIn(condition, "type")) != std::end(kMcadTypes) &&
          conditions_.size() < kMost)
        conditions_.push_back(condition);
  }

  Millis now_ms() const { return now_ms_; }

  // Conditions are a log, with one entry for each type and reason. `again`: it became true once more.
  void Note(const char* type, const char* reason, const std::string& message = "", bool again = false) {
    Json entry = {{"type", type}, {"status", "True"}};
    if (*reason != '\0') entry["reason"] = reason;
    if (!message.empty()) entry["message"] = message;
    const auto at = std::ranges::find_if(conditions_, [&](const Json& each) {
      return TextIn(each, "type") == type && TextIn(each, "reason") == reason;
    });
    if (at != conditions_.end() && !again && TextIn(*at, "message") == message && TextIn(*at, "status") == "True")
      return;
    entry["lastUpdateMicroTime"] = Instant(0);
    entry["lastTransitionMicroTime"] = Instant(2);
    ++noted_;
    if (at == conditions_.end())
      conditions_.push_back(std::move(entry));
    else
      *at = std::move(entry);
  }
  Millis NotedMs(std::string_view type) const {
    const auto at = std::ranges::find(conditions_, type, [](const Json& each) { return TextIn(each, "type"); });
    return at == conditions_.end() ? 0 : TimeIn(*at, "lastTransitionMicroTime");
  }

  void Set(const char* state, const char* queue_job_state, const char* sender) {
    out_["state"] = state;
    out_["queuejobstate"] = queue_job_state;
    out_["sender"] = sender;
  }
  Json& out() { return out_; }
  // Instants of one write follow one another by millionths of a second.
  std::string Instant(int after) const {
    std::string text = base::FormatMicroTime(now_ms_);
    const size_t digits = text.size() - 4;
    return text.replace(digits, 3, fmt::format("{:03}", (3 * noted_ + after) % 1000));
  }
  Json Take() && {
    if (facts_.spec.priority_slope != 0) out_["systempriority"] = RisenPriority();
    out_["conditions"] = std::move(conditions_);
    return std::move(out_);
  }

 private:
  // As of the last that was noted: that it rises is no reason to write.
  double RisenPriority() const {
    Millis noted_ms = 0;
    for (const Json& each : conditions_) noted_ms = std::max(noted_ms, TimeIn(each, "lastTransitionMicroTime"));
    const double age_s = static_cast<double>(noted_ms - facts_.wrapper->meta.created_ms) / 1000;
    return facts_.spec.priority.value_or(0) + std::round(age_s * facts_.spec.priority_slope) / model::kSlopeUnit;
  }

  static constexpr size_t kMost = 32;
  const WrapperFacts& facts_;
  const Millis now_ms_;
  Json conditions_, out_ = Json::object();
  int noted_ = 0;
};

void SetCounts(const WrapperFacts& facts, Json* status) {
  const GangReport& report = facts.report;
  (*status)["pending"] = report.pending + report.bound;
  (*status)["running"] = report.running;
  (*status)["Succeeded"] = report.succeeded;
  (*status)["failed"] = report.failed;
}

void SetTotals(const WrapperFacts& facts, Json* status) {
  Total sum;
  for (const WrappedItem& item : facts.spec.items) {
    const Total total = TotalOf(DemandOf(item.promised));
    sum.cpu_milli = model::SaturatingAdd(sum.cpu_milli, total.cpu_milli);
    sum.memory = model::SaturatingAdd(sum.memory, total.memory);
    sum.gpus = model::SaturatingAdd(sum.gpus, total.gpus);
  }
  (*status)["totalcpu"] = sum.cpu_milli;
  (*status)["totalmemory"] = sum.memory;
  (*status)["totalgpu"] = std::min(sum.gpus, kLargestCount);
}

// Ray's pods are not counted by it: that an AppWrapper with them is Dispatched is the last that MCAD says.
bool TellsOfRunning(const WrapperSpec& spec) {
  return std::ranges::all_of(spec.items, [](const WrappedItem& item) { return item.kind->kind.group != "ray.io"; });
}

WrapperWish FailedBy(const WrapperFacts& facts, McadNext next, const char* reason, const std::string& message) {
  next.Note("Failed", reason, message, true);
  next.Set("Failed", "Failed", kDispatching);
  next.out()["canrun"] = false;
  next.out()["isdispatched"] = false;
  next.out()["message"] = message;
  SetCounts(facts, &next.out());
  return {.items = Items::kRemove, .status = std::move(next).Take()};
}

void SetRunning(const WrapperFacts& facts, McadNext* next) {
  const int64_t up = facts.report.running + facts.report.succeeded;
  const bool all_run = TellsOfRunning(facts.spec) && up > 0 && up >= facts.spec.PodCount();
  if (all_run) next->Note("Running", "PodsRunning");
  const bool runs = all_run || TextIn(facts.status, "queuejobstate") == "Running";
  next->Set("Running", runs ? "Running" : "Dispatched", runs ? kSetRunning : kDispatching);
}

WrapperWish DispatchedNow(const WrapperFacts& facts, McadNext next) {
  next.Note("HeadOfLine", "FrontOfQueue.");
  next.Note("Dispatched", "AppWrapperRunnable", "", true);
  SetRunning(facts, &next);
  Json& out = next.out();
  if (TextIn(facts.status, "controllerfirstdispatchtimestamp").empty())
    out["controllerfirstdispatchtimestamp"] = next.Instant(0);
  out["canrun"] = true;
  out["isdispatched"] = true;
  if (!TextIn(facts.status, "message").empty()) out["message"] = nullptr;
  out["componentStatus"] = ComponentStatus(facts, Uids::kAll);
  SetCounts(facts, &out);
  return {.items = Items::kCreate, .status = std::move(next).Take(), .tells = true};
}

// What it lists is deleted. Once all is gone it lists nothing, or a later leader would delete it again.
WrapperWish TakeAway(const WrapperFacts& facts) {
  if (!facts.lists_none_left()) return {.items = Items::kRemove};
  return {.status = {{"componentStatus", nullptr}}};
}

// Its items are created, one after the other.
bool IsBeingCreated(const Json& status) { return TextIn(status, "queuejobstate") == "HeadOfLine"; }

WrapperWish InQueue(const WrapperFacts& facts, McadNext next) {
  // It was dispatched before: nothing is created while something of that is left, or listed.
  if (WasCreatedHere(facts.status) && !IsBeingCreated(facts.status)) return TakeAway(facts);
  Json& out = next.out();
  out["filterignore"] = true;
  out["local"] = true;
  if (TextIn(facts.status, "controllerfirsttimestamp").empty()) out["controllerfirsttimestamp"] = next.Instant(0);
  out["systempriority"] = facts.spec.priority.value_or(0);
  if (facts.spec.problem.empty()) SetTotals(facts, &out);
  next.Note("Init", "");
  next.Note("Queueing", "AwaitingHeadOfLine");
  // All was created, and the status does not say so yet: what becomes of it then is for a running one.
  if (facts.problem().empty() && facts.all_there()) return DispatchedNow(facts, std::move(next));
  if (const std::string why = facts.why(); !why.empty()) {
    next.Note("HeadOfLine", "FrontOfQueue.");
    if (facts.report.state == GangState::kWaitingForQueue && facts.problem().empty())
      next.Note("Backoff", "quota limit exceeded", kOverQuota + why);
    else
      next.Note("Backoff", "AppWrapperNotRunnable.", facts.problem().empty() ? kInsufficient + why : why);
    next.Set("Pending", "Backoff", kRejoining);
    out["canrun"] = false;
    if (facts.lists_none_left()) out["componentStatus"] = nullptr;
    return {.items = Items::kRemove, .status = std::move(next).Take()};
  }
  if (!facts.admitted()) {
    next.Set("Pending", "Queueing", kSetQueueing);
    out["canrun"] = false;
    return {.status = std::move(next).Take()};
  }
  if (!facts.failure.empty() && facts.hopeless)
    return FailedBy(facts, std::move(next), "ItemCreationFailure.",
                    fmt::format("{} creation failure: {}",
                                Named(facts.wrapper->meta.ns + "/" + facts.wrapper->meta.name), facts.failure));
  next.Note("HeadOfLine", "FrontOfQueue.");
  next.Set("Pending", "HeadOfLine", kSetHol);
  out["canrun"] = true;
  if (!facts.failure.empty()) out["message"] = facts.failure;  // and it is tried again
  const bool records = IsRecorded(facts);
  if (records) out["componentStatus"] = ComponentStatus(facts, Uids::kListed);
  WrapperWish wish{.items = Items::kCreate, .status = std::move(next).Take()};
  if (!records && facts.failure.empty())
    wish.status = nullptr;  // that it is dispatched is said in a moment, and all of this with it
  return wish;
}

// It has no end of its own where no item names the conditions by which it ends.
bool HasCompleted(const WrapperFacts& facts) {
  bool any = false;
  for (size_t i = 0; i < facts.items.size(); ++i) {
    const std::string& conditions = facts.spec.items[i].completion;
    if (conditions.empty()) continue;
    if (!facts.items[i].ours || !HasConditionOf(*facts.items[i].seen, conditions)) return false;
    any = true;
  }
  return any;
}

// Its bare Pods had all succeeded, and are gone.
bool HasRunOut(const WrapperFacts& facts) {
  return facts.lost_bare_pods() && CountIn(facts.status, "Succeeded") >= facts.spec.PodCount();
}

WrapperWish PutBack(const WrapperFacts& facts, McadNext next, const char* reason, const std::string& why) {
  const int64_t times = std::min(CountIn(facts.status, "numberOfRequeueings") + 1, kLargestCount);
  next.Note("PreemptCandidate", reason, why, true);
  Json& out = next.out();
  out["canrun"] = false;
  out["isdispatched"] = false;
  out["numberOfRequeueings"] = times;
  out["requeueingTimeInSeconds"] = PauseAfter(facts.spec.requeuing, times) / 1000;
  SetCounts(facts, &out);
  if (facts.spec.requeuing.most > 0 && times > facts.spec.requeuing.most) {
    next.Note("Deleted", "", why, true);
    next.Set("Deleted", "Deleted", kPreempting);
  } else {
    next.Note("Backoff", "PreemptionTriggered", why, true);
    next.Set("Pending", "Backoff", kPreempting);
  }
  return {.items = Items::kRemove, .status = std::move(next).Take()};
}

WrapperWish WhileRunning(const WrapperFacts& facts, McadNext next) {
  const Requeuing& requeuing = facts.spec.requeuing;
  const GangReport& report = facts.report;
  const Millis dispatched_ms = next.NotedMs("Dispatched");
  WrapperWish wish;
  Json& out = next.out();
  const bool has_run_out = HasRunOut(facts);
  if (!has_run_out) SetCounts(facts, &out);
  if (const std::string edit = facts.edit(); !edit.empty())
    out["message"] = edit;
  else if (!TextIn(facts.status, "message").empty())
    out["message"] = nullptr;
  if (HasCompleted(facts) || has_run_out) {
    const bool pods = facts.active() > 0;
    next.Note(pods ? "RunningHoldCompletion" : "Completed", pods ? "SomeItemsCompleted" : "PodsCompleted");
    next.Set(pods ? "RunningHoldCompletion" : "Completed", pods ? "RunningHoldCompletion" : "Completed", kSetCompleted);
    if (!pods) out["canrun"] = false;
    wish.status = std::move(next).Take();
    return wish;
  }
  if (facts.lost_all()) {
    const Millis until = dispatched_ms + kLeastThereMs;
    if (next.now_ms() >= until) return PutBack(facts, std::move(next), "PodsFailedScheduling", facts.why());
    wish.At(until);
  }
  if (facts.lost_bare_pods() || facts.lacks_pods()) {
    const Millis until = dispatched_ms + kShownWithinMs;
    const bool ran = facts.lost_bare_pods() && TextIn(facts.status, "queuejobstate") == "Running";
    if (ran || next.now_ms() >= until)
      return PutBack(facts, std::move(next), "PodsFailedScheduling", "its pods are gone");
    wish.At(until);
  }
  if (requeuing.dispatch_limit_ms > 0) {
    const Millis until = TimeIn(facts.status, "controllerfirstdispatchtimestamp") + requeuing.dispatch_limit_ms;
    if (next.now_ms() >= until) {
      const std::string why = fmt::format("it was dispatched {} s ago, which is its dispatchDuration.limit",
                                          requeuing.dispatch_limit_ms / 1000);
      next.Note("PreemptCandidate", "DispatchDeadlineExceeded", why);
      return FailedBy(facts, std::move(next), "DispatchDeadlineExceeded", why);
    }
    wish.At(until);
  }
  const int64_t up = report.running + report.succeeded;
  if (up < requeuing.min_available && dispatched_ms > 0) {
    const Millis until = dispatched_ms + PauseAfter(requeuing, CountIn(facts.status, "numberOfRequeueings"));
    if (next.now_ms() >= until)
      return PutBack(facts, std::move(next), "MinPodsNotRunning",
                     fmt::format("{} pods run or have succeeded, and minAvailable is {}", up, requeuing.min_available));
    wish.At(until);
  }
  SetRunning(facts, &next);
  wish.status = std::move(next).Take();
  return wish;
}

}  // namespace

bool QueuesV1beta1(const Json& status) {
  const std::string state = McadState(status);
  return state.empty() || state == "Pending" || state == "Running";
}

bool IsDispatchedV1beta1(const Json& status) { return McadState(status) == "Running"; }

bool HaveAllEndedV1beta1(const Json& status) {
  return CountIn(status, "pending") == 0 && CountIn(status, "running") == 0 &&
         (CountIn(status, "Succeeded") > 0 || CountIn(status, "failed") > 0);
}

WrapperWish LifeOfV1beta1(const WrapperFacts& facts) {
  const std::string state = McadState(facts.status);
  if (state == "Completed") return {};
  if (state == "Failed" || state == "Deleted") return TakeAway(facts);
  if (state == "Running" || state == "RunningHoldCompletion") return WhileRunning(facts, McadNext(facts));
  return InQueue(facts, McadNext(facts));
}

}  // namespace tutti::dialects
