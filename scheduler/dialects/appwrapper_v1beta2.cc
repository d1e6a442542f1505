// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_v1beta2.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using base::Json;
using base::Millis;
using Items = WrapperWish::Items;

constexpr const char kQuota[] = "QuotaReserved", kDeployed[] = "ResourcesDeployed", kReady[] = "PodsReady",
                     kUnhealthy[] = "Unhealthy", kDeleting[] = "DeletingResources";
constexpr std::string_view kWrapperConditions[] = {kQuota, kDeployed, kReady, kUnhealthy, kDeleting};

std::string PhaseIn(const Json& status) { return TextIn(status, "phase"); }

// Why what runs is not what the spec has; empty: it is. Nothing that is edited while it runs is created.
std::string Mismatch(const WrapperFacts& facts) {
  if (std::string edit = facts.edit(); !edit.empty()) return edit;
  if (!facts.some_gone()) return {};
  const auto there = std::ranges::count_if(facts.items, &ItemStanding::ours);
  return fmt::format("Only found {} deployed components, but was expecting {}", there, facts.items.size());
}

// "/spec/template" as v1beta2 has it: "template.spec.template", "template.spec.workerGroupSpecs[0].template".
std::string TemplatePath(std::string_view pointer) {
  std::string path = "template";
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view step = pointer.substr(0, pointer.find('/'));
    const bool index = !step.empty() && step.find_first_not_of("0123456789") == step.npos;
    path += index ? fmt::format("[{}]", step) : fmt::format(".{}", step);
    pointer.remove_prefix(step.size());
  }
  return OneLine(path);
}

Json ComponentsOf(const WrapperFacts& facts, Uids uids) {
  Json list = ComponentStatus(facts, uids);
  for (size_t i = 0; i < facts.items.size(); ++i) {
    Json& sets = list[i]["podSets"] = Json::array();
    for (const PodSet& set : facts.spec.items[i].sets)
      sets.push_back({{"replicas", set.count}, {"path", TemplatePath(set.path)}});
  }
  return list;
}

// The next status in the making.
class PhaseNext {
 public:
  explicit PhaseNext(const WrapperFacts& facts) : facts_(facts), now_ms_(facts.report.now_wall_ms) {
    for (const Json& condition : ListIn(facts.status, "conditions")) {
      const std::string type = TextIn(condition, "type");
      if (std::ranges::find(kWrapperConditions, type) != std::end(kWrapperConditions) && !Find(type))
        conditions_.push_back(condition);
    }
  }

  const WrapperFacts& facts() const { return facts_; }
  Millis now_ms() const { return now_ms_; }
  const std::string& phase() const { return phase_; }
  // Goes on as if the status had the phase.
  void Enter(const char* phase) { phase_ = phase; }
  bool IsTrue(std::string_view type) const { return dialects::IsTrue(conditions_, type); }
  // When the condition last changed its status; now, where it is not there.
  Millis SinceMs(std::string_view type) const {
    const Json* condition = FindCondition(conditions_, type);
    const Millis since = condition ? TimeIn(*condition, "lastTransitionTime") : 0;
    return since == 0 ? now_ms_ : since;
  }

  void Set(const char* type, const char* status, const char* reason, const std::string& message = "") {
    Json* before = Find(type);
    Json entry = {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}};
    const std::string since = before ? TextIn(*before, "lastTransitionTime") : std::string();
    const bool same = before && TextIn(*before, "status") == status && !since.empty();
    entry["lastTransitionTime"] = same ? since : base::FormatTime(now_ms_);
    if (before)
      *before = std::move(entry);
    else
      conditions_.push_back(std::move(entry));
  }
  // False, where it was true.
  void Clear(const char* type, const char* reason, const std::string& message = "") {
    if (IsTrue(type)) Set(type, "False", reason, message);
  }

  WrapperWish In(const char* phase, Items items, Json more = Json::object()) && {
    more["phase"] = phase;
    more["conditions"] = std::move(conditions_);
    return {.items = items, .status = std::move(more)};
  }
  WrapperWish Unchanged(Items items) && {
    const std::string phase = phase_;
    return std::move(*this).In(phase.c_str(), items);
  }

 private:
  Json* Find(std::string_view type) {
    const auto at = std::ranges::find(conditions_, type, [](const Json& each) { return TextIn(each, "type"); });
    return at == conditions_.end() ? nullptr : &*at;
  }

  const WrapperFacts& facts_;
  const Millis now_ms_;
  std::string phase_ = PhaseIn(facts_.status);
  Json conditions_ = Json::array();
};

