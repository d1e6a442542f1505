// SPDX-License-Identifier: Apache-2.0
#include "dialects/scheduler_plugins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "cluster/json_text.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/ray_cluster.h"
#include "dialects/ray_pod.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

constexpr std::string_view kPodGroup = "scheduling.x-k8s.io/pod-group";

// It has ended, and its pods are being cleaned up: what is said of it stays, as its controller leaves it.
bool IsCleanedUp(const GangReport& report, const std::string& phase) {
  return report.total < report.spec->min_member && (phase == "Finished" || phase == "Failed");
}

// As its controller decides, but that a group which recovers from a failed pod is Running again: theirs stays Failed.
std::string Phase(const GangReport& report) {
  if (report.state == GangState::kInvalid) return "Pending";
  if (report.state == GangState::kTerminating) return "Running";  // it counts them until they are gone
  const int64_t least = report.spec->min_member;
  if (report.succeeded >= least) return "Finished";
  if (report.total < least) return "Pending";
  if (report.failed > 0 && report.failed + report.running + report.succeeded >= least) return "Failed";
  return report.running + report.succeeded >= least ? "Running" : "Scheduling";
}

// KubeRay writes a plain reference, of no controller, and its kind may be left out.
bool IsOwnedBy(const model::Object& object, const std::string& uid) {
  constexpr size_t kMostOwners = 16;
  const auto meta = object.body->find("metadata");
  if (meta == object.body->end() || !meta->is_object()) return false;
  const auto owners = meta->find("ownerReferences");
  if (owners == meta->end() || !owners->is_array()) return false;
  return owners->size() <= kMostOwners && std::ranges::any_of(*owners, [&](const Json& owner) {
           return owner.is_object() && owner.contains("uid") && owner["uid"] == uid;
         });
}

Json Comparable(const Json& status) {
  Json comparable = Json::object();
  for (const char* field : {"phase", "running", "succeeded", "failed", "scheduleStartTime"})
    if (const auto at = status.find(field); at != status.end() && !at->is_null() && *at != 0 && IsShort(*at))
      comparable[field] = *at;
  return comparable;
}

bool PhaseAgrees(const Json& fields, const Json& object) {
  return Comparable(StatusIn(fields)) == Comparable(StatusIn(object));
}

}  // namespace

SchedulerPlugins::SchedulerPlugins()
    : groups_("scheduler-plugins", {"scheduling.x-k8s.io", "podgroups", "PodGroup", {"v1alpha1"}},
              fmt::format("the pods' label {}", kPodGroup)) {}

model::ObjectKind SchedulerPlugins::RayClusterKind() {
  return {"ray.io", "rayclusters", "RayCluster", {"v1", "v1alpha1"}};
}

void SchedulerPlugins::Put(std::shared_ptr<const model::Object> object, Touched* touched) {
  if (object->kind == RayClusterKind().kind)
    PutCluster(object->meta.ns, object->meta.name, {PodsOf(*object), object->meta.uid}, touched);
  else
    PutGroup(std::move(object), touched);
}

void SchedulerPlugins::PutCluster(const std::string& ns, const std::string& name, RayCluster cluster,
                                  Touched* touched) {
  if (cluster.pods == 0) cluster = {};
  const std::pair place(ns, name);
  const auto at = clusters_.find(place);
  if (cluster == (at == clusters_.end() ? RayCluster() : at->second)) return;
  if (cluster.pods > 0)
    clusters_[place] = std::move(cluster);
  else
    clusters_.erase(at);
  if (const PodGroup* group = groups_.Find({std::string(this->name()), ns, name})) PutGroup(group->object, touched);
}

void SchedulerPlugins::FollowCluster(const model::Object& group, model::GangSpec* gang) const {
  const auto at = clusters_.find(std::pair(group.meta.ns, group.meta.name));
  if (at == clusters_.end() || !IsOwnedBy(group, at->second.uid)) return;
  const int64_t made = at->second.pods;
  if (made >= gang->min_member) return;
  gang->remark = fmt::format("{} has minMember {}, but {} makes {} pod{}: no more are waited for.",
                             Named("PodGroup", group.meta.ns, group.meta.name), gang->min_member,
                             Named("RayCluster", group.meta.ns, group.meta.name), made, made == 1 ? "" : "s");
  gang->min_member = made;
  gang->min_resources.reset();  // it is of as many pods as minMember
}

void SchedulerPlugins::PutGroup(std::shared_ptr<const model::Object> object, Touched* touched) {
  cluster::JsonReader read;
  const cluster::JsonField root(*object->body), spec = root["spec"];
  model::GangSpec gang = GangOf(name(), *object);
  const cluster::JsonField least = spec["minMember"];
  gang.min_member = ReadCount(read, least, 1, 1);
  if (!least.present()) read.Problem(least, "is missing; write a whole number from 1");
  gang.min_resources = ReadRequests(read, spec["minResources"]);
  gang.start_timeout_ms = ReadCount(read, spec["scheduleTimeoutSeconds"], 0, 0) * 1000;
  FollowCluster(*object, &gang);
  gang.min_runtime_ms = ReadMinRuntime(read, *object);
  gang.problem = ProblemIn(*object, read);

  groups_.Put(std::move(object), std::move(gang), touched);
}

void SchedulerPlugins::Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) {
  if (kind_name == groups_.kind().Name()) groups_.Drop(ns, name, touched);
  if (kind_name == RayClusterKind().Name()) PutCluster(std::string(ns), std::string(name), {}, touched);
}

void SchedulerPlugins::Served(std::string_view kind_name, bool served, Touched* touched) {
  if (kind_name == groups_.kind().Name()) groups_.set_served(served, touched);
}

std::optional<Membership> SchedulerPlugins::MembershipOf(const model::Pod& pod) const {
  const std::string* group = model::Find(pod.meta.labels, kPodGroup);
  if (!group || group->empty()) return std::nullopt;
  Membership membership;
  membership.gang = {std::string(name()), pod.meta.ns, *group};
  const RayPod ray = ReadRayPod(pod);
  SetRayRole(ray, &membership);
  // KubeRay names the group after the cluster; another one may hold workers only.
  membership.needs_head = ray.worker && *group == *ray.cluster;
  return membership;
}

base::Millis SchedulerPlugins::Desire(const GangReport& report, const cluster::Unseen& unseen,
                                      std::vector<cluster::DesiredObject>* out) const {
  const PodGroup* group = groups_.Find(report.spec->key);
  if (!group) return 0;
  const Json before = Comparable(LatestStatus(group->object, unseen));

  Json wanted = Json::object();
  if (IsCleanedUp(report, TextIn(before, "phase"))) {
    wanted = before;
  } else {
    wanted["phase"] = Phase(report);
    if (report.running > 0) wanted["running"] = report.running;
    if (report.succeeded > 0) wanted["succeeded"] = report.succeeded;
    if (report.failed > 0) wanted["failed"] = report.failed;
  }
  if (const auto start = before.find("scheduleStartTime"); start != before.end() && start->is_string())
    wanted["scheduleStartTime"] = *start;
  else if (wanted["phase"] == "Scheduling")
    wanted["scheduleStartTime"] = base::FormatTime(report.now_wall_ms);
  TakeOutOtherCounters(&wanted);
  out->push_back(WithStatus(group->object, std::move(wanted), PhaseAgrees));
  return 0;
}

}  // namespace tutti::dialects
