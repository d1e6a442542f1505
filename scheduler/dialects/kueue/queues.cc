// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/queues.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "cluster/kinds.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/jobs.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/queue_status.h"
#include "dialects/pod_groups.h"
#include "dialects/wording.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

model::ObjectKind KindOf(const char* resource, const char* kind, bool alpha = false) {
  std::vector<std::string> versions{"v1beta2", "v1beta1"};
  if (alpha) versions.push_back("v1alpha1");
  return {std::string(kGroup), resource, kind, std::move(versions)};
}

std::string JoinNames(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ",")); }

// Takes the user out of the users of what it used.
template <typename Users, typename User>
void Leave(Users* users, const std::string& used, const User& user) {
  const auto at = users->find(used);
  if (at == users->end()) return;
  at->second.erase(user);
  if (at->second.empty()) users->erase(at);
}

bool SelectsNamespace(const std::optional<model::LabelSelector>& selector, const model::StringMap& labels) {
  if (!selector) return false;
  return *selector == model::LabelSelector() || model::Selects(*selector, labels);
}

}  // namespace

const std::vector<model::ObjectKind>& Queues::Kinds() {
  static const std::vector<model::ObjectKind> kinds{KindOf("resourceflavors", "ResourceFlavor"),
                                                    KindOf("topologies", "Topology", true),
                                                    KindOf("cohorts", "Cohort", true),
                                                    KindOf("clusterqueues", "ClusterQueue"),
                                                    KindOf("localqueues", "LocalQueue"),
                                                    KindOf("admissionchecks", "AdmissionCheck"),
                                                    KindOf("provisioningrequestconfigs", "ProvisioningRequestConfig"),
                                                    cluster::NamespaceKind()};
  return kinds;
}

// --- Objects ---

void Queues::Put(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  const std::string &kind = object->kind, &name = object->meta.name;
  if (kind == "ResourceFlavor") {
    PutFlavor(object, touched);
  } else if (kind == "Topology") {
    if (topologies_.Put(*object)) ReadTopologyAgain(name, touched);
  } else if (kind == "Cohort") {
    PutCohort(object, touched);
  } else if (kind == "ClusterQueue") {
    PutLeaf(object, touched);
  } else if (kind == "LocalQueue") {
    PutLocal(object, touched);
  } else if (kind == "AdmissionCheck") {
    Check check = ReadCheck(*object);
    if (const auto at = checks_.find(name); at != checks_.end() && at->second.spec == check) {
      at->second.object = object;
      return;
    }
    if (const auto at = checks_.find(name); at != checks_.end())
      Leave(&checks_by_config_, at->second.spec.parameters, name);
    checks_by_config_[check.parameters].insert(name);
    checks_.insert_or_assign(name, Kept<Check>{object, std::move(check)});
    RerouteUsers(leaves_by_check_, name, touched);
  } else if (kind == "ProvisioningRequestConfig") {
    std::shared_ptr<const model::Object>& config = configs_[name];
    const bool same = config && *config->body == *object->body;
    config = object;
    if (same) return;
    RerouteChecksOf(name, touched);
  } else if (kind == "Namespace") {
    const auto [at, fresh] = namespaces_.try_emplace(name, object->meta.labels);
    if (!fresh && at->second == *object->meta.labels) return;
    at->second = object->meta.labels;
    TouchNamespace(name, touched);
  }
}

void Queues::Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) {
  const auto row = std::ranges::find(Kinds(), kind_name, &model::ObjectKind::Name);
  if (row == Kinds().end()) return;
  const std::string key(name);
  if (row->kind == "ResourceFlavor") {
    DropFlavor(key, touched);
  } else if (row->kind == "Topology") {
    if (topologies_.Drop(name)) ReadTopologyAgain(key, touched);
  } else if (row->kind == "Cohort") {
    DropCohort(key, touched);
  } else if (row->kind == "ClusterQueue") {
    DropLeaf(key, touched);
  } else if (row->kind == "LocalQueue") {
    DropLocal({std::string(ns), key}, touched);
  } else if (row->kind == "AdmissionCheck") {
    const auto at = checks_.find(name);
    if (at == checks_.end()) return;
    Leave(&checks_by_config_, at->second.spec.parameters, key);
    checks_.erase(at);
    RerouteUsers(leaves_by_check_, name, touched);
  } else if (row->kind == "ProvisioningRequestConfig") {
    if (configs_.erase(key) > 0) RerouteChecksOf(key, touched);
  } else if (namespaces_.erase(key) > 0) {
    TouchNamespace(name, touched);
  }
}