// It stays as it is until then.
WrapperWish WaitUntil(Millis until, PhaseNext next) {
  WrapperWish wish = std::move(next).Unchanged(Items::kLeave);
  wish.At(until);
  return wish;
}

// `counts`: the try was one of those that are limited.
WrapperWish ResetOrFail(PhaseNext next, bool counts = true) {
  const int64_t tries = CountIn(next.facts().status, "resettingCount");
  if (tries >= next.facts().spec.periods.retry_limit) return std::move(next).In("Failed", Items::kLeave);
  return std::move(next).In("Resetting", Items::kRemove, {{"resettingCount", tries + (counts ? 1 : 0)}});
}

// Its items are created, one after the other.
WrapperWish Creating(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  Json more = Json::object();
  if (IsRecorded(facts)) more["componentStatus"] = ComponentsOf(facts, Uids::kListed);
  return std::move(next).In("Resuming", Items::kCreate, std::move(more));
}

WrapperWish CreateFailed(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  const Millis until = next.SinceMs(kDeployed) + facts.spec.periods.admission_ms;
  if (!facts.hopeless && next.now_ms() < until) {
    WrapperWish wish = Creating(std::move(next));
    wish.At(until);
    return wish;
  }
  next.Set(kUnhealthy, "True", "CreateFailed", "error creating components: " + facts.failure);
  if (facts.hopeless) return std::move(next).In("Failed", Items::kRemove);
  return ResetOrFail(std::move(next));
}

WrapperWish OnRunning(PhaseNext next);

// All of it is created. How its pods are is said with that.
WrapperWish Deployed(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  next.Enter("Running");
  WrapperWish wish = OnRunning(std::move(next));
  wish.status["componentStatus"] = ComponentsOf(facts, Uids::kAll);
  if (wish.items != Items::kLeave) return wish;
  wish.items = Items::kCreate;  // what no feed shows stays known until it is listed
  wish.tells = true;
  return wish;
}

WrapperWish Deploy(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  for (const char* type : {kQuota, kDeployed})
    if (!next.IsTrue(type)) next.Set(type, "True", "Resuming", "Suspend is false");
  if (!facts.failure.empty()) return CreateFailed(std::move(next));
  for (const char* type : {kReady, kUnhealthy}) next.Set(type, "False", "Resuming", "Suspend is false");
  if (facts.all_there()) return Deployed(std::move(next));
  // A queue goes by the status.
  const bool silent = !IsRecorded(facts) && (facts.status.empty() || !facts.let_go);
  WrapperWish wish = Creating(std::move(next));
  if (silent) wish.status = nullptr;  // that it runs is said in a moment, and all of this with it
  return wish;
}

// What takes the list of items out of the status, once none of them is left.
Json WithoutList(const WrapperFacts& facts) {
  if (!facts.lists_none_left()) return Json::object();
  return {{"componentStatus", nullptr}};
}

WrapperWish BackToQueue(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  next.Set(kQuota, "False", facts.problem().empty() ? "Pending" : "Invalid", facts.why());
  next.Clear(kDeployed, "Pending");
  next.Clear(kReady, "Pending");
  return std::move(next).In("Suspended", Items::kRemove, WithoutList(facts));
}

