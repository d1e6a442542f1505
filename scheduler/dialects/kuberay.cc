// SPDX-License-Identifier: Apache-2.0
#include "dialects/kuberay.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "dialects/declaration.h"
#include "dialects/ray_cluster.h"
#include "dialects/ray_pod.h"
#include "dialects/wording.h"
#include "model/quantity.h"

namespace tutti::dialects {
namespace {

constexpr std::string_view kPriorityClass = "ray.io/priority-class-name";
constexpr std::string_view kKaiQueue = "kai.scheduler/queue";
// Volcano's, and where its Queues are.
constexpr std::string_view kVolcanoQueue = "volcano.sh/queue-name", kVolcanoQueues = "queues.scheduling.volcano.sh";
// Of multi-host groups: on the pods of one replica, since KubeRay 1.5.
constexpr std::string_view kReplicaName = "ray.io/worker-group-replica-name";

// The replicas of multi-host groups, whose hosts are of no use one without the other.
std::vector<model::UnitSpec> ReplicasOf(const std::vector<model::RoleSpec>& roles) {
  std::vector<model::UnitSpec> replicas;
  for (const model::RoleSpec& role : roles)
    if (role.unit > 1) replicas.push_back({role.name, role.unit, role.min / role.unit, role.name});
  return replicas;
}

// Null where the gang has no multi-host group of that name.
std::shared_ptr<const model::Unit> ReplicaIn(const model::GangSpec& gang, const std::string& group,
                                             const std::string& replica) {
  const auto spec = std::ranges::find(gang.units, group, &model::UnitSpec::role);
  if (spec == gang.units.end() || replica.empty()) return nullptr;
  return std::make_shared<const model::Unit>(
      model::Unit{static_cast<size_t>(spec - gang.units.begin()), fmt::format("{}/{}", group, replica)});
}

// Then the kind is, or was, served, whatever an API server says that has only begun to start.
bool MadeByRayCluster(const model::Pod& pod) {
  const model::OwnerReference* controller = pod.meta.Controller();
  return controller && controller->kind == "RayCluster" && controller->api_version.starts_with("ray.io/");
}

}  // namespace

KubeRay::KubeRay()
    : clusters_("kuberay", {"ray.io", "rayclusters", "RayCluster", {"v1", "v1alpha1"}},
                fmt::format("the pods' label {}", kRayClusterLabel)) {}

model::GangSpec KubeRay::Read(const model::Object& object) const {
  cluster::JsonReader read;
  const cluster::JsonField root(*object.body), spec = root["spec"], groups = spec["workerGroupSpecs"],
                                               suspend = spec["suspend"];
  model::GangSpec gang = GangOf(name(), object);
  const bool of_kai = model::Find(object.meta.labels, kKaiQueue) != nullptr;  // the queue itself is not read
  const bool autoscaled = read.Flag(spec["enableInTreeAutoscaling"]);
  const RayCount count = autoscaled ? RayCount::kAutoscaled : of_kai ? RayCount::kKai : RayCount::kKept;
  gang.roles.push_back({std::string(kRayHeadGroup), 1, 1});
  std::set<std::string, std::less<>> taken{std::string(kRayHeadGroup)};
  const auto add = [&](const cluster::JsonField& group) {
    model::RoleSpec role = ReadWorkerGroup(read, group, count);
    const bool twice = !taken.insert(role.name).second;
    if (role.name == kRayHeadGroup)
      read.Problem(group, fmt::format("groupName {} is reserved for the head; give the group another name", role.name));
    else if (twice && !role.name.empty())
      read.Problem(group, fmt::format("groupName {} is taken; give the group a name of its own", Named(role.name)));
    else
      gang.roles.push_back(std::move(role));
  };
  if (FewEnough(read, groups, kMostRoles)) read.Items(groups, add);
  std::sort(gang.roles.begin(), gang.roles.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  gang.units = ReplicasOf(gang.roles);
  gang.min_member = 0;
  for (const model::RoleSpec& role : gang.roles) gang.min_member = model::SaturatingAdd(gang.min_member, role.min);
  if (read.Flag(suspend)) read.Problem(suspend, "the cluster is suspended; set it to false to start it");

  if (const std::string* volcano = model::Find(object.meta.labels, kVolcanoQueue);
      volcano && !volcano->empty() && has_volcano_queues_) {
    gang.queue = *volcano;
    gang.queue_dialect = "volcano";
  }
  if (const std::string* priority = model::Find(object.meta.labels, kPriorityClass); priority && !priority->empty()) {
    gang.priority = priorities_.Value(*priority);
    if (!gang.priority)
      gang.remark = fmt::format("PriorityClass {} does not exist: the pods' own priorities count.", Named(*priority));
  }
  gang.min_runtime_ms = ReadMinRuntime(read, object);
  gang.problem = ProblemIn(object, read);
  return gang;
}

void KubeRay::PutCluster(std::shared_ptr<const model::Object> object, Touched* touched) {
  model::GangSpec gang = Read(*object);
  const PodGroup* before = clusters_.Find(gang.key);
  static const std::vector<model::UnitSpec> kNone;
  if (!std::ranges::equal(before ? before->spec.units : kNone, gang.units, {}, &model::UnitSpec::role,
                          &model::UnitSpec::role))
    touched->members.insert(gang.key);
  clusters_.Put(std::move(object), std::move(gang), touched);
}

void KubeRay::Put(std::shared_ptr<const model::Object> object, Touched* touched) {
  if (object->kind != "PriorityClass") {
    PutCluster(std::move(object), touched);
  } else if (priorities_.Put(*object)) {
    ReadAgain(object->meta.name, touched);
  }
}

void KubeRay::Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) {
  if (kind_name == clusters_.kind().Name()) {
    const model::GangKey key{std::string(this->name()), std::string(ns), std::string(name)};
    if (const PodGroup* cluster = clusters_.Find(key); cluster && !cluster->spec.units.empty())
      touched->members.insert(key);
    return clusters_.Drop(ns, name, touched);
  }
  if (kind_name == PriorityClasses::Kind().Name() && priorities_.Drop(name)) ReadAgain(name, touched);
}

void KubeRay::ReadAgain(std::string_view priority_class, Touched* touched) {
  for (auto& [place, cluster] : clusters_.all()) {
    const std::string* named = model::Find(cluster.object->meta.labels, kPriorityClass);
    if (named && *named == priority_class) PutCluster(cluster.object, touched);
  }
}

// Once there, it stays: if it goes, its pods wait for it to come back, and no worker starts alone in the meantime.
void KubeRay::Served(std::string_view kind_name, bool served, Touched* touched) {
  if (kind_name == kVolcanoQueues && std::exchange(has_volcano_queues_, served) != served) {
    for (auto& [place, cluster] : clusters_.all()) PutCluster(cluster.object, touched);
  }
  if (kind_name != clusters_.kind().Name() || was_served_) return;
  was_served_ = served;
  if (served == clusters_.served()) return;
  clusters_.set_served(served, touched);
  touched->memberships = true;
}

std::optional<Membership> KubeRay::MembershipOf(const model::Pod& pod) const {
  if (!clusters_.served() && !MadeByRayCluster(pod)) return std::nullopt;
  const RayPod ray = ReadRayPod(pod);
  if (!ray.node()) return std::nullopt;
  Membership membership;
  membership.gang = {std::string(name()), pod.meta.ns, *ray.cluster};
  SetRayRole(ray, &membership);
  membership.needs_head = ray.worker;
  if (const std::string* replica = model::Find(pod.meta.labels, kReplicaName))
    if (const PodGroup* cluster = clusters_.Find(membership.gang))
      membership.unit = ReplicaIn(cluster->spec, membership.role, *replica);
  return membership;
}

}  // namespace tutti::dialects
