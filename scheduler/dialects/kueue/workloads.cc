// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/workloads.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/appwrapper_spec.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/checks.h"
#include "dialects/kueue/deadlines.h"
#include "dialects/kueue/names.h"
#include "dialects/wording.h"
#include "model/quantity.h"

namespace tutti::dialects::kueue {

using base::Json;
using cluster::JsonField;
using cluster::JsonReader;

namespace {

// Whether all that a job declares is the same, by the cluster that it has by now, too; its status may be another.
bool SameDeclaration(const model::Object& a, const model::Object& b) {
  return a.meta.uid == b.meta.uid && *a.meta.labels == *b.meta.labels && a.meta.annotations == b.meta.annotations &&
         Field(*a.body, "spec") == Field(*b.body, "spec") &&
         Field(StatusOf(a), kRayClusterName) == Field(StatusOf(b), kRayClusterName);
}

// Whether pods of the set are members in the same way.
bool SameHeads(const PodSet& a, const PodSet& b) {
  return a.name == b.name && a.head == b.head && a.needs_head == b.needs_head;
}

// The class that its first pod set with one names.
std::string PodClassOf(const SetsRead& sets) {
  for (const Json& set : AsList(sets.json))
    if (const Json& name = Field(Field(Field(set, "template"), "spec"), "priorityClassName");
        name.is_string() && !name.get_ref<const std::string&>().empty())
      return name;
  return {};
}

// Whether the job grows, and its larger form differs from its Workload in counts alone: a user may have written it.
bool NextCounts(const Entry& entry) {
  if (!entry.next || !entry.IsElastic()) return false;
  const Json wanted = Resized(entry.of_workload.json, entry.sets);
  if (wanted.is_null() || wanted != Resized(entry.of_next.json, entry.sets)) return false;
  return entry.read.replaced || ResizeBetween(entry.of_workload.json, wanted) == Resize::kMore;
}

// The pod sets that the entry asks for.
const SetsRead& AskedSets(const Entry& entry) {
  if (!entry.next) return entry.counted();
  return NextCounts(entry) ? entry.of_next : entry.of_workload;
}

// The same by role. A job that changes its size again before its Workloads say the last one keeps what it was given, as
// far as it still asks for that; more than a Workload says it does not ask for yet.
std::vector<RoleRead> AskedRoles(const Entry& entry) {
  std::vector<RoleRead> roles = AskedSets(entry).roles;
  if (!NextCounts(entry)) return roles;
  for (RoleRead& role : roles) {
    const auto now = std::ranges::find_if(entry.of_workload.roles,
                                          [&](const RoleRead& of) { return of.ask.name == role.ask.name; });
    if (now != entry.of_workload.roles.end()) role.ask.count = std::max(role.ask.count, now->ask.count);
    if (const auto set = std::ranges::find(entry.sets, role.ask.name, &PodSet::name); set != entry.sets.end())
      role.ask.count = std::min(role.ask.count, set->count);
    if (role.ask.min_count) role.ask.min_count = std::min(*role.ask.min_count, role.ask.count);
  }
  return roles;
}

// The request in the labels that nodes have for its levels.
model::TopologyRequest Labelled(model::TopologyRequest request, const Queues& queues, const std::string& leaf) {
  const auto label = [&](std::string* level) {
    if (!level->empty()) *level = queues.LabelFor(leaf, *level);
  };
  label(&request.required);
  for (std::string& level : request.preferred) label(&level);
  label(&request.slice_level);
  for (model::TopologyRequest::Layer& layer : request.inner_slices) label(&layer.level);
  return request;
}

// Checks are asked again about an elastic job that runs: its larger form waits for them, or will once it has quota.
bool HoldsNew(const Entry& entry) {
  const auto& quota = entry.spec.quota;
  if (!quota || !quota->has_checks || !entry.IsElastic() || entry.IsHeld()) return false;
  return NextCounts(entry) || (quota->awaits_checks && !entry.read.replaces.empty());
}

// Why nothing of an AppWrapper that has not begun can be created. Empty: it can, or another controller knows.
std::string WhyNotCreated(const JobKind& kind, const model::Object& wrapper, const DialectSettings& settings) {
  if (!IsSuspended(kind, *wrapper.body) && kind.is_active(StatusOf(wrapper))) return {};
  WrapperSpec spec = ReadWrapper(wrapper, settings);
  return spec.foreign ? std::string() : std::move(spec.fault);
}

// Why the gang may not have quota, by a word of the rule; empty: it may. `refused`: by the admission checks.
std::string BarredBy(const Entry& entry, const model::QuotaTerms& quota, const std::string& refused) {
  if (entry.read.deactivates == kExecutionExceeded || entry.read.deactivates == kRequeuesExceeded)
    return fmt::format("{}{}", kDeactivatedBy, entry.read.deactivates);
  if (quota.has && quota.has->evicted && entry.read.evicted_reason == kPodsReadyTimeout)
    return std::string(kPodsReadyTimeout);
  if (!refused.empty()) return refused;
  if (entry.IsScaledToZero()) return std::string(kOnHold);
  if (!quota.has && !entry.read.evicted_reason.empty() && entry.AbsentPods().value_or(0) > 0)
    return std::string(kLacksPods);  // it had to leave, and others are to come for the pods that it had
  if (!entry.read.active) return "Deactivated";
  if (entry.job && entry.workload && entry.workload->meta.deleting()) return std::string(kWorkloadDeleted);
  return {};
}

}  // namespace

void ReadSets(Json json, std::string_view ns, const std::vector<std::string>& scheduler_names, SetsRead* into) {
  if (json == into->json) return;
  into->json = std::move(json);
  into->limits.reset();
  JsonReader read;
  const JsonField sets(into->json);
  into->roles = ReadPodSets(read, sets, ns, scheduler_names);
  into->problem.clear();
  if (read.ok()) return;
  const std::string problem = read.problem();  // "[0].template: ...", or of all of them
  into->problem = fmt::format("spec.podSets{}{}", problem.starts_with('[') ? "" : ": ", problem);
}

const std::vector<model::ObjectKind>& Workloads::Kinds() {
  static const std::vector<model::ObjectKind> kinds{
      {std::string(kGroup), "workloads", "Workload", {"v1beta2", "v1beta1"}, "", /*is_record=*/true},
      {std::string(kGroup), "workloadpriorityclasses", "WorkloadPriorityClass", {"v1beta2", "v1beta1"}},
      PriorityClasses::Kind()};
  return kinds;
}

// --- Objects ---

Entry& Workloads::Open(const Place& place) {
  Entry& entry = entries_[place];
  entry.key = {std::string(kDialect), place.first, place.second};
  return entry;
}

void Workloads::PutJob(const JobKind& kind, const std::shared_ptr<const model::Object>& object, Touched* touched) {
  if (kind.kind.kind == "RayCluster") PutCluster(*object, touched);
  bool waits = WaitsInQueue(*object);
  // Pods that are not held are left to run; where there are none, those to come can be.
  if (waits && kind.by_pods() && !MarkedTemplates(*object).is_null())
    waits = HasNoReadyPods(*object);
  else if (kind.pods == PodOwner::kDeployment)
    waits = false;
  if (kind.pods == PodOwner::kLeaderWorkerSet) return PutReplicas(kind, *object, waits, touched);
  const JobPlace job{kind.kind.Name(), object->meta.ns, object->meta.name};
  if (!waits) return DropOne(job, touched);
  const auto name = [&] {
    return WorkloadName(kind.kind.kind, kind.kind.group, object->meta.name, object->meta.uid);
  };
  PutOne(kind, object, job, name, touched);
}

void Workloads::PutOne(const JobKind& kind, const std::shared_ptr<const model::Object>& object, const JobPlace& job,
                       const std::function<std::string()>& name, Touched* touched) {
  const auto known = jobs_.find(job);
  if (known != jobs_.end() && entries_.at(known->second).job->meta.uid == object->meta.uid)
    return ReadJob(kind, object, entries_.at(known->second), touched);
  DropOne(job, touched);  // it was another job of that name
  ReadJob(kind, object, Open(jobs_[job] = {object->meta.ns, name()}), touched);
}

void Workloads::ReadJob(const JobKind& kind, const std::shared_ptr<const model::Object>& object, Entry& entry,
                        Touched* touched) {
  const std::shared_ptr<const model::Object> before = std::exchange(entry.job, object);
  if (before && *before->body == *object->body) return;
  entry.kind = &kind;
  if (!before) TakeSlices(entry);
  if (before && SameDeclaration(*before, *object)) return Read(entry, touched);
  ReadDeclared(entry, touched);
}

void Workloads::ReadDeclared(Entry& entry, Touched* touched) {
  const JobKind& kind = *entry.kind;
  const std::shared_ptr<const model::Object>& object = entry.job;
  const std::vector<PodSet> sets_before = entry.sets;
  entry.job_problem = WhyNotHeld(kind, *object->body);
  if (!kind.by_pods() && !TakesFlag(kind, *object->body))
    entry.job_problem = fmt::format("{} has no place for its flag", kind.suspend);
  if (kind.by_pods() && !MarkedTemplates(*object).is_null())
    entry.job_problem = fmt::format("its pod template has no label {}, so its pods would not wait", kQueueLabel);
  if (auto sets = SetsOf(*object->body)) {
    entry.sets = std::move(*sets);
    if (entry.IsElastic()) TakeSizes(entry);
    ReadSets(PodSetsFor(*object->body, entry.sets), object->meta.ns, settings_.scheduler_names, &entry.of_job);
    ReadSets(LateSetsOf(*object->body, entry.sets), object->meta.ns, settings_.scheduler_names, &entry.late);
    if (entry.job_problem.empty()) entry.job_problem = entry.of_job.problem;
    if (entry.job_problem.empty() && !kind.by_pods() && IsSuspended(kind, *object->body))
      entry.job_problem = WrongTermIn(*object->body);
  } else if (entry.job_problem.empty()) {
    entry.job_problem = sets.error().message;
  }
  if (entry.job_problem.empty() && kind.is_wrapper) entry.job_problem = WhyNotCreated(kind, *object, settings_);
  if (!std::ranges::equal(sets_before, entry.sets, SameHeads)) touched->members.insert(entry.key);
  Read(entry, touched);
}

void Workloads::DropJob(const JobKind& kind, std::string_view ns, std::string_view name, Touched* touched) {
  if (kind.kind.kind == "RayCluster") DropCluster(ns, name, touched);
  if (kind.pods == PodOwner::kItself) return DropPod(ns, name, touched);
  if (kind.pods != PodOwner::kLeaderWorkerSet)
    return DropOne({kind.kind.Name(), std::string(ns), std::string(name)}, touched);
  const auto known = replicas_.find({std::string(ns), std::string(name)});
  if (known == replicas_.end()) return;
  for (int64_t i = 0; i < known->second.count; ++i)
    DropOne({kind.kind.Name(), std::string(ns), fmt::format("{}/{}", name, i)}, touched);
  replicas_.erase(known);
}

void Workloads::DropOne(const JobPlace& job, Touched* touched) {
  const auto at = jobs_.find(job);
  if (at == jobs_.end()) return;
  const Place place = at->second;
  jobs_.erase(at);
  Entry& entry = entries_.at(place);
  if (!entry.sets.empty()) touched->members.insert(entry.key);
  entry.ForgetJob();
  TakeSlices(entry);
  CloseIfEmpty(place, touched);
}

void Workloads::PutWorkload(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  const Place own{object->meta.ns, object->meta.name};
  Place place{own.first, FirstSliceOf(*object).value_or(own.second)};
  if (HasAllSlices(place, own.second)) place = own;
  if (PlaceOfSlice(own) != place) DropWorkload(own.first, own.second, touched);
  if (place != own && slices_.emplace(own, place).second)
    touched->members.insert({std::string(kDialect), own.first, own.second});
  Entry& entry = Open(place);
  if (entry.LacksWorkload()) touched->members.insert(entry.key);
  Slice& slice = entry.slices[own.second];
  const std::shared_ptr<const model::Object> before = std::exchange(slice.object, object);
  if (before && entry.workload == before) entry.workload = object;
  if (before && entry.next == before) entry.next = object;
  if (before && *before->body == *object->body) return;
  if (!model::Find(object->meta.annotations, kIsOfGroup)) MoveGroupAway(place, touched);
  slice.read = ReadWorkload(*object);
  TakeSlices(entry);
  ReadPods(entry, touched);
}

void Workloads::DropWorkload(std::string_view ns, std::string_view name, Touched* touched) {
  const Place own{std::string(ns), std::string(name)}, place = PlaceOfSlice(own);
  if (slices_.erase(own) > 0) touched->members.insert({std::string(kDialect), own.first, own.second});
  const auto at = entries_.find(place);
  if (at == entries_.end()) return;
  if (own == place) at->second.has_replaced_first = false;
  if (at->second.slices.erase(own.second) == 0) return;
  TakeSlices(at->second);
  if (at->second.LacksWorkload()) touched->members.insert(at->second.key);
  CloseIfEmpty(place, touched);
}

void Workloads::CloseIfEmpty(const Place& place, Touched* touched) {
  const auto at = entries_.find(place);
  if (at->second.job || !at->second.slices.empty() || !at->second.pods.empty()) return ReadPods(at->second, touched);
  TellReplaced(at->second, std::nullopt, touched);
  Index(at->second, at->second.terms, false);
  touched->gangs.insert(at->second.key);
  entries_.erase(at);
  MoveGroupBack(place, touched);
}

void Workloads::PutOwned(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  const model::OwnerReference* owner = object->meta.Controller();
  if (!owner || owner->kind != "Workload" || !owner->api_version.starts_with(kGroup)) return;
  const Place place = PlaceOfSlice({object->meta.ns, owner->name});
  const bool is_request = object->kind == RequestKind().kind;
  owners_[{(is_request ? RequestKind() : TemplateKind()).Name(), object->meta.ns, object->meta.name}] = place;
  Owned& owned = owned_[place];
  std::shared_ptr<const model::Object>& kept = (is_request ? owned.requests : owned.templates)[object->meta.name];
  const bool same = kept && *kept->body == *object->body;
  kept = object;
  if (same) return;
  touched->desires.insert({std::string(kDialect), place.first, place.second});
}

void Workloads::DropOwned(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) {
  const auto owner = owners_.find({std::string(kind_name), std::string(ns), std::string(name)});
  if (owner == owners_.end()) return;
  const Place place = owner->second;
  owners_.erase(owner);
  const auto owned = owned_.find(place);
  (kind_name == RequestKind().Name() ? owned->second.requests : owned->second.templates).erase(std::string(name));
  if (owned->second.requests.empty() && owned->second.templates.empty()) owned_.erase(owned);
  touched->desires.insert({std::string(kDialect), place.first, place.second});
}

const Owned& Workloads::OwnedBy(const model::GangKey& key) const {
  static const Owned none;
  const auto at = owned_.find({key.ns, key.name});
  return at == owned_.end() ? none : at->second;
}

void Workloads::PutLimits(const model::Object& object, Touched* touched) {
  if (limits_.Put(object)) ReadNamespace(object.meta.ns, touched);
}

void Workloads::DropLimits(std::string_view ns, std::string_view name, Touched* touched) {
  if (limits_.Drop(ns, name)) ReadNamespace(ns, touched);
}

// All of its gangs are affected, and the edit of a LimitRange is rare.
void Workloads::ReadNamespace(std::string_view ns, Touched* touched) {
  for (auto at = entries_.lower_bound({std::string(ns), ""}); at != entries_.end() && at->first.first == ns; ++at) {
    for (SetsRead* sets : {&at->second.of_job, &at->second.of_workload, &at->second.of_next}) sets->limits.reset();
    Read(at->second, touched);
  }
}

void Workloads::PutClass(const model::Object& object, Touched* touched) {
  ChangeClass(object.kind == "WorkloadPriorityClass", object.meta.name, touched,
              [&](PriorityClasses& of) { return of.Put(object); });
}

void Workloads::DropClass(std::string_view kind_name, std::string_view name, Touched* touched) {
  ChangeClass(kind_name == Kinds()[1].Name(), name, touched, [&](PriorityClasses& of) { return of.Drop(name); });
}

// Another default is of concern to all that name no class: they are among the users of the one before.
template <typename Change>
void Workloads::ChangeClass(bool of_workloads, std::string_view name, Touched* touched, Change change) {
  PriorityClasses& classes = of_workloads ? workload_classes_ : pod_classes_;
  const Users& users = of_workloads ? by_workload_class_ : by_pod_class_;
  const std::string before = classes.Default();
  if (change(classes)) ReadUsers(users, name, touched);
  if (before != classes.Default()) ReadUsers(users, before, touched);
}

void Workloads::ReadUsers(const Users& users, std::string_view name, Touched* touched) {
  if (const auto at = users.find(name); at != users.end()) ReadAll(at->second, touched);
}

void Workloads::ReadAgain(const std::string& ns, const std::string& local, Touched* touched) {
  if (const auto at = by_local_.find({ns, local}); at != by_local_.end()) ReadAll(at->second, touched);
}

void Workloads::ReadAll(std::set<Place> places, Touched* touched) {
  for (const Place& place : places) Read(entries_.at(place), touched);
}

std::optional<model::GangKey> Workloads::GangOfJob(const model::Object& job) const {
  const JobKind* kind = FindJobKind(job);
  const auto at = kind ? jobs_.find({kind->kind.Name(), job.meta.ns, job.meta.name}) : jobs_.end();
  return at == jobs_.end() ? std::nullopt : std::optional(entries_.at(at->second).key);
}

const Entry* Workloads::Find(const model::GangKey& key) const {
  const auto at = entries_.find({key.ns, key.name});
  return at == entries_.end() ? nullptr : &at->second;
}

const Entry* Workloads::FindByUid(const std::string& uid) const {
  const auto at = by_uid_.find(uid);
  return at == by_uid_.end() ? nullptr : &entries_.at(at->second);
}

// --- What they say ---

void Workloads::Index(const Entry& entry, const Terms& terms, bool add) {
  const Place place{entry.key.ns, entry.key.name};
  const auto set = [&](auto& users, const auto& name) {
    if (add) {
      users[name].insert(place);
    } else if (const auto at = users.find(name); at != users.end()) {
      at->second.erase(place);
      if (at->second.empty()) users.erase(at);
    }
  };
  if (!entry.spec.uid.empty()) {
    if (add)
      by_uid_[entry.spec.uid] = place;
    else
      by_uid_.erase(entry.spec.uid);
  }
  set(by_local_, std::pair(entry.key.ns, terms.queue));
  set(terms.workload_class ? by_workload_class_ : by_pod_class_, terms.priority_class);
}

void Workloads::Read(Entry& entry, Touched* touched) {
  for (SetsRead* sets : {&entry.of_workload, &entry.counted()})
    if (!sets->limits) sets->limits = limits_.Problem(entry.key.ns, sets->json);
  std::string problem;
  const Terms before = std::exchange(entry.terms, entry.job ? TermsOf(entry, &problem) : entry.read.terms);
  const Entry* const replacement = ReplacementOf(entry);
  entry.replaced_by = replacement ? replacement->workload->meta.uid : std::string();
  model::GangSpec spec = SpecOf(entry);
  if (spec.problem.empty()) spec.problem = OneLine(problem);
  if (spec.uid != entry.spec.uid || spec != entry.spec)
    touched->gangs.insert(entry.key);
  else
    touched->desires.insert(entry.key);
  const bool same_index = !entry.spec.uid.empty() && spec.uid == entry.spec.uid && entry.terms == before;
  if (!same_index) Index(entry, before, false);
  entry.spec = std::move(spec);
  if (!same_index) Index(entry, entry.terms, true);
  if (const bool holds = HoldsNew(entry); std::exchange(entry.holds_new, holds) != holds)
    touched->members.insert(entry.key);
  const std::optional<std::string> replaced = NameOfReplaced(entry);
  TellReplaced(entry, replaced ? std::optional(std::pair(*replaced, entry.read.has.has_value())) : std::nullopt,
               touched);
}

Terms Workloads::TermsOf(const Entry& entry, std::string* problem) const {
  Terms terms;
  const model::StringMap& labels = entry.job->meta.labels;
  terms.queue = *model::Find(labels, kQueueLabel);
  terms.max_seconds = MaxSecondsIn(labels);
  if (const std::string* named = model::Find(labels, kPriorityLabel); named && !named->empty()) {
    terms.priority_class = *named;
    terms.workload_class = true;
    const auto value = workload_classes_.Value(*named);
    if (!value)
      *problem = fmt::format("WorkloadPriorityClass {} does not exist; create it, or name another in label {}",
                             Named(*named), kPriorityLabel);
    terms.priority = value.value_or(0);
  } else {
    terms.priority_class = PodClassOf(entry.of_job);
    if (terms.priority_class.empty()) terms.priority_class = pod_classes_.Default();
    terms.priority = pod_classes_.Value(terms.priority_class).value_or(0);
  }
  return terms;
}

// Reads into `quota` what the admission checks of the gang's queue and flavors say. Returns the reason for an eviction
// if one of them refuses; "": none does.
std::string Workloads::ReadChecks(const Entry& entry, model::QuotaTerms* quota) const {
  std::set<std::string> flavors;
  const std::string leaf = quota->has ? quota->has->leaf : queues_.LeafOf(entry.key.ns, entry.terms.queue);
  if (quota->has)
    for (const auto& role : quota->has->roles)
      for (const auto& [resource, flavor] : role.flavors) flavors.insert(flavor);
  quota->places_before_checks = true;
  // What an elastic job that runs is given besides has its nodes already.
  const bool has_nodes = entry.IsElastic() && !entry.read.replaces.empty() && !entry.IsHeld();
  std::string refused;
  for (const std::string& name : queues_.ChecksOf(leaf, quota->has ? std::optional(flavors) : std::nullopt)) {
    const auto state = std::ranges::find(entry.read.checks, name, &WorkloadRead::CheckState::name);
    const std::string word = state == entry.read.checks.end() ? "Pending" : state->state;
    quota->has_checks = true;
    if (word != "Ready") quota->awaits_checks = true;
    if (word == "Rejected") refused = kDeactivatedByCheck;
    if (word == "Retry" && refused.empty()) refused = "AdmissionCheck";
    if (const Check* check = queues_.FindCheck(name); check && check->controller == kProvisioning && !has_nodes)
      quota->places_before_checks = false;
  }
  quota->places_before_checks = quota->places_before_checks && quota->awaits_checks;
  return refused;
}

model::QuotaTerms Workloads::QuotaOf(const Entry& entry) const {
  model::QuotaTerms quota;
  model::GangAsk& ask = quota.ask;
  const model::Object& object = entry.job ? *entry.job : *entry.workload;
  ask.uid = object.meta.uid;
  ask.ns = entry.key.ns;
  ask.local_queue = entry.terms.queue;
  ask.priority = entry.terms.priority;
  ask.queued_ms = object.meta.created_ms;
  const bool came_back = entry.read.evicted_reason == "AdmissionCheck" ||
                         (entry.read.evicted_reason == kPodsReadyTimeout && !settings_.pods_ready.keeps_place);
  if (came_back) ask.queued_ms = std::max(ask.queued_ms, entry.read.evicted_ms);
  const SetsRead& asked = AskedSets(entry);
  for (const RoleRead& role : AskedRoles(entry)) ask.roles.push_back(role.ask);
  ask.problem = *asked.limits;
  ask.line_uid = (entry.next ? entry.next : entry.workload)->meta.uid;
  if (entry.job && entry.kind->pods != PodOwner::kGroup) ask.job_uid = object.meta.uid;
  if (entry.IsElastic())
    ask.replaces = ask.uid;
  else if (!entry.job && !entry.read.replaces.empty())
    ask.replaces = ReplacedBy(entry);
  quota.has = entry.read.has;
  if (quota.has) {
    quota.has->uid = ask.uid;
    quota.has->priority = ask.priority;
    quota.has->queued_ms = ask.queued_ms;
  }
  for (model::RoleAsk& role : ask.roles) {
    const auto done = entry.read.done.find(role.name);
    if (done == entry.read.done.end()) continue;
    quota.done[role.name] = std::min(done->second, role.count);
    role.count -= quota.done[role.name];
    if (role.min_count) role.min_count = std::min(*role.min_count, role.count);
  }
  quota.released = entry.job && entry.IsLetGo();
  quota.not_before_ms = entry.read.requeue_at_ms;

  quota.ready_ms = entry.read.ready_ms;
  quota.admitted_ms = entry.read.admitted_ms;
  quota.barred = BarredBy(entry, quota, ReadChecks(entry, &quota));
  if (const Entry* replacement = ReplacementOf(entry); replacement && quota.barred.empty() && !quota.has)
    quota.barred = replacement->read.has ? kSliceReplaced : kReplacementWaits;
  return quota;
}

model::GangSpec Workloads::SpecOf(const Entry& entry) const {
  model::GangSpec spec;
  spec.key = entry.key;
  if (!entry.job && !entry.workload) {
    spec.problem =
        fmt::format("what the pods belong to does not exist, or does not name a queue by label {}", kQueueLabel);
    return spec;
  }
  const model::Object& object = entry.job ? *entry.job : *entry.workload;
  spec.uid = object.meta.uid;
  spec.created_ms = object.meta.created_ms;
  spec.min_member = 0;
  JsonReader read;
  const std::optional<model::Fit> fit = ReadFit(read, object);
  const std::string leaf = queues_.LeafOf(entry.key.ns, entry.terms.queue);
  spec.fit = fit ? *fit : queues_.FitOf(leaf).value_or(settings_.fit);
  spec.problem = ProblemIn(object, read);
  if (!spec.problem.empty()) return spec;
  const SetsRead& counted = AskedSets(entry);
  if (entry.job) spec.problem = entry.job_problem;
  if (spec.problem.empty()) spec.problem = counted.problem;
  if (!spec.problem.empty())
    spec.problem = OneLine(fmt::format("{}: {}", Named(object.kind, object.meta.ns, object.meta.name), spec.problem));
  if (!spec.problem.empty()) return spec;
  spec.priority = entry.terms.priority;
  // A job that has ended needs no pods, and one stands in line once it has its Workload.
  if (entry.ended() || !entry.workload) return spec;
  const std::vector<RoleRead> roles = AskedRoles(entry);
  for (const RoleRead& role : roles) {
    spec.roles.push_back(
        {role.ask.name, role.ask.min_count.value_or(role.ask.count), 1, Labelled(role.topology, queues_, leaf)});
    spec.min_member = model::SaturatingAdd(spec.min_member, spec.roles.back().min);
  }
  std::ranges::sort(spec.roles, {}, &model::RoleSpec::name);
  for (const RoleRead& role : roles) {
    const auto set = std::ranges::find(entry.sets, role.ask.name, &PodSet::name);
    const bool known = set != entry.sets.end();
    const PodOwner owner = entry.job ? entry.kind->pods : PodOwner::kNone;
    const bool after_leader = owner == PodOwner::kLeaderWorkerSet && role.ask.name == "worker";
    const bool ordered = owner == PodOwner::kStatefulSet || (owner == PodOwner::kLeaderWorkerSet && !after_leader) ||
                         (owner == PodOwner::kGroup && entry.group.fast);
    spec.promised.push_back({.role = role.ask.name,
                             .count = role.ask.count,
                             .head = known && set->head,
                             .needs_head = known && set->needs_head,
                             .late = after_leader || (known && set->follows),
                             .ordered = ordered || (known && set->ordered),
                             .pod = role.pod});
  }
  for (const RoleRead& role : entry.late.roles)
    if (role.pod)
      spec.promised.push_back({.role = role.ask.name, .count = role.ask.count, .late = true, .pod = role.pod});
  spec.quota = std::make_shared<const model::QuotaTerms>(QuotaOf(entry));
  SetRunLimits(entry.workload.get(), entry.read.terms.max_seconds, entry.job.get(), &spec);
  return spec;
}

}  // namespace tutti::dialects::kueue