// Nothing of it is there, or it is being created.
WrapperWish WhileWaiting(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  if (WasCreatedHere(facts.status) && next.phase() != "Resuming") {  // nothing is created while something is left
    if (!facts.none_left()) return std::move(next).Unchanged(Items::kRemove);
    return std::move(next).In("Suspended", Items::kLeave, {{"componentStatus", nullptr}});
  }
  // A queue that has let it go gets its quota back only when it has ended.
  if (facts.let_go.value_or(false) && !facts.problem().empty()) {
    next.Set(kUnhealthy, "True", "CreateFailed", facts.problem());
    return std::move(next).In("Failed", Items::kRemove);
  }
  if (facts.spec.suspended && (!facts.let_go || facts.problem().empty())) {
    if (!facts.none_left()) return std::move(next).In("Suspending", Items::kRemove);
    next.Set(kQuota, "False", "Suspended", "Suspend is true");
    return std::move(next).In("Suspended", Items::kLeave, WithoutList(facts));
  }
  // All was created, and the status does not say so yet: what becomes of it then is for a running one.
  if (facts.problem().empty() && facts.all_there()) return Deploy(std::move(next));
  if (!facts.why().empty()) return BackToQueue(std::move(next));
  if (facts.admitted()) return Deploy(std::move(next));
  const std::string phase = next.phase();
  return std::move(next).In(phase.empty() ? "Suspended" : phase.c_str(), Items::kLeave);
}

WrapperWish ToSucceeded(PhaseNext next) {
  const std::string message =
      fmt::format("{} pods succeeded and no running, pending, or failed pods", next.facts().report.succeeded);
  next.Set(kQuota, "False", "Succeeded", message);
  next.Set(kDeployed, "True", "Succeeded", message);
  return std::move(next).In("Succeeded", Items::kLeave);
}

WrapperWish Broken(PhaseNext next, const char* reason, const std::string& message) {
  next.Set(kUnhealthy, "True", reason, message);
  return ResetOrFail(std::move(next));
}

WrapperWish OnRunning(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  const GangReport& report = facts.report;
  const WrapperPeriods& periods = facts.spec.periods;
  const int64_t expected = facts.spec.PodCount(), up = report.running + report.succeeded,
                pending = report.pending + report.bound;
  if (facts.spec.suspended) return std::move(next).In("Suspending", Items::kRemove);
  if (const std::string mismatch = Mismatch(facts); !mismatch.empty()) {
    next.Set(kUnhealthy, "True", "MissingComponent", mismatch);
    return std::move(next).In("Failed", Items::kRemove);
  }
  if (facts.lost_all()) {
    const Millis until = next.SinceMs(kDeployed) + kLeastThereMs;
    if (next.now_ms() >= until) return BackToQueue(std::move(next));
    return WaitUntil(until, std::move(next));
  }
  if (const int64_t failed = facts.failed(); failed > 0)
    return Broken(std::move(next), "FailedComponent", fmt::format("Found {} failed components", failed));
  if (report.succeeded >= expected && report.total == report.succeeded) return ToSucceeded(std::move(next));
  if (report.failed > 0) {
    next.Set(kUnhealthy, "True", "FoundFailedPods");
    const Millis until = next.SinceMs(kUnhealthy) + periods.failure_ms;
    if (next.now_ms() >= until) return ResetOrFail(std::move(next));
    return WaitUntil(until, std::move(next));
  }
  next.Clear(kUnhealthy, "FoundNoFailedPods");
  if (up >= expected) {
    next.Set(kReady, "True", "SufficientPodsReady",
             fmt::format("{} pods running; {} pods succeeded", report.running, report.succeeded));
    return std::move(next).Unchanged(Items::kLeave);
  }
  const std::string counts =
      fmt::format("{} pods pending; {} pods running; {} pods succeeded", pending, report.running, report.succeeded);
  next.Set(kReady, "False", "InsufficientPodsReady", counts);
  const Millis until = next.SinceMs(kDeployed) + (pending + up >= expected ? periods.warmup_ms : periods.admission_ms);
  if (next.now_ms() >= until) return Broken(std::move(next), "InsufficientPodsReady", counts);
  return WaitUntil(until, std::move(next));
}

