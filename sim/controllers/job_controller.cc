// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/job_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace tutti::sim {
namespace {

constexpr const char* kTrackingFinalizer = "batch.kubernetes.io/job-tracking";
constexpr const char* kIndexKey = "batch.kubernetes.io/job-completion-index";
constexpr base::Millis kFirstBackoffMs = 10'000;
constexpr base::Millis kLastBackoffMs = 600'000;
constexpr int64_t kMaxPodsAtOnce = 50'000;  // what a job may have active here, whatever it asks for

bool IsFinishedJob(const Json& job) { return IsTrue(job, "Complete") || IsTrue(job, "Failed"); }
bool IsIndexed(const Json& job) { return DigString(job, "spec", "completionMode") == "Indexed"; }
bool IsSuspended(const Json& job) { return BoolOf(Dig(job, "spec", "suspend")); }

int64_t IndexOf(const Json& pod) {
  const std::string& text = AnnotationOf(pod, kIndexKey);
  return text.empty() ? -1 : std::atoll(text.c_str());
}

// With a failure policy only pods that have Failed are replaced and counted, else those being deleted as well.
bool ReplacesTerminating(const Json& job) { return DigString(job, "spec", "podReplacementPolicy") != "Failed"; }

// --- The failure policy ---

bool MatchesConditions(const Json& rule, const Json& pod) {
  for (const Json& pattern : Child(rule, "onPodConditions")) {
    const std::string& wanted = DigString(pattern, "status");
    const Json& condition = ConditionOf(pod, DigString(pattern, "type"));
    if (!condition.is_null() && DigString(condition, "status") == (wanted.empty() ? "True" : wanted)) return true;
  }
  return false;
}

bool MatchesExitCodes(const Json& rule, const Json& pod) {
  const Json& wanted = Child(rule, "onExitCodes");
  if (wanted.is_null()) return false;
  const bool in = DigString(wanted, "operator") == "In";
  for (const Json& status : Dig(pod, "status", "containerStatuses")) {
    const std::string& container = DigString(wanted, "containerName");
    if (!container.empty() && container != DigString(status, "name")) continue;
    const int64_t code = IntOf(Dig(status, "state", "terminated", "exitCode"));
    if (code == 0) continue;
    const Json& values = Child(wanted, "values");
    const bool listed = std::any_of(values.begin(), values.end(), [&](const Json& v) { return IntOf(v) == code; });
    if (listed == in) return true;
  }
  return false;
}

// "Ignore", "FailJob", "Count": what the first rule that matches says; "Count" without any.
std::string FailureAction(const Json& job, const Json& pod) {
  for (const Json& rule : Dig(job, "spec", "podFailurePolicy", "rules")) {
    if (MatchesConditions(rule, pod) || MatchesExitCodes(rule, pod)) return DigString(rule, "action");
  }
  return "Count";
}

// --- Completed indexes: "1,3-5,7" ---

std::set<int64_t> ParseIndexes(const std::string& text) {
  std::set<int64_t> indexes;
  const char* at = text.c_str();
  while (*at) {
    char* end;
    const int64_t first = std::strtoll(at, &end, 10);
    int64_t last = first;
    if (*end == '-') last = std::strtoll(end + 1, &end, 10);
    for (int64_t i = first; i <= last; ++i) indexes.insert(i);
    at = *end == ',' ? end + 1 : end;
    if (*at && (*at < '0' || *at > '9')) break;
  }
  return indexes;
}

std::string FormatIndexes(const std::set<int64_t>& indexes) {
  std::string text;
  for (auto it = indexes.begin(); it != indexes.end();) {
    const int64_t first = *it;
    int64_t last = first;
    for (++it; it != indexes.end() && *it == last + 1; ++it) ++last;
    if (!text.empty()) text += ',';
    text +=
        first == last ? fmt::format("{}", first) : fmt::format("{}{}{}", first, last == first + 1 ? "," : "-", last);
  }
  return text;
}

void AddIndex(Json& pod, const Json& job, int64_t index) {
  const std::string text = std::to_string(index);
  pod["metadata"]["annotations"][kIndexKey] = text;
  pod["metadata"]["labels"][kIndexKey] = text;
  pod["metadata"]["generateName"] = fmt::format("{}-{}-", NameOf(job), index);
  pod["spec"]["hostname"] = fmt::format("{}-{}", NameOf(job), index);
  const Json env = {{"name", "JOB_COMPLETION_INDEX"},
                    {"valueFrom", {{"fieldRef", {{"fieldPath", fmt::format("metadata.labels['{}']", kIndexKey)}}}}}};
  for (const char* list : {"initContainers", "containers"}) {
    if (!pod["spec"].contains(list)) continue;
    for (Json& container : pod["spec"][list]) container["env"].push_back(env);
  }
}

}  // namespace