void Queues::DropCohort(const std::string& name, Touched* touched) {
  const auto at = cohorts_.find(name);
  if (at == cohorts_.end()) return;
  if (HasCircle(name)) TouchBelow(name, touched);
  Leave(&cohorts_by_parent_, at->second.spec.parent, name);
  cohorts_.erase(at);
  touched->cohorts.insert(name);
}

void Queues::DropFlavor(const std::string& name, Touched* touched) {
  const auto at = flavors_.find(name);
  if (at == flavors_.end()) return;
  Leave(&flavors_by_topology_, at->second.spec.topology, name);
  flavors_.erase(at);
  touched->flavors.insert(name);
  RerouteUsers(leaves_by_flavor_, name, touched);
}

void Queues::DropLeaf(const std::string& name, Touched* touched) {
  const auto at = leaves_.find(name);
  if (at == leaves_.end()) return;
  Index(name, at->second.spec, false);
  leaves_.erase(at);
  TouchLeaf(name, touched);
  Reroute(name);
}

void Queues::DropLocal(const LocalName& name, Touched* touched) {
  const auto at = locals_.find(name);
  if (at == locals_.end()) return;
  Leave(&locals_by_leaf_, at->second.spec.queue, name);
  locals_.erase(at);
  touched->locals.insert(name);
  rerouted_.insert(name);
}

void Queues::PutFlavor(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  const std::string& name = object->meta.name;
  model::Flavor flavor = ReadFlavor(*object);
  bool moves = !flavor.topology.empty();
  if (const auto at = flavors_.find(name); at != flavors_.end()) {
    if (at->second.spec == flavor) {
      at->second.object = object;
      return;
    }
    moves = at->second.spec.topology != flavor.topology;
    Leave(&flavors_by_topology_, at->second.spec.topology, name);
  }
  if (!flavor.topology.empty()) flavors_by_topology_[flavor.topology].insert(name);
  flavors_.insert_or_assign(name, Kept<model::Flavor>{object, std::move(flavor)});
  touched->flavors.insert(name);
  TouchUsers(leaves_by_flavor_, name, touched);
  if (moves) RerouteUsers(leaves_by_flavor_, name, touched);
}

void Queues::PutCohort(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  const std::string& name = object->meta.name;
  model::CohortSpec cohort = ReadCohort(*object);
  const auto [at, fresh] = cohorts_.try_emplace(name);
  at->second.object = object;
  if (!fresh && at->second.spec == cohort) return;
  const bool had_circle = HasCircle(name);
  if (!fresh) Leave(&cohorts_by_parent_, at->second.spec.parent, name);
  cohorts_by_parent_[cohort.parent].insert(name);
  at->second.spec = std::move(cohort);
  touched->cohorts.insert(name);
  if (had_circle || HasCircle(name)) TouchBelow(name, touched);
}

void Queues::Index(const std::string& name, const Leaf& leaf, bool add) {
  const auto set = [&](Users& users, const std::string& used) {
    if (add)
      users[used].insert(name);
    else
      Leave(&users, used, name);
  };
  for (const model::ResourceGroup& group : leaf.spec.groups)
    for (const model::FlavorQuota& flavor : group.flavors) set(leaves_by_flavor_, flavor.flavor);
  for (const LeafCheck& check : leaf.checks) set(leaves_by_check_, check.name);
  set(leaves_by_cohort_, leaf.spec.cohort);
}

void Queues::PutLeaf(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  const std::string& name = object->meta.name;
  Leaf leaf = ReadLeaf(*object);
  const std::set<std::string> topologies = TopologiesOf(leaf);
  bool reroutes = !leaf.checks.empty() || leaf.fit || !topologies.empty();
  if (const auto at = leaves_.find(name); at != leaves_.end()) {
    const bool same = at->second.spec == leaf && at->second.object->meta.uid == object->meta.uid &&
                      at->second.object->meta.deleting() == object->meta.deleting();
    if (same) {
      at->second.object = object;
      return;
    }
    reroutes = at->second.spec.checks != leaf.checks || at->second.spec.fit != leaf.fit ||
               TopologiesOf(at->second.spec) != topologies;
    Index(name, at->second.spec, false);
  }
  Index(name, leaf, true);
  leaves_.insert_or_assign(name, Kept<Leaf>{object, std::move(leaf)});
  TouchLeaf(name, touched);
  if (reroutes) Reroute(name);
}

