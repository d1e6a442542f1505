// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/kueue.h"

#include <fmt/format.h>

#include <tuple>

#include "dialects/kueue/checks.h"
#include "dialects/kueue/desires.h"
#include "dialects/kueue/events.h"
#include "dialects/kueue/jobs.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/status.h"
#include "dialects/kueue/writes.h"
#include "dialects/wording.h"

namespace tutti::dialects::kueue {
namespace {

const model::ObjectKind kWebhooks{
    "admissionregistration.k8s.io", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", {"v1"}};
constexpr std::string_view kOfKueue = "kueue-mutating-webhook-configuration";
constexpr std::string_view kBesideKueue =
    "Kueue runs in this cluster, as MutatingWebhookConfiguration kueue-mutating-webhook-configuration is there, and "
    "two controllers would hold and release the same jobs; delete Kueue's Deployment and its webhook configurations, "
    "or leave its jobs to it";

// The sentence about why the gang has to leave; empty: it does not.
std::string EvictionOf(const Entry& entry, const GangReport& report) {
  const QuotaReport& quota = report.quota;
  if (quota.evicted_reason.empty()) return {};
  if (IsPreemption(quota.evicted_reason)) return quota.evicted_message;
  if (quota.evicted_reason == kPodsReadyTimeout) return PodsReadyText(entry.key);
  if (quota.evicted_reason != kDeactivatedByCheck) return EvictionText(quota.evicted_reason, quota.evicted_message);
  std::string names;
  for (const auto& check : entry.read.checks)
    if (check.state == "Rejected") names += fmt::format("{}{}", names.empty() ? "" : ",", check.name);
  return OneLine(fmt::format("The workload is deactivated due to Admission check(s): {}, were rejected", names));
}

}  // namespace

Kueue::Kueue(DialectSettings settings) : settings_(std::move(settings)) {
  for (const auto* kinds : {&Queues::Kinds(), &Workloads::Kinds()})
    kinds_.insert(kinds_.end(), kinds->begin(), kinds->end());
  for (const JobKind& job : JobKinds()) kinds_.push_back(job.kind);
  for (const model::ObjectKind* kind : {&RequestKind(), &TemplateKind(), &Limits::Kind(), &kWebhooks})
    kinds_.push_back(*kind);
}

std::string_view Kueue::name() const { return kDialect; }

// --- Objects ---

void Kueue::Put(std::shared_ptr<const model::Object> object, Touched* touched) {
  if (object->kind == "Workload" || object->kind == "ClusterQueue" || object->kind == "LocalQueue")
    version_ = object->version;
  if (object->kind == "Pod" && object->group.empty()) {
    workloads_.PutPod(object, touched);
  } else if (const JobKind* job = FindJobKind(*object)) {
    workloads_.PutJob(*job, object, touched);
  } else if (object->kind == "Workload") {
    workloads_.PutWorkload(object, touched);
  } else if (object->kind == RequestKind().kind || object->kind == TemplateKind().kind) {
    workloads_.PutOwned(object, touched);
  } else if (object->kind == Limits::Kind().kind) {
    workloads_.PutLimits(*object, touched);
  } else if (object->kind == "WorkloadPriorityClass" || object->kind == "PriorityClass") {
    workloads_.PutClass(*object, touched);
  } else if (object->kind == kWebhooks.kind) {
    if (object->meta.name != kOfKueue || foreign_) return;
    foreign_ = touched->declarations = touched->memberships = true;
  } else {
    Touched queues;
    queues_.Put(object, &queues);
    FollowQueues(queues, touched);
  }
}

void Kueue::Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) {
  if (const JobKind* job = FindJobKind(kind_name)) {
    workloads_.DropJob(*job, ns, name, touched);
  } else if (kind_name == Workloads::Kinds()[0].Name()) {
    workloads_.DropWorkload(ns, name, touched);
  } else if (kind_name == Workloads::Kinds()[1].Name() || kind_name == Workloads::Kinds()[2].Name()) {
    workloads_.DropClass(kind_name, name, touched);
  } else if (kind_name == RequestKind().Name() || kind_name == TemplateKind().Name()) {
    workloads_.DropOwned(kind_name, ns, name, touched);
  } else if (kind_name == Limits::Kind().Name()) {
    workloads_.DropLimits(ns, name, touched);
  } else if (kind_name == kWebhooks.Name()) {
    if (name != kOfKueue || !foreign_) return;
    foreign_ = false;
    touched->declarations = touched->memberships = true;
  } else {
    Touched queues;
    queues_.Drop(kind_name, ns, name, &queues);
    FollowQueues(queues, touched);
  }
}

// Where a LocalQueue leads, and which checks are asked for there, is part of what its gangs declare.
void Kueue::FollowQueues(const Touched& queues, Touched* touched) {
  touched->flavors.insert(queues.flavors.begin(), queues.flavors.end());
  touched->cohorts.insert(queues.cohorts.begin(), queues.cohorts.end());
  touched->leaves.insert(queues.leaves.begin(), queues.leaves.end());
  touched->locals.insert(queues.locals.begin(), queues.locals.end());
  touched->nodes = touched->nodes || queues.nodes;
  for (const auto& [ns, local] : queues_.TakeRerouted()) workloads_.ReadAgain(ns, local, touched);
}

void Kueue::Served(std::string_view kind_name, bool served, Touched* touched) {
  if (kind_name != Workloads::Kinds()[0].Name() || served_ == served) return;
  served_ = served;
  touched->declarations = touched->memberships = true;
}

// --- Gangs ---

std::optional<Membership> Kueue::MembershipOf(const model::Pod& pod) const {
  if (!writes()) return std::nullopt;
  const std::string* set = model::Find(pod.meta.labels, kPodSetLabel);
  const std::string* workload = set ? model::Find(pod.meta.annotations, kWorkloadAnnotation) : nullptr;
  Membership membership;
  if (!workload || workload->empty()) {
    std::optional<model::GangKey> gang = workloads_.GangOf(pod);
    if (!gang) return std::nullopt;
    membership.gang = *std::move(gang);
    membership.held = true;
    return membership;
  }
  membership.gang = workloads_.GangOfWorkload(pod.meta.ns, *workload);
  membership.role = *set;
  membership.head = *set == "head";
  const Entry* entry = workloads_.Find(membership.gang);
  if (!entry) return membership;
  membership.held = entry->LacksWorkload();
  for (const PodSet& each : entry->sets) {
    if (each.name != *set) continue;
    std::tie(membership.head, membership.needs_head) = std::tie(each.head, each.needs_head);
    // A head comes in place of another, and without it no other pod is of use.
    membership.held = membership.held || (entry->holds_new && !each.head && !each.late && !pod.bound());
  }
  return membership;
}

model::GangSpec Kueue::Describe(const model::GangKey& key) const {
  model::GangSpec spec;
  const Entry* entry = workloads_.Find(key);
  if (entry && writes()) return entry->spec;
  spec.key = key;
  if (entry) spec.uid = entry->spec.uid;
  if (entry && !foreign_ && !entry->spec.problem.empty()) return entry->spec;
  spec.problem = foreign_ ? std::string(kBesideKueue)
                          : fmt::format("{} does not exist; the pods' annotation {} names it",
                                        Named("Workload", key.ns, key.name), kWorkloadAnnotation);
  return spec;
}

std::string_view Kueue::SchedulerName(const model::GangKey& key) const {
  const Entry* entry = workloads_.Find(key);
  if (!entry || !served_) return {};
  // An AppWrapper has a life after its end: what it has made is deleted.
  const bool is_over = entry->read.finished && !HasFinalizer(*entry->workload, kInUse);
  if (is_over && !(entry->job && entry->kind->is_wrapper)) return {};
  return settings_.scheduler_names.front();
}

std::optional<model::GangKey> Kueue::GangOfJob(const model::Object& job) const {
  return writes() ? workloads_.GangOfJob(job) : std::nullopt;
}

const model::ObjectKind& Kueue::SwitchKind() const { return kWebhooks; }

// --- Queues ---

std::optional<model::Flavor> Kueue::DescribeFlavor(std::string_view name) const { return queues_.DescribeFlavor(name); }
std::optional<model::CohortSpec> Kueue::DescribeCohort(std::string_view name) const {
  return queues_.DescribeCohort(name);
}
std::optional<model::LeafQueueSpec> Kueue::DescribeLeaf(std::string_view name) const {
  return queues_.DescribeLeaf(name);
}
std::optional<model::LocalQueueSpec> Kueue::DescribeLocal(std::string_view ns, std::string_view name) const {
  return queues_.DescribeLocal(ns, name);
}

void Kueue::AddNodeLabels(const model::Node& node, model::StringMap* labels, Touched*) {
  nodes_.insert_or_assign(node.meta.name, node.meta.labels);
  queues_.AddNodeLabels(node, labels);
}

// --- What should be, and what is told ---

base::Millis Kueue::Desire(const GangReport& report, const cluster::Unseen& unseen,
                           std::vector<cluster::DesiredObject>* out) const {
  const Entry* entry = workloads_.Find(report.spec->key);
  if (!entry || !writes()) return 0;
  return DesireAll({*entry, workloads_.OwnedBy(entry->key), queues_, nodes_, report, EvictionOf(*entry, report),
                    version_, settings_, wrappers_},
                   unseen, out);
}

void Kueue::DesireOfSharing(const SharingReport& report, const cluster::Unseen&,
                            std::vector<cluster::DesiredObject>* out) const {
  if (writes()) queues_.Desire(report, out);
}

void Kueue::Announce(const GangReport& before, const GangReport& now, std::vector<ObjectEvent>* out) const {
  const Entry* entry = now.spec ? workloads_.Find(now.spec->key) : nullptr;
  if (!entry || !writes()) return;
  AnnounceSteps(
      {*entry, before, now, EvictionOf(*entry, now), workloads_.FindByUid(now.quota.by_uid), settings_.kueue_0_8}, out);
}

std::optional<cluster::ObjectRef> Kueue::EventTarget(const model::GangKey& key) const {
  const Entry* entry = workloads_.Find(key);
  if (!entry || entry->workload || !writes()) return std::nullopt;
  if (!entry->pods.empty()) return cluster::RefOf(entry->pods.begin()->second.object);
  return entry->job ? std::optional(cluster::RefOf(entry->job)) : std::nullopt;
}

}  // namespace tutti::dialects::kueue