struct JobController::Tally {
  int64_t succeeded = 0, failed = 0, ready = 0, terminating = 0;
  std::vector<Object> active;
  std::set<int64_t> done_indexes;
  bool new_success = false, new_failure = false;
  std::optional<Condition> failure;  // the job is over, by this
  bool complete = false;
  std::optional<base::Millis> create_after_ms;  // back-off
};

void JobController::Observe(const WatchEvent& event) {
  if (event.resource == kJobs) {
    if (event.type == EventType::kDeleted) backoff_.erase(UidOf(*event.object));
    Enqueue(KeyFor(*event.object));
  }
  if (event.resource != kPods) return;
  const Json& owner = ControllerOf(*event.object);
  if (DigString(owner, "kind") != "Job") return;
  const std::string job = NamespaceOf(*event.object) + "/" + DigString(owner, "name");
  pods_.Put(KeyFor(*event.object), event.type == EventType::kDeleted ? "" : job);
  EnqueueOwner(*event.object, "Job");
}

void JobController::Reconcile(const ObjectKey& key) {
  const Object object = store_.Find(kJobs, key.ns, key.name);
  const std::vector<Object> pods = PodsOf(key, object ? UidOf(*object) : "");
  if (!object || IsTerminating(*object)) return;
  const Json& job = *object;
  if (const std::string& manager = DigString(job, "spec", "managedBy");
      !manager.empty() && manager != "kubernetes.io/job-controller") {
    return;
  }
  Tally tally;
  tally.succeeded = IntOf(Dig(job, "status", "succeeded"));
  tally.failed = IntOf(Dig(job, "status", "failed"));
  tally.done_indexes = ParseIndexes(DigString(job, "status", "completedIndexes"));
  for (const Object& pod : pods) CountPod(job, *pod, tally);
  if (IsFinishedJob(job)) {
    DeletePods(tally.active, tally.active.size());
    return CollectWhenDue(job);
  }
  Backoff& backoff = backoff_[UidOf(job)];
  if (tally.new_success) backoff = {};
  if (tally.new_failure) {
    ++backoff.failures;
    backoff.last_ms = clock_.MonotonicMs();
  }
  if (backoff.failures > 0) {
    const int doublings = std::min(backoff.failures - 1, 16);
    tally.create_after_ms = backoff.last_ms + std::min(kFirstBackoffMs << doublings, kLastBackoffMs);
  }
  DecideEnd(job, tally);
  Scale(job, tally);
  WriteStatus(job, tally);
}

// Those of the job with this uid; others of the name belong to one that is gone, and are not kept for it.
std::vector<Object> JobController::PodsOf(const ObjectKey& key, const std::string& uid) {
  std::vector<Object> own;
  for (Object& pod : pods_.Find(store_, key.ns + "/" + key.name)) {
    if (DigString(ControllerOf(*pod), "uid") == uid)
      own.push_back(std::move(pod));
    else
      RemoveFinalizer(*pod);
  }
  return own;
}