WrapperWish OnSuspending(PhaseNext next) {
  if (!next.facts().none_left()) return std::move(next).Unchanged(Items::kRemove);
  next.Clear(kDeployed, "Suspended", "Suspend is true");
  next.Set(kQuota, "False", "Suspended", "Suspend is true");
  next.Clear(kReady, "Suspended");
  next.Clear(kUnhealthy, "Suspended");
  return std::move(next).In("Suspended", Items::kLeave, {{"componentStatus", nullptr}});
}

// Its places are kept while it pauses.
WrapperWish OnResetting(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  if (facts.spec.suspended) return std::move(next).In("Suspending", Items::kRemove);
  next.Clear(kReady, "Resetting");
  if (next.IsTrue(kDeployed)) {
    if (!facts.none_left()) return std::move(next).Unchanged(Items::kRemove);
    next.Set(kDeployed, "False", "Resetting", "Resources deleted for resetting AppWrapper");
  }
  const Millis until = next.SinceMs(kUnhealthy) + facts.spec.periods.pause_ms;
  if (next.now_ms() < until) {
    WrapperWish wish = std::move(next).In("Resetting", Items::kLeave, {{"componentStatus", nullptr}});
    wish.At(until);
    return wish;
  }
  next.Set(kDeployed, "True", "Resuming", "Reset complete; resuming");
  next.Clear(kUnhealthy, "Resuming");
  return std::move(next).In("Resuming", Items::kLeave, {{"componentStatus", nullptr}});
}

WrapperWish OnFailed(PhaseNext next) {
  const WrapperFacts& facts = next.facts();
  if (facts.spec.periods.keep_failed_ms > 0 && !facts.spec.suspended && next.IsTrue(kDeployed)) {
    next.Set(kDeleting, "False", "DeletionPaused", "its deletionOnFailureGracePeriodDuration is not over");
    const Millis until = next.SinceMs(kDeleting) + facts.spec.periods.keep_failed_ms;
    if (next.now_ms() < until) return WaitUntil(until, std::move(next));
  }
  if (next.IsTrue(kDeployed)) {
    if (!facts.none_left()) return std::move(next).Unchanged(Items::kRemove);
    next.Set(kDeployed, "False", "Failed", "Resources deleted for failed AppWrapper");
  }
  next.Set(kQuota, "False", "Failed", "No resources deployed");
  return std::move(next).In("Failed", Items::kLeave);
}

WrapperWish OnSucceeded(PhaseNext next) {
  if (!next.IsTrue(kDeployed)) return {};
  const Millis ttl = next.facts().spec.periods.success_ttl_ms, until = next.SinceMs(kDeployed) + ttl;
  if (next.now_ms() < until) {
    WrapperWish wish;
    wish.At(until);
    return wish;
  }
  if (!next.facts().none_left()) return std::move(next).Unchanged(Items::kRemove);
  next.Set(kDeployed, "False", "Succeeded", fmt::format("Time to live after success of {}s expired", ttl / 1000));
  return std::move(next).In("Succeeded", Items::kLeave);
}

}  // namespace

bool QueuesV1beta2(const Json& status) {
  const std::string phase = PhaseIn(status);
  return phase != "Succeeded" && phase != "Failed" && phase != "Suspending";
}

bool IsDeployedV1beta2(const Json& status) { return PhaseIn(status) == "Running"; }

WrapperWish LifeOfV1beta2(const WrapperFacts& facts) {
  const std::string phase = PhaseIn(facts.status);
  PhaseNext next(facts);
  if (phase == "Running") return OnRunning(std::move(next));
  if (phase == "Suspending") return OnSuspending(std::move(next));
  if (phase == "Resetting") return OnResetting(std::move(next));
  if (phase == "Failed") return OnFailed(std::move(next));
  if (phase == "Succeeded") return OnSucceeded(std::move(next));
  if (phase == "Resuming" && facts.spec.suspended) return std::move(next).In("Suspending", Items::kRemove);
  return WhileWaiting(std::move(next));
}

}  // namespace tutti::dialects
