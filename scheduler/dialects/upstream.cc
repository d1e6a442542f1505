// SPDX-License-Identifier: Apache-2.0
#include "dialects/upstream.h"

#include <fmt/format.h>

#include <limits>

#include "base/json.h"
#include "base/json_string.h"
#include "cluster/json_text.h"
#include "dialects/declaration.h"
#include "dialects/ray_pod.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

// Renamed in 1.37, when it was said that it only tells of the first time.
const char* ConditionType(const model::Object& object) {
  return object.version == "v1alpha2" ? "PodGroupScheduled" : "PodGroupInitiallyScheduled";
}

// The condition of `type`; null when there is none. Of other conditions there may be thousands.
const Json& ConditionIn(const Json& status, std::string_view type) {
  static const Json none;
  const auto conditions = status.find("conditions");
  if (conditions == status.end() || !conditions->is_array()) return none;
  for (const Json& condition : *conditions)
    if (condition.is_object() && condition.contains("type") && condition["type"] == type) return condition;
  return none;
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
      constraints = spec["schedulingConstraints"], topology = constraints["topology"], claims = spec["resourceClaims"];
  model::GangSpec gang = GangOf(name(), *object);
  // A basic group counts as one of minCount 1: its pods go one by one.
  if (gang_policy.present()) {
    const cluster::JsonField least = gang_policy["minCount"];
    gang.min_member = ReadCount(read, least, 1, 1);
    if (!least.present()) read.Problem(least, "is missing; write a whole number from 1");
  }
  gang.priority = ReadPriority(read, spec["priority"]);
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
  gang.problem = ProblemIn(*object, read);

  Json observed = WithoutTime(ConditionIn(StatusOf(*object), ConditionType(*object)));
  groups_.Put(std::move(object), std::move(gang), std::move(observed), touched);
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

void Upstream::Report(const GangReport& report, std::vector<cluster::CommandBody>* out) {
  PodGroup* group = groups_.Find(report.spec->key);
  std::optional<Json> wanted = Condition(report);
  if (!group || !wanted) return;
  const model::Object& object = *group->object;
  const char* type = ConditionType(object);
  const Json& observed = group->observed;
  const Json before = group->written.empty() ? observed : cluster::ParseJson(group->written);
  const bool was_true = (before.is_object() && before.value("status", Json()) == "True") ||
                        (observed.is_object() && observed.value("status", Json()) == "True");
  if (was_true) return;  // the first time counts, and it has been

  (*wanted)["type"] = type;
  (*wanted)["observedGeneration"] = object.meta.generation;
  if (!group->memory.MustWrite(*wanted, observed, object.meta.resource_version)) return;
  group->written = base::PrintJson(*wanted);
  // The time is of the change of status, not of its reason.
  (*wanted)["lastTransitionTime"] = base::FormatTime(report.now_wall_ms);
  if (before.is_object() && before.value("status", Json()) == (*wanted)["status"]) {
    if (const Json& old = ConditionIn(StatusOf(object), type); old.contains("lastTransitionTime"))
      (*wanted)["lastTransitionTime"] = old["lastTransitionTime"];
  }

  cluster::Patch patch;
  patch.object = cluster::RefOf(group->object);
  patch.status = true;
  patch.type = cluster::Patch::Type::kStrategic;  // merges conditions by type, so that others' stay
  patch.body = base::PrintJson({{"status", {{"conditions", Json::array({std::move(*wanted)})}}}});
  out->push_back(std::move(patch));
}

}  // namespace tutti::dialects