void JobController::CountPod(const Json& job, const Json& pod, Tally& tally) {
  const bool failed = PhaseOf(pod) == "Failed";
  const bool going = IsTerminating(pod) && !IsFinishedPod(pod);
  if (going) ++tally.terminating;
  if (!HasFinalizer(pod, kTrackingFinalizer)) return;
  if (PhaseOf(pod) == "Succeeded") {
    const int64_t index = IndexOf(pod);
    if (!IsIndexed(job) || tally.done_indexes.insert(index).second) ++tally.succeeded;
    tally.new_success = true;
    return RemoveFinalizer(pod);
  }
  if (failed || (going && (ReplacesTerminating(job) || IsSuspended(job)))) {
    RemoveFinalizer(pod);
    // Suspending takes pods back, it does not fail them.
    if (IsSuspended(job) && !failed) return;
    const std::string action = FailureAction(job, pod);
    tally.new_failure = true;
    if (action == "Ignore") return;
    ++tally.failed;
    if (action == "FailJob" && !tally.failure) {
      tally.failure =
          Condition{"Failed", "True", "PodFailurePolicy", fmt::format("Pod {} matching FailJob rule", KeyOf(pod))};
    }
    return;
  }
  if (going) return;
  tally.active.push_back(store_.Find(kPods, NamespaceOf(pod), NameOf(pod)));
  tally.ready += IsReadyPod(pod);
}

void JobController::RemoveFinalizer(const Json& pod) {
  if (!HasFinalizer(pod, kTrackingFinalizer)) return;
  store_.Modify(kPods, NamespaceOf(pod), NameOf(pod), [](Json& next) { DropFinalizer(next, kTrackingFinalizer); });
}

