// SPDX-License-Identifier: Apache-2.0
#include "dialects/upstream.h"

#include <fmt/format.h>

#include <limits>

#include "base/json.h"
#include "cluster/json_reader.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/ray_pod.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

// Renamed in 1.37, when it was said that it only tells of the first time.
const char* ConditionType(const model::Object& object) {
  return object.version == "v1alpha2" ? "PodGroupScheduled" : "PodGroupInitiallyScheduled";
}

// The condition of `type`; null when there is none.
const Json& ConditionIn(const Json& status, std::string_view type) {
  static const Json none;
  const Json* condition = FindCondition(Field(status, "conditions"), type);
  return condition ? *condition : none;
}

Json WithoutTime(Json condition) {
  if (condition.is_object()) condition.erase("lastTransitionTime");
  return condition;
}

std::optional<int32_t> ReadPriority(cluster::JsonReader& read, const cluster::JsonField& field) {
  if (!field.present()) return std::nullopt;
  const int64_t value = read.Integer(field, 0);
  if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max())
    return static_cast<int32_t>(value);
  read.Problem(field, fmt::format("{} is no priority; write one from -2147483648 to 2147483647", value));
  return std::nullopt;
}

// Of the one condition that is desired, whether `object` has it.
bool HasCondition(const Json& fields, const Json& object) {
  const Json& desired = StatusIn(fields)["conditions"][0];
  return WithoutTime(desired) ==
         WithoutTime(ConditionIn(StatusIn(object), desired["type"].get_ref<const std::string&>()));
}

// True, False or nothing to say, as upstream's reasons have it.
std::optional<Json> Condition(const GangReport& report) {
  switch (report.state) {
    case GangState::kAdmitted:
    case GangState::kBinding: return std::nullopt;      // upstream says True here; ours may yet be undone
    case GangState::kTerminating: return std::nullopt;  // no pod waits
    case GangState::kWhole:
    case GangState::kFinished: return Json{{"status", "True"}, {"reason", "Scheduled"}, {"message", ""}};
    case GangState::kInvalid:
      return Json{{"status", "False"},
                  {"reason", "SchedulerError"},
                  {"message", OneLine(report.sentence.empty() ? report.spec->problem : report.sentence)}};
    default:
      return Json{{"status", "False"},
                  {"reason", "Unschedulable"},
                  {"message", OneLine(Join(report.sentence, report.nodes_sentence))}};
  }
}

}  // namespace

Upstream::Upstream()
    : groups_("upstream", {"scheduling.k8s.io", "podgroups", "PodGroup", {"v1beta1", "v1alpha3", "v1alpha2"}},
              "the pods' spec.schedulingGroup.podGroupName") {}

void Upstream::Put(std::shared_ptr<const model::Object> object, Touched* touched) {
  cluster::JsonReader read;
  const cluster::JsonField root(*object->body),
      spec = root["spec"], policy = spec["schedulingPolicy"], gang_policy = policy["gang"],
      constraints = spec["schedulingConstraints"], topology = constraints["topology"], claims = spec["resourceClaims"],
      disruption = spec["disruptionMode"];
  model::GangSpec gang = GangOf(name(), *object);
  // A basic group counts as one of minCount 1: its pods go one by one.
  if (gang_policy.present()) {
    const cluster::JsonField least = gang_policy["minCount"];
    gang.min_member = ReadCount(read, least, 1, 1);
    if (!least.present()) read.Problem(least, "is missing; write a whole number from 1");
  }
  gang.priority = ReadPriority(read, spec["priority"]);
  // A word until v1alpha2, and a choice of fields since.
  gang.goes_whole = disruption.value().is_object() ? disruption["all"].present() : read.Text(disruption) == "PodGroup";
  read.Items(topology, [&](const cluster::JsonField& item) {
    const cluster::JsonField key = item["key"];
    if (!gang.topology.required.empty()) read.Problem(item, "is one too many; upstream has one");
    gang.topology.required = read.Text(key);
    if (gang.topology.required.empty()) read.Problem(key, "is missing; write a label key of nodes");
  });
  if (claims.present() && !claims.value().empty())
    read.Problem(claims, "claims that a group shares are not supported; take them out");
  if (const cluster::JsonField parent = spec["parentCompositePodGroupName"]; parent.present())
    read.Problem(parent, "composite groups are not supported; take it out");
  gang.min_runtime_ms = ReadMinRuntime(read, *object);
  gang.problem = ProblemIn(*object, read);

  groups_.Put(std::move(object), std::move(gang), touched);
}

void Upstream::Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) {
  if (kind_name == groups_.kind().Name()) groups_.Drop(ns, name, touched);
}

void Upstream::Served(std::string_view kind_name, bool served, Touched* touched) {
  if (kind_name == groups_.kind().Name()) groups_.set_served(served, touched);
}

std::optional<Membership> Upstream::MembershipOf(const model::Pod& pod) const {
  if (pod.scheduling_group.empty()) return std::nullopt;
  Membership membership;
  membership.gang = {std::string(name()), pod.meta.ns, pod.scheduling_group};
  const RayPod ray = ReadRayPod(pod);
  SetRayRole(ray, &membership);
  // KubeRay names the group "<cluster>-cluster"; another one may hold workers only.
  membership.needs_head = ray.worker && pod.scheduling_group == *ray.cluster + "-cluster";
  return membership;
}

base::Millis Upstream::Desire(const GangReport& report, const cluster::Unseen& unseen,
                              std::vector<cluster::DesiredObject>* out) const {
  const PodGroup* group = groups_.Find(report.spec->key);
  if (!group) return 0;
  const model::Object& object = *group->object;
  const char* type = ConditionType(object);
  const Json& observed = ConditionIn(StatusOf(object), type);
  const Json& before = ConditionIn(LatestStatus(group->object, unseen), type);

  // The first time counts. Once it is seen it is desired as it stands: another's write that comes late may undo it.
  std::optional<Json> wanted;
  if (TextIn(observed, "status") == "True") {
    if (!IsShort(observed)) return 0;
    wanted = observed;
  } else if (TextIn(before, "status") == "True") {
    wanted = before;  // and is to be seen yet
  } else if ((wanted = Condition(report))) {
    (*wanted)["type"] = type;
    (*wanted)["observedGeneration"] = object.meta.generation;
    // The time is of the change of status, not of its reason.
    const bool same = Field(before, "status") == (*wanted)["status"];
    (*wanted)["lastTransitionTime"] = same && before.contains("lastTransitionTime")
                                          ? before["lastTransitionTime"]
                                          : Json(base::FormatTime(report.now_wall_ms));
  }
  if (!wanted) return 0;
  // A strategic merge finds conditions by their type, so that others' stay.
  out->push_back(WithStatus(group->object, {{"conditions", Json::array({std::move(*wanted)})}}, HasCondition,
                            cluster::Patch::Type::kStrategic));
  return 0;
}

}  // namespace tutti::dialects