void Queues::PutLocal(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  const LocalName name{object->meta.ns, object->meta.name};
  model::LocalQueueSpec local = ReadLocal(*object);
  if (const auto at = locals_.find(name); at != locals_.end()) {
    if (at->second.spec == local && at->second.object->meta.uid == object->meta.uid) {
      at->second.object = object;
      return;
    }
    Leave(&locals_by_leaf_, at->second.spec.queue, name);
  }
  locals_by_leaf_[local.queue].insert(name);
  locals_.insert_or_assign(name, Kept<model::LocalQueueSpec>{object, std::move(local)});
  touched->locals.insert(name);
  rerouted_.insert(name);
}

// --- What depends on them ---

void Queues::TouchLeaf(const std::string& name, Touched* touched) const {
  touched->leaves.insert(name);
  if (const auto locals = locals_by_leaf_.find(name); locals != locals_by_leaf_.end())
    touched->locals.insert(locals->second.begin(), locals->second.end());
}

void Queues::TouchUsers(const Users& users, std::string_view name, Touched* touched) const {
  const auto leaves = users.find(name);
  if (leaves == users.end()) return;
  for (const std::string& leaf : leaves->second) TouchLeaf(leaf, touched);
}

void Queues::ReadTopologyAgain(const std::string& topology, Touched* touched) {
  touched->nodes = true;
  if (const auto flavors = flavors_by_topology_.find(topology); flavors != flavors_by_topology_.end())
    for (const std::string& flavor : flavors->second) {
      touched->flavors.insert(flavor);
      RerouteUsers(leaves_by_flavor_, flavor, touched);
    }
}

std::set<std::string> Queues::TopologiesOf(const Leaf& leaf) const {
  std::set<std::string> names;
  for (const model::ResourceGroup& group : leaf.spec.groups)
    for (const model::FlavorQuota& quota : group.flavors)
      if (const auto flavor = flavors_.find(quota.flavor); flavor != flavors_.end())
        names.insert(flavor->second.spec.topology);
  names.erase("");
  return names;
}

std::string Queues::LabelFor(const std::string& leaf, const std::string& level) const {
  const auto at = leaves_.find(leaf);
  return at == leaves_.end() ? level : topologies_.LabelIn(TopologiesOf(at->second.spec), level);
}

void Queues::TouchBelow(const std::string& cohort, Touched* touched) const {
  std::set<std::string> passed{cohort};
  std::vector<std::string> open{cohort};
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    TouchUsers(leaves_by_cohort_, at, touched);
    if (const auto below = cohorts_by_parent_.find(at); below != cohorts_by_parent_.end())
      for (const std::string& each : below->second)
        if (passed.insert(each).second) open.push_back(each);
  }
}

bool Queues::HasCircle(const std::string& cohort) const {
  std::set<std::string> passed;
  for (auto at = cohorts_.find(cohort); at != cohorts_.end(); at = cohorts_.find(at->second.spec.parent))
    if (!passed.insert(at->first).second) return true;
  return false;
}

std::optional<model::Fit> Queues::FitOf(const std::string& leaf) const {
  const auto at = leaves_.find(leaf);
  return at == leaves_.end() ? std::nullopt : at->second.spec.fit;
}

void Queues::Reroute(const std::string& leaf) {
  if (const auto locals = locals_by_leaf_.find(leaf); locals != locals_by_leaf_.end())
    rerouted_.insert(locals->second.begin(), locals->second.end());
}

void Queues::RerouteUsers(const Users& users, std::string_view name, Touched* touched) {
  TouchUsers(users, name, touched);
  if (const auto leaves = users.find(name); leaves != users.end())
    for (const std::string& leaf : leaves->second) Reroute(leaf);
}

void Queues::RerouteChecksOf(const std::string& config, Touched* touched) {
  if (const auto checks = checks_by_config_.find(config); checks != checks_by_config_.end())
    for (const std::string& check : checks->second) RerouteUsers(leaves_by_check_, check, touched);
}

void Queues::TouchNamespace(std::string_view ns, Touched* touched) const {
  for (auto at = locals_.lower_bound({std::string(ns), ""}); at != locals_.end() && at->first.first == ns; ++at)
    touched->locals.insert(at->first);
}

// --- Descriptions ---

std::optional<model::Flavor> Queues::DescribeFlavor(std::string_view name) const {
  const auto at = flavors_.find(name);
  if (at == flavors_.end()) return std::nullopt;
  model::Flavor flavor = at->second.spec;
  if (const auto* levels = topologies_.Find(flavor.topology)) flavor.levels = *levels;
  return flavor;
}