void JobController::DecideEnd(const Json& job, Tally& tally) {
  const int64_t limit = IntOf(Dig(job, "spec", "backoffLimit"), 6);
  if (!tally.failure && tally.failed > limit) {
    tally.failure = Condition{"Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  }
  const Json& deadline = Dig(job, "spec", "activeDeadlineSeconds");
  const auto started = base::ParseTime(DigString(job, "status", "startTime"));
  if (!tally.failure && deadline.is_number() && started && !IsSuspended(job)) {
    const base::Millis left = *started + IntOf(deadline) * 1000 - store_.now_ms();
    if (left > 0)
      EnqueueIn(KeyFor(job), left);
    else
      tally.failure = Condition{"Failed", "True", "DeadlineExceeded", "Job was active longer than specified deadline"};
  }
  if (tally.failure) return;
  const Json& completions = Dig(job, "spec", "completions");
  if (completions.is_number()) {
    tally.complete = tally.succeeded >= IntOf(completions);
  } else {
    tally.complete = tally.succeeded > 0 && tally.active.empty();
  }
}

void JobController::Scale(const Json& job, Tally& tally) {
  if (tally.failure || tally.complete || IsSuspended(job)) {
    DeletePods(tally.active, tally.active.size());
    tally.active.clear();
    tally.ready = 0;
    return;
  }
  const int64_t parallelism = std::min(IntOf(Dig(job, "spec", "parallelism"), 1), kMaxPodsAtOnce);
  const Json& completions = Dig(job, "spec", "completions");
  const int64_t active = int64_t(tally.active.size());
  int64_t wanted = parallelism;
  if (completions.is_number())
    wanted = std::min(parallelism, IntOf(completions) - tally.succeeded);
  else if (tally.succeeded > 0)
    wanted = std::min(parallelism, active);
  if (active > wanted) {
    SortForRemoval(&tally.active);
    DeletePods(tally.active, size_t(active - wanted));
    tally.active.erase(tally.active.begin(), tally.active.begin() + (active - wanted));
  }
  // Those on their way out still count where replacements must wait for them.
  if (!ReplacesTerminating(job)) wanted -= tally.terminating;
  if (active >= wanted) return;
  if (tally.create_after_ms && clock_.MonotonicMs() < *tally.create_after_ms) {
    return EnqueueIn(KeyFor(job), *tally.create_after_ms - clock_.MonotonicMs());
  }
  CreatePods(job, wanted - active, tally);
}

void JobController::CreatePods(const Json& job, int64_t count, Tally& tally) {
  std::set<int64_t> taken = tally.done_indexes;
  for (const Object& pod : tally.active) taken.insert(IndexOf(*pod));
  int64_t index = 0;
  for (int64_t i = 0; i < count; ++i) {
    Json pod = PodFromTemplate(Dig(job, "spec", "template"), job, NameOf(job) + "-");
    pod["metadata"]["finalizers"].push_back(kTrackingFinalizer);
    if (IsIndexed(job)) {
      while (taken.contains(index)) ++index;
      AddIndex(pod, job, index++);
    }
    const auto created = store_.Create(std::move(pod));
    if (!created) {
      Warn(job, "FailedCreate", fmt::format("Error creating: {}", created.error().message));
      return RetryLater(KeyFor(job));
    }
    tally.active.push_back(*created);
    Note(job, "SuccessfulCreate", "Created pod: " + NameOf(**created));
  }
  Succeeded(KeyFor(job));
}

void JobController::DeletePods(const std::vector<Object>& pods, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Json& pod = *pods[i];
    // The finalizer first: what the controller takes back itself is no failure.
    RemoveFinalizer(pod);
    store_.Delete(kPods, NamespaceOf(pod), NameOf(pod), {.uid = UidOf(pod)});
  }
}

void JobController::WriteStatus(const Json& job, const Tally& tally) {
  const base::Millis now = store_.now_ms();
  const bool suspended = IsSuspended(job);
  store_.Modify(
      kJobs, NamespaceOf(job), NameOf(job),
      [&](Json& next) {
        Json& status = next["status"];
        if (!status.is_object()) status = Json::object();
        const auto set = [&](const char* field, int64_t value) {
          if (value != 0)
            status[field] = value;
          else
            status.erase(field);
        };
        set("active", int64_t(tally.active.size()));
        set("succeeded", tally.succeeded);
        set("failed", tally.failed);
        status["ready"] = tally.ready;
        status["terminating"] = tally.terminating;
        status["uncountedTerminatedPods"] = Json::object();
        if (IsIndexed(job) && !tally.done_indexes.empty())
          status["completedIndexes"] = FormatIndexes(tally.done_indexes);
        if (suspended) {
          status.erase("startTime");
          SetCondition(next, {"Suspended", "True", "JobSuspended", "Job suspended"}, now);
        } else {
          if (!status.contains("startTime")) status["startTime"] = base::FormatTime(now);
          if (!ConditionOf(next, "Suspended").is_null())
            SetCondition(next, {"Suspended", "False", "JobResumed", "Job resumed"}, now);
        }
        if (tally.failure) {
          Condition target = *tally.failure;
          target.type = "FailureTarget";
          SetCondition(next, target, now);
          SetCondition(next, *tally.failure, now);
        } else if (tally.complete) {
          for (const char* type : {"SuccessCriteriaMet", "Complete"}) {
            SetCondition(next, {type, "True", "CompletionsReached", "Reached expected number of succeeded pods"}, now);
          }
          status["completionTime"] = base::FormatTime(now);
        }
      },
      Part::kStatus);
  if (tally.failure)
    Warn(job, tally.failure->reason, tally.failure->message);
  else if (tally.complete)
    Note(job, "Completed", "Job completed");
  if (suspended && !IsTrue(job, "Suspended")) Note(job, "Suspended", "Job suspended");
  if (!suspended && IsTrue(job, "Suspended")) Note(job, "Resumed", "Job resumed");
}

void JobController::CollectWhenDue(const Json& job) {
  const Json& ttl = Dig(job, "spec", "ttlSecondsAfterFinished");
  if (!ttl.is_number()) return;
  const char* type = IsTrue(job, "Complete") ? "Complete" : "Failed";
  const auto finished = base::ParseTime(DigString(ConditionOf(job, type), "lastTransitionTime"));
  if (!finished) return;
  const base::Millis left = *finished + IntOf(ttl) * 1000 - store_.now_ms();
  if (left > 0) return EnqueueIn(KeyFor(job), left);
  store_.Delete(kJobs, NamespaceOf(job), NameOf(job), {.uid = UidOf(job)});
}

}  // namespace tutti::sim
