// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/status.h"
#include "dialects/wording.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

constexpr const char* kAdmission = "kueue-admission";

const Json& ConditionsOf(const Entry& entry) { return Field(StatusOf(*entry.workload), "conditions"); }

// REQUIRES: it has one.
cluster::ObjectRef AboutWorkload(const Entry& entry) { return cluster::RefOf(entry.workload); }

std::string Priorities(const Entry& preemptor, const Entry& preemptee) {
  const auto of = [](const Entry& entry) {
    return fmt::format("effective priority: {0} (base: {0}, boost: 0)", entry.terms.priority);
  };
  return fmt::format("preemptor {}; preemptee {}", of(preemptor), of(preemptee));
}

class Teller {
 public:
  Teller(const Announced& of, std::vector<ObjectEvent>* out) : of_(of), out_(out) {}

  void Tell() {
    const bool first = of_.before.now_wall_ms == 0;
    const QuotaReport &before = of_.before.quota, &now = of_.now.quota;
    if (first && of_.entry.job && ConditionsOf(of_.entry).empty())
      OfJob("CreatedWorkload", fmt::format("Created Workload: {}/{}", of_.entry.key.ns, of_.entry.key.name));
    TellUpdate(first);
    TellExcess();
    TellUnheld(first);
    TellPending(first);
    if (now.has && !now.has->evicted && (!before.has || before.has->evicted) && !(first && Holds("QuotaReserved")))
      OfWorkload(false, "QuotaReserved", ReservedText(*now.has, now.has->queued_ms));
    const bool awaits = of_.now.spec->quota && of_.now.spec->quota->awaits_checks;
    const bool awaited = of_.before.spec && of_.before.spec->quota && of_.before.spec->quota->awaits_checks;
    if (IsAdmitted(of_.now, awaits) && !IsAdmitted(of_.before, awaited) && !(first && Holds("Admitted"))) {
      OfWorkload(false, "Admitted", AdmittedText(*now.has));
      // Where checks were asked again about an elastic job, it runs already.
      if (of_.entry.read.replaces.empty() || !of_.entry.job || of_.entry.IsHeld())
        OfJob("Started", fmt::format("Admitted by clusterQueue {}", now.has->leaf));
    }
    TellGrowth();
    TellEviction();
  }

  void TellEnd() {
    OfJob("FinishedWorkload",
          fmt::format("Workload '{}/{}' is declared finished", of_.entry.key.ns, of_.entry.key.name));
  }

 private:
  int64_t Seconds(base::Millis since_ms) const {
    return since_ms == 0 ? 0 : std::max<int64_t>(0, (of_.now.now_wall_ms - since_ms) / 1000);
  }
  std::string ReservedText(const model::HeldQuota& has, base::Millis queued_ms) const {
    return fmt::format("Quota reserved in ClusterQueue {}, wait time since queued was {}s", has.leaf,
                       Seconds(queued_ms));
  }
  std::string AdmittedText(const model::HeldQuota& has) const {
    return fmt::format("Admitted by ClusterQueue {}, wait time since reservation was {}s", has.leaf,
                       Seconds(has.reserved_ms));
  }
  // The Workload follows its job, which waits and was edited.
  void TellUpdate(bool first) {
    const auto &before = of_.before.spec ? of_.before.spec->quota : of_.now.spec->quota, &now = of_.now.spec->quota;
    if (first || !of_.entry.job || !before || !now || of_.before.quota.has || before->ask.uid != now->ask.uid) return;
    const std::string name = fmt::format("{}/{}", of_.entry.key.ns, of_.entry.key.name);
    if (!SameSets(*before, *now))
      OfJob("UpdatedWorkload", "Updated not matching Workload for suspended job: " + name);
    else if (before->ask.priority != now->ask.priority)
      OfJob("UpdatedWorkload", "Updated workload priority class: " + name);
  }

  // What is asked for each set; those of its pods that have ended are no less asked for.
  static bool SameSets(const model::QuotaTerms& a, const model::QuotaTerms& b) {
    const auto count = [](const model::QuotaTerms& terms, const model::RoleAsk& role) {
      const auto done = terms.done.find(role.name);
      return role.count + (done == terms.done.end() ? 0 : done->second);
    };
    return std::ranges::equal(a.ask.roles, b.ask.roles, [&](const model::RoleAsk& x, const model::RoleAsk& y) {
      return x.name == y.name && count(a, x) == count(b, y) && *x.pod == *y.pod;
    });
  }