std::optional<model::CohortSpec> Queues::DescribeCohort(std::string_view name) const {
  const auto at = cohorts_.find(name);
  return at == cohorts_.end() ? std::nullopt : std::optional(at->second.spec);
}

std::optional<model::LeafQueueSpec> Queues::DescribeLeaf(std::string_view name) const {
  const auto at = leaves_.find(name);
  if (at == leaves_.end()) return std::nullopt;
  model::LeafQueueSpec spec = at->second.spec.spec;
  if (spec.stop == model::StopPolicy::kNone && !ActiveOfLeaf(at->first).active) spec.stop = model::StopPolicy::kHold;
  return spec;
}

bool Queues::Takes(const Leaf& leaf, const std::string& ns) const {
  if (const auto labels = namespaces_.find(ns); labels != namespaces_.end())
    return SelectsNamespace(leaf.namespaces, labels->second);
  return SelectsNamespace(leaf.namespaces, {{"kubernetes.io/metadata.name", ns}});
}

std::optional<model::LocalQueueSpec> Queues::DescribeLocal(std::string_view ns, std::string_view name) const {
  const auto at = locals_.find({std::string(ns), std::string(name)});
  if (at == locals_.end()) return std::nullopt;
  model::LocalQueueSpec spec = at->second.spec;
  if (const auto leaf = leaves_.find(spec.queue); leaf != leaves_.end())
    spec.admits = Takes(leaf->second.spec, spec.ns);
  return spec;
}

std::string Queues::LeafOf(const std::string& ns, const std::string& local) const {
  const auto at = locals_.find({ns, local});
  return at == locals_.end() ? std::string() : at->second.spec.queue;
}

std::vector<std::string> Queues::ChecksOf(const std::string& leaf,
                                          const std::optional<std::set<std::string>>& flavors) const {
  std::vector<std::string> names;
  const auto at = leaves_.find(leaf);
  if (at == leaves_.end()) return names;
  for (const LeafCheck& check : at->second.spec.checks)
    if (check.flavors.empty() || !flavors ||
        std::ranges::any_of(check.flavors, [&](const std::string& each) { return flavors->contains(each); }))
      names.push_back(check.name);
  return names;
}

const Check* Queues::FindCheck(const std::string& name) const {
  const auto at = checks_.find(name);
  return at == checks_.end() ? nullptr : &at->second.spec;
}

std::shared_ptr<const model::Object> Queues::FindConfig(const std::string& name) const {
  const auto at = configs_.find(name);
  return at == configs_.end() ? nullptr : at->second;
}

Queues::FlavorTerms Queues::TermsOf(const Json& assignment) const {
  FlavorTerms terms;
  std::set<std::string> names;
  for (const auto& [resource, flavor] : Field(assignment, "flavors").items())
    if (flavor.is_string()) names.insert(flavor.get<std::string>());
  for (const std::string& name : names) {
    const auto flavor = flavors_.find(name);
    if (flavor == flavors_.end()) continue;
    terms.node_selector.insert(flavor->second.spec.labels.begin(), flavor->second.spec.labels.end());
    for (const model::Toleration& each : flavor->second.spec.tolerations)
      terms.tolerations.push_back(TolerationJson(each));
  }
  return terms;
}

// --- Statuses ---

Queues::Active Queues::ActiveOfCheck(const std::string& name) const {
  const auto at = checks_.find(name);
  if (at == checks_.end()) return {false, "NotFound", fmt::format("there is no AdmissionCheck {}", name)};
  const Check& check = at->second.spec;
  if (check.controller != kProvisioning) return {check.active, "", ""};
  if (check.parameters_kind != "ProvisioningRequestConfig" || !configs_.contains(check.parameters))
    return {false, "BadParametersRef",
            fmt::format("ProvisioningRequestConfig.kueue.x-k8s.io \"{}\" not found", check.parameters)};
  return {true, "Active", "The admission check is active"};
}

