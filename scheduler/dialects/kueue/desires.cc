// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/desires.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/json.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/checks.h"
#include "dialects/kueue/deadlines.h"
#include "dialects/kueue/desired_pods.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/queue_status.h"
#include "dialects/kueue/status.h"
#include "dialects/pod_groups.h"

namespace tutti::dialects::kueue {

using base::Json;
using cluster::DesiredObject;

namespace {

// The job has nothing left that its Workload has to be kept for.
bool IsOver(const Entry& entry) { return !entry.job || entry.End() || !entry.IsLetGo(); }

// What was decided, and what there is.
struct Desires {
  const Decided& decided;
  const cluster::Unseen& unseen;
  std::vector<DesiredObject>* out;
  // As it is seen, or as it was created and is not seen yet; null: there is none.
  std::shared_ptr<const model::Object> workload;
  Json status;                      // the Workload's, with what was written since it was seen
  std::vector<std::string> checks;  // that it needs where it has quota now

  bool HasOrHad() const {
    return decided.report.quota.has.has_value() || IsTrue(Field(status, "conditions"), "QuotaReserved");
  }
};

// Where the members of each role are that has all of its places, in its flavor's topology.
std::map<std::string, Json> TopologyOf(const Decided& decided) {
  std::map<std::string, Json> out;
  const auto& has = decided.report.quota.has;
  if (!has) return out;
  for (const auto& role : has->roles) {
    const auto nodes = decided.report.nodes_by_role.find(role.name);
    if (nodes == decided.report.nodes_by_role.end()) continue;
    int64_t placed = 0;
    for (const auto& [node, count] : nodes->second) placed += count;
    if (placed != role.count) continue;
    for (const auto& [resource, name] : role.flavors)
      if (const auto flavor = decided.queues.DescribeFlavor(name); flavor && !flavor->levels.empty()) {
        Json assignment = TopologyAssignment(flavor->levels, nodes->second, decided.nodes);
        if (!assignment.is_null()) out.emplace(role.name, std::move(assignment));
        break;
      }
  }
  return out;
}

model::StringMap Sorted(model::StringMap map) {
  std::ranges::sort(map);
  return map;
}

// What the pods of each set are given: labels that say what they are, and what their flavors ask for.
std::vector<PodSetGrant> GrantsFor(const Decided& decided, const Json& status) {
  const Entry& entry = decided.entry;
  const Json& admission = Field(status, "admission");
  const std::string leaf = TextIn(admission, "clusterQueue");
  std::vector<PodSetGrant> grants;
  for (const PodSet& set : entry.sets) {
    PodSetGrant grant;
    grant.name = set.name;
    grant.count = set.count;
    grant.scheduler_name = decided.settings.scheduler_names.front();
    grant.labels = Sorted({{std::string(kPodSetLabel), set.name},
                           {std::string(kClusterQueueLabel), leaf},
                           {std::string(kLocalQueueLabel), entry.terms.queue}});
    grant.annotations = {{std::string(kWorkloadAnnotation), entry.key.name}};
    std::map<std::string, std::string> selector;
    for (const Json& assigned : ListIn(admission, "podSetAssignments")) {
      if (Field(assigned, "name") != set.name) continue;
      if (Field(assigned, "count").is_number_integer()) grant.count = CountIn(assigned, "count");
      Queues::FlavorTerms terms = decided.queues.TermsOf(assigned);
      selector.merge(std::move(terms.node_selector));
      for (Json& each : terms.tolerations) grant.tolerations.push_back(std::move(each));
    }
    grant.node_selector.assign(selector.begin(), selector.end());
    for (const Json& check : ListIn(status, "admissionChecks"))
      for (const Json& update : ListIn(check, "podSetUpdates")) {
        if (Field(update, "name") != set.name) continue;
        const auto take = [&](const char* field, model::StringMap* into) {
          if (!Field(update, field).is_object()) return;
          for (const auto& [key, value] : Field(update, field).items())
            if (value.is_string()) into->emplace_back(key, value);
          std::ranges::sort(*into);
        };
        take("labels", &grant.labels);
        take("annotations", &grant.annotations);
        take("nodeSelector", &grant.node_selector);
        for (const Json& each : ListIn(update, "tolerations")) grant.tolerations.push_back(each);
      }
    grants.push_back(std::move(grant));
  }
  return grants;
}

// It has quota and what else it needs, and does not have to give it back.
bool MayRun(const Desires& desires) {
  const auto& has = desires.decided.report.quota.has;
  return desires.workload && has && !has->evicted && IsTrue(Field(desires.status, "conditions"), "Admitted");
}

// How far the job may go, or the pods that are held one by one.
PodsTurn::Step StepOf(const Desires& desires) {
  using Step = PodsTurn::Step;
  const Entry& entry = desires.decided.entry;
  const QuotaReport& quota = desires.decided.report.quota;
  const bool is_told = IsTrue(Field(desires.status, "conditions"), "Evicted");
  // As long as the Workload says that it has to leave, it says what it had and not what it has.
  if (MayRun(desires)) return desires.workload->meta.deleting() || is_told ? Step::kWait : Step::kStart;
  if (entry.IsHeld()) return Step::kWait;
  // It has grown, and others are asked whether it may: its new pods wait for that. One that had to leave since then
  // has to be admitted as any other.
  const bool has_left = FindCondition(Field(desires.status, "conditions"), "Evicted") != nullptr;
  if (entry.IsElastic() && !entry.read.replaces.empty() && quota.has && !quota.has->evicted && !has_left)
    return Step::kWait;
  // Until its Workload says why, it runs on.
  if (quota.has && quota.has->evicted && !is_told && !entry.read.replaced) return Step::kWait;
  // An earlier leader, or Kueue, has started it, and its quota is not taken up yet.
  if (!quota.has && quota.reason.empty() && quota.evicted_reason.empty() && entry.read.has) return Step::kWait;
  return Step::kStop;
}

// The body that the job should have; nullopt: the one that it has.
std::optional<Json> WantedBody(const Desires& desires) {
  const Decided& decided = desires.decided;
  const Entry& entry = decided.entry;
  const auto stopped = [&](const Json& body) {
    return Stopped(*entry.kind, entry.sets, entry.of_workload.json, decided.settings.scheduler_names.front(), body);
  };
  const Json& body = *entry.job->body;
  const bool suspended = IsSuspended(*entry.kind, body),
             granted = entry.workload && HasGrants(*entry.kind, entry.sets, body);
  switch (StepOf(desires)) {
    case PodsTurn::Step::kStart:
      // An AppWrapper takes what its pods are given also while it is not suspended, and creates nothing before.
      if (!suspended && (granted || !entry.kind->is_wrapper)) return std::nullopt;
      // What an earlier admission has put into the templates goes first.
      return Started(*entry.kind, entry.sets, GrantsFor(decided, desires.status), granted ? stopped(body) : body);
    case PodsTurn::Step::kWait:
      if (!suspended || MayRun(desires) || entry.kind->free_templates) return std::nullopt;
      return granted && !IsReleased(*entry.kind, body) ? std::optional(stopped(body)) : std::nullopt;
    case PodsTurn::Step::kStop:
      return desires.workload && entry.kind->free_templates ? stopped(body) : Suspended(*entry.kind, body);
  }
  return std::nullopt;
}

// The name of the Workload that the job gets where it has none.
std::string NameOfNew(const Entry& entry) {
  return entry.job && entry.has_replaced_first ? NextSliceName(*entry.job, entry.newest) : entry.key.name;
}

cluster::ObjectRef RefOfNew(const Decided& decided, const std::string& name) {
  return cluster::NewRef(kGroup, decided.version, "workloads", "Workload", decided.entry.key.ns, name);
}

std::shared_ptr<const model::Object> WorkloadOf(const Decided& decided, const cluster::Unseen& unseen) {
  const Entry& entry = decided.entry;
  return entry.workload ? entry.workload : unseen.Created(RefOfNew(decided, NameOfNew(entry)));
}

Json LatestStatus(const std::shared_ptr<const model::Object>& workload, const cluster::Unseen& unseen) {
  Json status = StatusOf(*workload);
  if (const Json* written = unseen.Written(cluster::RefOf(workload)))
    if (const Json& change = Field(*written, "status"); change.is_object()) status.merge_patch(change);
  return status;
}

// The patch that makes `after` of the status as it is: either as it was seen, or, where a write of it is not seen yet,
// as `latest` has it.
Json StatusChange(const std::shared_ptr<const model::Object>& workload, const Json& latest, const Json& after) {
  Json change = MergeBetween(StatusOf(*workload), after);
  change.update(MergeBetween(latest, after), /*merge_objects=*/true);
  return change;
}

std::vector<std::string> ChecksOf(const Decided& decided) {
  const auto& has = decided.report.quota.has;
  if (!has) return {};
  std::set<std::string> flavors;
  for (const auto& role : has->roles)
    for (const auto& [resource, flavor] : role.flavors) flavors.insert(flavor);
  return decided.queues.ChecksOf(has->leaf, flavors);
}

bool AwaitsChecks(const std::vector<std::string>& checks, const Json& status) {
  const Json& states = Field(status, "admissionChecks");
  return std::ranges::any_of(checks, [&](const std::string& name) {
    if (!states.is_array()) return true;
    return std::ranges::none_of(
        states, [&](const Json& each) { return Field(each, "name") == name && Field(each, "state") == "Ready"; });
  });
}

// The pods that have no quota yet are not ready, and need not be.
const PodsReadyRule& RuleOf(const Decided& decided) {
  static const PodsReadyRule kNone;
  return decided.entry.next ? kNone : decided.settings.pods_ready;
}

std::optional<bool> PodsReady(const Decided& decided) {
  const Entry& entry = decided.entry;
  if (!RuleOf(decided).enabled || !entry.job) return std::nullopt;
  return !entry.IsHeld() && entry.IsReady();
}

// It is of a replica that is not to be any more, and has an owner still.
bool IsOfGoneReplica(const Entry& entry) {
  return entry.orphaned() && entry.pods.empty() && entry.workload->meta.Controller() &&
         model::Find(entry.workload->meta.annotations, kIsOfGroup);
}

// The job has more than its Workload says: the larger form has got the rest.
bool IsReplaced(const Desires& desires) {
  const Entry& entry = desires.decided.entry;
  const auto& has = desires.decided.report.quota.has;
  if (!entry.next || !has || has->evicted || !entry.read.has) return false;
  const auto count_of = [&](const std::string& role) {
    const auto at = std::ranges::find(has->roles, role, &model::HeldQuota::Role::name);
    return at == has->roles.end() ? 0 : at->count;
  };
  if (entry.read.replaced)
    return std::ranges::all_of(entry.of_next.roles, [&](const RoleRead& role) {
      return count_of(role.ask.name) == role.ask.count;
    });
  return std::ranges::any_of(entry.of_workload.roles, [&](const RoleRead& role) {
    return count_of(role.ask.name) > role.ask.count;
  });
}

// The Workload's status says that its larger form has replaced it.
bool IsToldReplaced(const Desires& desires) {
  const Json* finished = FindTrue(Field(desires.status, "conditions"), "Finished");
  return finished && TextIn(*finished, "reason") == kSliceReplaced;
}

// The pod sets of an elastic job that runs, and asks for fewer pods than its Workload. Null: it does not.
Json FewerPods(const Desires& desires) {
  const Entry& entry = desires.decided.entry;
  const auto& has = desires.decided.report.quota.has;
  if (!entry.IsElastic() || entry.next || !entry.workload || !has || has->evicted || !entry.IsLetGo()) return nullptr;
  Json sets = Resized(entry.of_workload.json, entry.sets);
  return ResizeBetween(entry.of_workload.json, sets) == Resize::kFewer ? sets : Json();
}

// The job, which is let go and has not all of its pods yet, asks for fewer than its Workload says: the others would be
// waited for. As in Kueue, it is stopped and gets another Workload.
bool IsShrunk(const Desires& desires) {
  const Entry& entry = desires.decided.entry;
  const GangState state = desires.decided.report.state;
  if (!entry.workload || !entry.job || entry.by_pods() || entry.IsElastic() || !entry.IsLetGo() || !MayRun(desires) ||
      (state != GangState::kAdmitted && state != GangState::kBinding))
    return false;
  return std::ranges::any_of(desires.decided.report.quota.has->roles, [&](const model::HeldQuota::Role& role) {
    const auto set = std::ranges::find(entry.sets, role.name, &PodSet::name);
    return set != entry.sets.end() && set->count < role.count;
  });
}

// What others count of pods that have ended well does not become less; but a JobSet may start again from the beginning.
std::optional<std::map<std::string, int64_t>> DoneNow(const Entry& entry) {
  if (!entry.job) return std::nullopt;
  std::map<std::string, int64_t> done = entry.Done();
  if (done.empty() && entry.kind->kind.kind != "JobSet") return std::nullopt;
  return done;
}

// The status of the Workload that the job has.
void DesireStatus(const Desires& desires) {
  const Decided& decided = desires.decided;
  const Entry& entry = decided.entry;
  const Json& before = desires.status;
  std::vector<CheckUpdate> updates;
  for (const Provisioning& one : ProvisioningOf(entry, decided.queues, desires.checks, before))
    updates.push_back(
        UpdateOf(one, decided.owned, IsTrue(Field(before, "conditions"), "Admitted"), decided.report.now_wall_ms));
  const Json after = WorkloadStatus({.before = before,
                                     .report = decided.report,
                                     .roles = entry.counted().roles,
                                     .end = entry.job ? entry.End() : std::nullopt,
                                     .checks = desires.checks,
                                     .topology = TopologyOf(decided),
                                     .updates = std::move(updates),
                                     .eviction = decided.eviction,
                                     .awaits_checks = AwaitsChecks(desires.checks, before),
                                     .pods_rule = RuleOf(decided),
                                     .pods_ready = PodsReady(decided),
                                     .done = DoneNow(entry),
                                     .absent = entry.AbsentPods(),
                                     .max_seconds = entry.read.terms.max_seconds,
                                     .replaced_by = entry.replaced_by,
                                     .old_words = decided.settings.kueue_0_8});
  Json change = StatusChange(desires.workload, before, after);
  if (!change.empty()) desires.out->push_back(WithStatus(desires.workload, std::move(change), AgreesWithoutTimes));
}

void DesireWorkload(const Desires& desires) {
  const Decided& decided = desires.decided;
  const Entry& entry = decided.entry;
  std::vector<DesiredObject>* const out = desires.out;
  const std::shared_ptr<const model::Object>& workload = desires.workload;
  if (!workload) {
    if (!entry.job || entry.job->meta.deleting() || !entry.spec.problem.empty() || entry.End() ||
        entry.IsScaledToZero())
      return;
    const std::string name = NameOfNew(entry);
    Json fields = NewWorkload(*entry.job, decided.version, name, entry.of_job.json, entry.terms);
    if (name != entry.key.name) fields["metadata"]["annotations"][std::string(kSliceName)] = entry.key.name;
    if (entry.by_pods()) NameAsGroups(entry, &fields["metadata"]);
    out->push_back(
        {.ref = RefOfNew(decided, name), .mode = DesiredObject::Mode::kExists, .fields = std::move(fields)});
    return;
  }
  if ((workload->meta.deleting() && IsOver(entry)) || entry.read.finished || (entry.read.replaced && !entry.job)) {
    if (HasFinalizer(*workload, kInUse)) out->push_back(WithoutFinalizer(workload, kInUse));
    return;
  }
  if (IsOfGoneReplica(entry) || (!workload->meta.deleting() && IsShrunk(desires))) {
    out->push_back({.ref = cluster::RefOf(workload), .mode = DesiredObject::Mode::kGone, .seen = workload});
    return;
  }
  if (Json owners = MissingOwners(entry); !owners.is_null()) {
    out->push_back(WithFields(workload, {{"metadata", {{"ownerReferences", std::move(owners)}}}}));
    return;
  }
  const Json& before = desires.status;
  if (entry.workload && entry.read.active && entry.spec.quota && entry.spec.quota->barred.starts_with(kDeactivatedBy)) {
    out->push_back(WithFields(workload, {{"spec", {{"active", false}}}}));
    return;
  }
  // The job may have moved to another queue, and got quota there, or been moved away, before its Workload could say so:
  // it is in the queue whose quota it has.
  const auto& has = decided.report.quota.has;
  const bool keeps = has && !has->evicted;
  if (entry.workload && entry.job && entry.job_problem.empty() && entry.IsHeld() && !entry.IsScaledToZero() &&
      !IsTrue(Field(before, "conditions"), "QuotaReserved") && !entry.InStep() &&
      (entry.kind->free_templates || !HasGrants(*entry.kind, entry.sets, *entry.job->body))) {
    // Where it has to start with its own templates, these are restored first.
    Terms terms = entry.terms;
    if (keeps) terms.queue = has->local_queue;
    DesiredObject follows = WithFields(workload, {{"spec", SpecFor(entry.of_job.json, terms)}});
    // Where nothing is left to write, its status has to go on.
    if (!follows.Agrees(*workload->body)) return out->push_back(std::move(follows));
  }
  if (keeps && has->local_queue != TextIn(Field(*workload->body, "spec"), "queueName")) {
    out->push_back(WithFields(workload, {{"spec", {{"queueName", has->local_queue}}}}));
    return;
  }
  if (entry.next && (entry.read.replaced || IsReplaced(desires))) return;  // it says what it had
  if (Json sets = FewerPods(desires); !sets.is_null()) {
    out->push_back(WithFields(workload, {{"spec", {{"podSets", std::move(sets)}}}}));
    return;
  }
  DesireStatus(desires);
}

// The status of the one that is to replace the Workload: why it waits; or, where `gets_all`, what it has, once the
// other is over.
void DesireNextStatus(const Desires& desires, bool gets_all) {
  const Decided& decided = desires.decided;
  const Entry& entry = decided.entry;
  const std::shared_ptr<const model::Object>& next = entry.next;
  if (gets_all && !entry.read.replaced) {
    const Json after = ReplacedStatus(desires.status, *next, entry.job->meta.uid, decided.report.now_wall_ms);
    Json change = StatusChange(desires.workload, desires.status, after);
    return desires.out->push_back(WithStatus(desires.workload, std::move(change), AgreesWithoutTimes));
  }
  GangReport report = decided.report;
  if (!gets_all) {
    report.quota = {};
    report.quota.reason = decided.report.quota.more_reason;
    report.quota.message = decided.report.quota.more_message;
  }
  const bool has_checks = !desires.checks.empty();
  const Json &seen = StatusOf(*next),
             before = gets_all ? SucceedingStatus(seen, desires.status, has_checks) : seen;
  const Json after = WorkloadStatus({.before = before,
                                     .report = report,
                                     .roles = entry.of_next.roles,
                                     .end = std::nullopt,
                                     .checks = desires.checks,
                                     .topology = gets_all ? TopologyOf(decided) : std::map<std::string, Json>(),
                                     .updates = {},
                                     .eviction = {},
                                     .awaits_checks = AwaitsChecks(desires.checks, before),
                                     .pods_rule = RuleOf(decided),
                                     .pods_ready = std::nullopt,
                                     .done = DoneNow(entry),
                                     .absent = std::nullopt,
                                     .max_seconds = entry.read.terms.max_seconds,
                                     .replaced_by = {},
                                     .old_words = decided.settings.kueue_0_8});
  Json change = MergeBetween(seen, after);
  if (!change.empty()) desires.out->push_back(WithStatus(next, std::move(change), AgreesWithoutTimes));
}

// The Workload that waits for more than an elastic job has, as long as that runs and asks for more.
void DesireNext(const Desires& desires) {
  const Decided& decided = desires.decided;
  const Entry& entry = decided.entry;
  const auto& has = decided.report.quota.has;
  if (!desires.workload || !entry.workload) return;
  const Json wanted = entry.IsElastic() ? Resized(entry.of_workload.json, entry.sets) : Json();
  const bool grows = !wanted.is_null() && !entry.ended() && !entry.job->meta.deleting() &&
                     (IsToldReplaced(desires) || ResizeBetween(entry.of_workload.json, wanted) == Resize::kMore);
  if (!entry.next) {
    if (!grows || !MayRun(desires) || !entry.IsLetGo()) return;
    const std::string name = NextSliceName(*entry.job, desires.workload->meta.name);
    Json fields = NewWorkload(*entry.job, decided.version, name, wanted, entry.terms);
    fields["metadata"]["annotations"][std::string(kReplaces)] =
        fmt::format("{}/{}", entry.key.ns, desires.workload->meta.name);
    return desires.out->push_back(
        {.ref = RefOfNew(decided, name), .mode = DesiredObject::Mode::kExists, .fields = std::move(fields)});
  }
  const bool gets_all = IsReplaced(desires);
  if (entry.next->meta.deleting()) {
    if (HasFinalizer(*entry.next, kInUse)) desires.out->push_back(WithoutFinalizer(entry.next, kInUse));
  } else if (!entry.job || (!gets_all && (!grows || (has && has->evicted && !entry.read.replaced)))) {
    desires.out->push_back({.ref = cluster::RefOf(entry.next), .mode = DesiredObject::Mode::kGone, .seen = entry.next});
  } else if (!gets_all && wanted != entry.of_next.json) {
    desires.out->push_back(WithFields(entry.next, {{"spec", SpecFor(wanted, entry.terms)}}));
  } else {
    DesireNextStatus(desires, gets_all);
  }
}

// Of the Workloads that the job had before nothing is left to do.
void DesireReplaced(const Desires& desires) {
  const Entry& entry = desires.decided.entry;
  for (const auto& [name, slice] : entry.slices) {
    if (slice.object == entry.workload || slice.object == entry.next) continue;
    const bool over = slice.read.finished || slice.read.replaced || slice.object->meta.deleting();
    if (over && HasFinalizer(*slice.object, kInUse)) desires.out->push_back(WithoutFinalizer(slice.object, kInUse));
    if (over || !entry.job || !entry.workload) continue;
    const Json& before = StatusOf(*slice.object);
    desires.out->push_back(WithStatus(slice.object,
                                      MergeBetween(before, ReplacedStatus(before, *entry.workload, entry.job->meta.uid,
                                                                          desires.decided.report.now_wall_ms)),
                                      AgreesWithoutTimes));
  }
}

void DesireChecks(const Desires& desires) {
  const Decided& decided = desires.decided;
  if (!desires.workload) return;
  std::vector<Provisioning> wanted;
  const auto& has = decided.report.quota.has;
  if (has && !has->evicted && IsTrue(Field(desires.status, "conditions"), "QuotaReserved"))
    wanted = ProvisioningOf(decided.entry, decided.queues, desires.checks, desires.status);
  DesireRequests(wanted, decided.entry, decided.owned, decided.queues, desires.workload, desires.status, desires.unseen,
                 desires.out);
}

// The step for pods that are held one by one, with what it needs.
PodsTurn TurnOf(const Desires& desires) {
  const Entry& entry = desires.decided.entry;
  PodsTurn turn{.now_ms = desires.decided.report.now_wall_ms};
  if (entry.ended() || !entry.job || !entry.by_pods()) return turn;
  turn.step = StepOf(desires);
  if (turn.step == PodsTurn::Step::kStart) turn.grants = GrantsFor(desires.decided, desires.status);
  if (turn.step != PodsTurn::Step::kStop) return turn;
  const auto& has = desires.decided.report.quota.has;
  const bool leaves = has && has->evicted;
  turn.reason = leaves ? "WorkloadEvicted" : "NotAdmitted";
  turn.message = leaves ? desires.decided.eviction : "Not admitted by cluster queue";
  return turn;
}

// How the job is suspended, started or stopped; nullopt: it is as it should be.
std::optional<DesiredObject> FlagOf(const Desires& desires) {
  const Entry& entry = desires.decided.entry;
  if (!entry.job_problem.empty() || EndOf(*entry.kind, *entry.job->body)) return std::nullopt;
  const std::optional<Json> wanted = WantedBody(desires);
  if (!wanted) return std::nullopt;
  Json change = MergeBetween(*entry.job->body, *wanted);
  if (change.empty()) return std::nullopt;
  // Before 1.36 the API server takes no change of a template while there is a start time.
  const bool has_started = !Field(StatusOf(*entry.job), "startTime").is_null();
  if (!entry.kind->free_templates && IsSuspended(*entry.kind, *entry.job->body) && has_started)
    return WithStatus(entry.job, {{"startTime", nullptr}}, AgreesWithoutTimes);
  return WithFields(entry.job, std::move(change));
}

// Returns as Dialect::Desire does.
base::Millis DesireJob(const Desires& desires) {
  const Decided& decided = desires.decided;
  const Entry& entry = decided.entry;
  if (entry.by_pods() || !entry.pods.empty()) DesirePods(entry, TurnOf(desires), desires.out);
  if (entry.by_pods() || !entry.job || entry.job->meta.deleting()) return 0;
  if (std::optional<DesiredObject> flag = FlagOf(desires)) {
    desires.out->push_back(*std::move(flag));
    return 0;
  }
  if (!entry.kind->is_wrapper || !decided.wrappers) return 0;
  const bool let_go = entry.job_problem.empty() && StepOf(desires) == PodsTurn::Step::kStart;
  return decided.wrappers->DesireOfJob(*entry.job, let_go, decided.report, desires.unseen, desires.out);
}

}  // namespace

base::Millis DesireAll(const Decided& decided, const cluster::Unseen& unseen, std::vector<DesiredObject>* out) {
  Desires desires{decided, unseen, out, WorkloadOf(decided, unseen), Json::object(), ChecksOf(decided)};
  if (desires.workload) desires.status = LatestStatus(desires.workload, unseen);
  DesireWorkload(desires);
  DesireNext(desires);
  DesireReplaced(desires);
  const base::Millis of_job_ms = DesireJob(desires);
  DesireChecks(desires);
  const bool holds = decided.report.quota.has && !decided.report.quota.has->evicted && !decided.entry.ended();
  const Deadline deadline =
      holds ? DeadlineOf(desires.status, decided.entry.read.terms.max_seconds, RuleOf(decided))
            : Deadline();
  const base::Millis of_queue_ms = deadline.at_ms > decided.report.now_wall_ms ? deadline.at_ms : 0;
  return of_job_ms == 0 || of_queue_ms == 0 ? std::max(of_job_ms, of_queue_ms) : std::min(of_job_ms, of_queue_ms);
}

}  // namespace tutti::dialects::kueue