  // Pods that have come, and are more than their group has, or of a shape that it does not have.
  void TellExcess() {
    const Entry& entry = of_.entry;
    if (!entry.is_group() || !entry.job_problem.empty()) return;
    for (const auto& [name, pod] : entry.pods)
      if (HasCome(pod) && IsStranger(pod, entry.sets))
        out_->push_back({cluster::RefOf(pod.object), true, "ErrWorkloadCompose", StrangerText(entry, pod.role),
                         entry.kind->reporter});
    if (of_.now.total <= of_.before.total) return;
    for (const std::string& name : ExcessOf(entry.Counts(), entry.pods))
      out_->push_back({cluster::RefOf(entry.pods.at(name).object), false, "ExcessPodDeleted", "Excess pod deleted",
                       entry.kind->reporter});
  }

  // The pod was created since the report before. The time of a creation has whole seconds.
  bool HasCome(const QueuedPod& pod) const { return pod.object->meta.created_ms + 1000 > of_.before.now_wall_ms; }
  static std::string StrangerText(const Entry& entry, const std::string& role) {
    std::vector<std::string> roles;
    for (const PodSet& set : entry.sets) roles.push_back(fmt::format("{} of role {}", set.count, Named(set.name)));
    return fmt::format(
        "it stays gated: group '{}' has its Workload, which is for {}, and this pod is of role {}. Give it the "
        "requests, node selector, affinity and tolerations of the other pods, or delete the group's Workload",
        entry.key.name, fmt::join(roles, ", "), Named(role));
  }

  // It makes pods, and has no quota: it has to stop.
  void TellUnheld(bool first) {
    const QuotaReport& now = of_.now.quota;
    const auto let_go = [](const GangReport& report) {
      return report.spec && report.spec->quota && report.spec->quota->released;
    };
    if (now.has || !now.evicted_reason.empty() || now.reason.empty() || !let_go(of_.now)) return;
    if (first || !let_go(of_.before) || of_.before.quota.reason.empty())
      OfJob("Stopped", "Not admitted by cluster queue");
  }

  bool Holds(std::string_view type) const { return IsTrue(ConditionsOf(of_.entry), type); }

  void TellPending(bool first) {
    if (of_.now.spec->quota && !of_.now.spec->quota->barred.empty()) return;  // its eviction says it
    const std::string text = of_.now.quota.has ? "" : PendingText(of_.now);
    if (text.empty() || (!first && !of_.before.quota.has && of_.before.spec && text == PendingText(of_.before))) return;
    const Json* said = FindCondition(ConditionsOf(of_.entry), "QuotaReserved");
    if (first && said && Field(*said, "message") == text) return;
    OfWorkload(!of_.old_words, of_.old_words ? "Pending" : PendingReason(of_.now), text);
  }

  // Of the Workload that is a larger form of the job's: why it waits, and that it has what the other had.
  void TellGrowth() {
    const Entry& entry = of_.entry;
    const QuotaReport &before = of_.before.quota, &now = of_.now.quota;
    if (!entry.next || !entry.job) return;
    const auto tell = [&](const std::shared_ptr<const model::Object>& about, bool warning, std::string_view reason,
                          const std::string& note) {
      out_->push_back({cluster::RefOf(about), warning, std::string(reason), note, kAdmission});
    };
    if (!now.more_message.empty() && now.more_message != before.more_message)
      tell(entry.next, !of_.old_words, "Pending", now.more_message);
    if (!now.has || now.has->evicted || !before.has || MembersOf(*now.has) <= MembersOf(*before.has)) return;
    tell(entry.workload, false, kSliceReplaced, ReplacedText(entry.next->meta.uid, entry.job->meta.uid));
    tell(entry.next, false, "QuotaReserved", ReservedText(*now.has, entry.next->meta.created_ms));
    if (!of_.now.spec->quota || !of_.now.spec->quota->has_checks)
      tell(entry.next, false, "Admitted", AdmittedText(*now.has));
  }
  static int64_t MembersOf(const model::HeldQuota& has) {
    int64_t members = 0;
    for (const model::HeldQuota::Role& role : has.roles) members += role.count;
    return members;
  }