Queues::Active Queues::ActiveOfLeaf(const std::string& name) const {
  const Kept<Leaf>& kept = leaves_.find(name)->second;
  if (kept.object->meta.deleting())
    return {false, "Terminating", "Can't admit new workloads; clusterQueue is terminating"};
  std::vector<std::string> lacks_flavors, lacks_topologies, lacks_checks, idle_checks;
  for (const model::ResourceGroup& group : kept.spec.spec.groups)
    for (const model::FlavorQuota& quota : group.flavors) {
      const auto flavor = flavors_.find(quota.flavor);
      if (flavor == flavors_.end())
        lacks_flavors.push_back(quota.flavor);
      else if (const std::string& topology = flavor->second.spec.topology;
               !topology.empty() && !topologies_.Find(topology))
        lacks_topologies.push_back(
            fmt::format("there is no Topology \"{}\" for TAS flavor \"{}\"", topology, quota.flavor));
    }
  for (const LeafCheck& check : kept.spec.checks) {
    if (!checks_.contains(check.name))
      lacks_checks.push_back(check.name);
    else if (!ActiveOfCheck(check.name).active)
      idle_checks.push_back(check.name);
  }
  std::string reason, message;
  const auto add = [&](bool holds, const char* word, const std::string& text) {
    if (!holds) return;
    if (reason.empty()) reason = word;
    message += (message.empty() ? "" : ", ") + text;
  };
  add(kept.spec.spec.stop != model::StopPolicy::kNone, "Stopped", "is stopped");
  add(!lacks_flavors.empty(), "FlavorNotFound", "references missing ResourceFlavor(s): " + JoinNames(lacks_flavors));
  add(!lacks_checks.empty(), "AdmissionCheckNotFound",
      "references missing AdmissionCheck(s): " + JoinNames(lacks_checks));
  add(!idle_checks.empty(), "AdmissionCheckInactive",
      "references inactive AdmissionCheck(s): " + JoinNames(idle_checks));
  add(!lacks_topologies.empty(), "TopologyNotFound", JoinNames(lacks_topologies));
  add(!kept.spec.problem.empty(), "Misconfigured", kept.spec.problem);
  add(HasCircle(kept.spec.spec.cohort), "Misconfigured",
      "its cohorts lead back to themselves; give one of them another parentName");
  if (reason.empty()) return {true, "Ready", "Can admit new workloads"};
  return {false, reason, OneLine(fmt::format("Can't admit new workloads: {}.", message))};
}

Queues::Active Queues::ActiveOfLocal(const std::string& ns, const std::string& name) const {
  const model::LocalQueueSpec& local = locals_.find({ns, name})->second.spec;
  if (local.stop != model::StopPolicy::kNone) return {false, "Stopped", "LocalQueue is stopped"};
  if (!leaves_.contains(local.queue))
    return {false, "ClusterQueueDoesNotExist", "Can't submit new workloads to clusterQueue"};
  if (!ActiveOfLeaf(local.queue).active)
    return {false, "ClusterQueueIsInactive", "Can't submit new workloads to clusterQueue"};
  return {true, "Ready", "Can submit new workloads to localQueue"};
}

void Queues::Desire(const SharingReport& report, std::vector<cluster::DesiredObject>* out) const {
  const auto desire = [&](const std::shared_ptr<const model::Object>& object, Json status, const Active& active) {
    Json conditions = Field(StatusOf(*object), "conditions");
    SetCondition("Active", active.active, active.reason, active.message, report.now_wall_ms, &conditions);
    status["conditions"] = std::move(conditions);
    out->push_back(WithStatus(object, std::move(status), AgreesWithoutTimes));
  };
  if (report.is_cohort) {
    if (const auto cohort = cohorts_.find(report.name); cohort != cohorts_.end())
      out->push_back(WithStatus(cohort->second.object, ShareStatus(report), AgreesWithoutTimes));
    return;
  }
  if (!report.ns.empty()) {
    const auto local = locals_.find({report.ns, report.name});
    if (local == locals_.end()) return;
    const model::LocalQueueSpec& spec = local->second.spec;
    const auto leaf = leaves_.find(spec.queue);
    const model::LeafQueueSpec* quotas = leaf == leaves_.end() ? nullptr : &leaf->second.spec.spec;
    return desire(local->second.object, LocalStatus(quotas, spec.stop != model::StopPolicy::kNone, report),
                  ActiveOfLocal(report.ns, report.name));
  }
  const auto leaf = leaves_.find(report.name);
  if (leaf == leaves_.end()) return;
  desire(leaf->second.object, LeafStatus(leaf->second.spec.spec, report), ActiveOfLeaf(report.name));
  for (const LeafCheck& check : leaf->second.spec.checks)
    if (const auto at = checks_.find(check.name); at != checks_.end() && at->second.spec.controller == kProvisioning)
      desire(at->second.object, Json::object(), ActiveOfCheck(check.name));
}

}  // namespace tutti::dialects::kueue