  // Before it has left, or where it had nothing to leave.
  void TellEviction() {
    const QuotaReport &before = of_.before.quota, &now = of_.now.quota;
    if (now.evicted_reason.empty() || of_.eviction.empty()) return;
    const bool told = before.evicted_reason == now.evicted_reason && before.evictions == now.evictions;
    if (told || (of_.before.now_wall_ms == 0 && Holds("Evicted"))) return;
    const std::string reason = EvictedReason(now.evicted_reason);
    if (reason == fmt::format("{}{}", kDeactivatedBy, kExecutionExceeded))
      OfWorkload(true, std::string(kExecutionExceeded),
                 fmt::format("The maximum execution time ({}s) exceeded", of_.entry.read.terms.max_seconds));
    if (IsPreemption(now.evicted_reason)) {
      const std::string ranks =
          of_.preemptor && !of_.old_words ? "; " + Priorities(*of_.preemptor, of_.entry) : std::string();
      OfWorkload(false, "Preempted", of_.eviction + ranks);
      if (of_.preemptor && of_.preemptor->workload && now.has && !of_.old_words)
        out_->push_back({AboutWorkload(*of_.preemptor), false, "PreemptedWorkload",
                         fmt::format("Preempted workload {}/{} (UID: {}) in ClusterQueue {}{}", of_.entry.key.ns,
                                     of_.entry.key.name, of_.entry.workload->meta.uid, now.has->leaf, ranks),
                         kAdmission});
    }
    if (now.evicted_reason == kDeactivatedByCheck) TellRejection();
    if (now.evicted_reason == kWorkloadDeleted) return TellStop();
    OfWorkload(false, fmt::format("EvictedDueTo{}", reason), of_.eviction);
    TellStop();
  }
  void TellRejection() {
    for (const auto& check : of_.entry.read.checks)
      if (check.state == "Rejected")
        OfWorkload(true, "AdmissionCheckRejected",
                   OneLine(fmt::format("Deactivating workload because AdmissionCheck for {} was Rejected: {}",
                                       check.name, check.message)));
  }
  void TellStop() {
    if (of_.entry.job && of_.entry.IsLetGo()) OfJob("Stopped", of_.eviction);
  }

  void OfWorkload(bool warning, const std::string& reason, const std::string& note) {
    out_->push_back({AboutWorkload(of_.entry), warning, reason, note, kAdmission});
  }
  void OfJob(const std::string& reason, const std::string& note) {
    const Entry& entry = of_.entry;
    if (!entry.job) return;
    const auto tell = [&](const std::shared_ptr<const model::Object>& about) {
      out_->push_back({cluster::RefOf(about), false, reason, note, entry.kind->reporter});
    };
    if (entry.kind->pods != PodOwner::kGroup) return tell(entry.job);
    for (const auto& [name, pod] : entry.pods) tell(pod.object);
  }

  const Announced& of_;
  std::vector<ObjectEvent>* out_;
};

}  // namespace

// Why no Workload is made of a group of pods.
void TellGroupProblem(const Announced& of, std::vector<ObjectEvent>* out) {
  const Entry& entry = of.entry;
  const std::string &why = entry.job_problem, was = of.before.spec ? of.before.spec->problem : std::string();
  if (why.empty() || entry.pods.empty() || (of.before.now_wall_ms != 0 && was == of.now.spec->problem)) return;
  out->push_back({cluster::RefOf(entry.pods.begin()->second.object), true,
                  entry.lacks_name ? "WorkloadNameConflict" : "ErrWorkloadCompose", OneLine(why),
                  entry.kind->reporter});
}

void AnnounceSteps(const Announced& announced, std::vector<ObjectEvent>* out) {
  Teller teller(announced, out);
  const auto ended = [](const GangReport& report) { return report.spec && !report.spec->quota; };
  const Entry& entry = announced.entry;
  if (entry.is_group() && !entry.workload) TellGroupProblem(announced, out);
  if (entry.job && entry.End()) {
    if (ended(announced.now) && !ended(announced.before) && !entry.read.finished) teller.TellEnd();
    return;
  }
  if (!entry.ended() && entry.workload) teller.Tell();
}

}  // namespace tutti::dialects::kueue
