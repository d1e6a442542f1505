// SPDX-License-Identifier: Apache-2.0
#include "dialects/volcano.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "base/json.h"
#include "cluster/json_text.h"
#include "dialects/declaration.h"
#include "dialects/ray_pod.h"
#include "dialects/volcano_status.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";
constexpr std::string_view kTaskSpec = "volcano.sh/task-spec";
constexpr std::string_view kTaskPriority = "volcano.sh/task-priority";
constexpr size_t kLongestName = 253;  // of an object
// Each pod of the group is compared with all of them.
constexpr size_t kMostPolicies = 256, kMostPolicyValues = 4'096;

// Volcano's controller puts pods that name no group into "podgroup-<UID of their controller>" with minMember 1. For the
// pods of a RayCluster that would make a gang of nothing; there the RayCluster itself declares it.
bool MadeForStrays(const std::string& group, const model::ObjectMeta& meta) {
  const model::OwnerReference* controller = meta.Controller();
  return controller && controller->kind == "RayCluster" && group == "podgroup-" + controller->uid;
}

// The names that KubeRay gives. A group made by hand may hold workers only, and then no head must be waited for.
bool MadeByKubeRay(std::string_view group) { return group.starts_with("ray-") && group.ends_with("-pg"); }

// In place of the pod's own priority, as Volcano reads it: what is no number of 32 bits says nothing (NewTaskInfo in
// pkg/scheduler/api/job_info.go).
std::optional<int32_t> TaskPriority(const model::Pod& pod) {
  const std::string* text = model::Find(pod.meta.annotations, kTaskPriority);
  if (!text) return std::nullopt;
  std::string_view digits = *text;
  if (digits.starts_with('+') && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
  int32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

const Json& SpecOf(const model::Object& object) {
  static const Json none = Json::object();
  const auto spec = object.body->find("spec");
  return spec != object.body->end() && spec->is_object() ? *spec : none;
}

// A name of ResourceQuota's: Volcano's controllers write such beside the resources of nodes (GetPodQuotaUsage).
bool IsQuotaName(std::string_view name) {
  return name.starts_with("count/") || name.starts_with("requests.") || name.starts_with("limits.") ||
         name == "persistentvolumeclaims" || name.find(".storageclass.storage.k8s.io/") != name.npos;
}

std::optional<model::ResourceList> ReadMinResources(cluster::JsonReader& read, const cluster::JsonField& field) {
  const std::optional<model::ResourceList> written = ReadRequests(read, field);
  if (!written) return std::nullopt;
  model::ResourceList of_nodes;
  for (const auto& [name, amount] : *written)
    if (!IsQuotaName(name)) of_nodes.Set(name, amount);
  return of_nodes;
}

// minTaskMember as roles. Volcano enforces them only where minMember is at least their sum.
void ReadRoles(cluster::JsonReader& read, const cluster::JsonField& field, model::GangSpec* gang) {
  if (!FewEnough(read, field, kMostRoles)) return;
  int64_t sum = 0;
  read.Values(field, [&](std::string_view role, const cluster::JsonField& value) {
    const int64_t least = ReadCount(read, value, 0, 0);
    sum += least;
    if (least > 0) gang->roles.push_back({std::string(role), least, 1});
  });
  if (sum > gang->min_member) gang->roles.clear();
}

// All within one HyperNode of the highest tier allowed, and better within one of a lower tier. If no tier is named
// nothing is required: so it is in Volcano (JobInfo.IsHardTopologyMode), and KubeRay's label for the mode names none.
// The same if the tier is above all HyperNodes: there Volcano has one more, with every node in it.
void ReadTopology(cluster::JsonReader& read, const cluster::JsonField& field, const HyperNodes& hyper_nodes,
                  model::TopologyRequest* request) {
  if (!field.present()) return;
  const cluster::JsonField mode = field["mode"], tier = field["highestTierAllowed"], name = field["highestTierName"];
  const std::set<int64_t>& tiers = hyper_nodes.Tiers();
  int64_t highest = tiers.empty() ? 1 : *tiers.rbegin();
  if (tier.present()) {
    highest = ReadCount(read, tier, highest, 0);
  } else if (name.present()) {
    highest = hyper_nodes.TierNamed(read.Text(name));
    if (highest < 0)
      read.Problem(name, fmt::format("no HyperNode has the tier {}; create it, or name another",
                                     cluster::Describe(name.value())));
  }
  std::vector<std::string> levels, widest{HyperNodes::LabelFor(highest)};
  for (const int64_t t : tiers) {
    if (t > highest) break;
    widest = hyper_nodes.LevelsOf(t);
    levels.insert(levels.end(), widest.begin(), widest.end());
  }
  *request = {};
  const int64_t whole_cluster = tiers.empty() ? 1 : std::max<int64_t>(1, *tiers.rbegin() + 1);
  const bool bounded = (tier.present() || name.present()) && highest < whole_cluster;
  const std::string how = read.Text(mode);
  if (!how.empty() && how != "hard" && how != "soft")
    read.Problem(mode, fmt::format("{} cannot be; write hard or soft", cluster::Describe(mode.value())));
  if (how != "soft" && bounded) {
    request->required = widest.front();
    request->alternatives.assign(widest.begin() + 1, widest.end());
  }
  request->preferred = std::move(levels);
}

std::vector<SubGroupPolicy> ReadSubGroups(cluster::JsonReader& read, const cluster::JsonField& policies,
                                          const HyperNodes& hyper_nodes) {
  std::vector<SubGroupPolicy> sub_groups;
  if (!FewEnough(read, policies, kMostPolicies) || !SmallEnough(read, policies, kMostPolicyValues)) return sub_groups;
  read.Items(policies, [&](const cluster::JsonField& field) {
    SubGroupPolicy policy;
    const cluster::JsonField selector = field["labelSelector"], keys = field["matchLabelKeys"],
                             topology = field["networkTopology"];
    if (selector.present()) policy.selector = read.Selector(selector);
    read.Items(keys, [&](const cluster::JsonField& key) { policy.keys.push_back(read.Text(key)); });
    ReadTopology(read, topology, hyper_nodes, &policy.topology);
    const std::string name = read.Text(field["name"]);
    policy.unit.name = name.empty() ? field.Path() : Named(name);
    policy.unit.size = ReadCount(read, field["subGroupSize"], 1, 1);
    policy.unit.min = ReadCount(read, field["minSubGroups"], 0, 0);
    sub_groups.push_back(std::move(policy));
  });
  return sub_groups;
}

}  // namespace

Volcano::Volcano()
    : groups_("volcano", {"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}},
              fmt::format("the pods' annotation {}", kGroupName)) {}

Volcano::Declaration Volcano::Read(const model::Object& object) const {
  cluster::JsonReader read;
  const cluster::JsonField root(*object.body), spec = root["spec"];
  model::GangSpec gang = GangOf(name(), object);
  gang.min_member = ReadCount(read, spec["minMember"], 0, 0);
  ReadRoles(read, spec["minTaskMember"], &gang);
  gang.min_resources = ReadMinResources(read, spec["minResources"]);
  const cluster::JsonField queue = spec["queue"];
  gang.queue = read.Text(queue);
  if (gang.queue.size() > kLongestName)
    read.Problem(queue, fmt::format("{} is longer than a name can be", cluster::Describe(queue.value())));
  if (gang.queue.empty() || gang.queue.size() > kLongestName) gang.queue = "default";
  const std::string priority_class = read.Text(spec["priorityClassName"]);
  gang.priority = priorities_.Value(priority_class);
  if (!priority_class.empty() && !gang.priority)
    gang.remark =
        fmt::format("PriorityClass {} does not exist: the pods' own priorities count.", Named(priority_class));
  const cluster::JsonField topology = spec["networkTopology"];
  ReadTopology(read, topology, hyper_nodes_, &gang.topology);
  std::vector<SubGroupPolicy> sub_groups = ReadSubGroups(read, spec["subGroupPolicy"], hyper_nodes_);
  for (const SubGroupPolicy& policy : sub_groups) gang.units.push_back(policy.unit);
  if (topology.present())
    if (const std::string unread = hyper_nodes_.Problem(); !unread.empty())
      gang.remark += (gang.remark.empty() ? "" : " ") + unread + ".";
  gang.min_runtime_ms = ReadMinRuntime(read, object);
  gang.problem = ProblemIn(object, read);
  return {std::move(gang), std::move(sub_groups)};
}

void Volcano::PutGroup(std::shared_ptr<const model::Object> object, Touched* touched) {
  Declaration read = Read(*object);
  const std::pair place(object->meta.ns, object->meta.name);
  const auto at = sub_groups_.find(place);
  if (read.sub_groups != (at == sub_groups_.end() ? std::vector<SubGroupPolicy>() : at->second)) {
    touched->members.insert(read.gang.key);
    if (read.sub_groups.empty())
      sub_groups_.erase(at);
    else
      sub_groups_[place] = std::move(read.sub_groups);
  }
  // In this order, so that a queue that goes on being named is not forgotten in between.
  queues_.Mention(read.gang.queue, touched);
  const Json& status = StatusOf(*object);
  if (const PodGroup* before = groups_.Find(read.gang.key)) {
    queues_.Forget(before->spec.queue, touched);
    if (VolcanoNamesConditions(StatusOf(*before->object)) != VolcanoNamesConditions(status))
      touched->desires.insert(read.gang.key);
  }
  groups_.Put(std::move(object), std::move(read.gang), touched);
}

void Volcano::Put(std::shared_ptr<const model::Object> object, Touched* touched) {
  if (object->kind == "Queue") return queues_.Put(object, touched);
  if (object->kind == "Command") return queues_.PutCommand(object, touched);
  if (object->kind == "PriorityClass") {
    if (priorities_.Put(*object)) ReadAgainOfClass(object->meta.name, touched);
    return;
  }
  if (object->kind == "HyperNode") {
    if (!hyper_nodes_.Put(*object)) return;
    touched->nodes = true;
    return ReadAgainWithTopology(touched);
  }
  PutGroup(std::move(object), touched);
}

void Volcano::Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) {
  if (kind_name == VolcanoQueues::Kind().Name()) return queues_.Drop(name, touched);
  if (kind_name == VolcanoCommands::Kind().Name()) return queues_.DropCommand(ns, name, touched);
  if (kind_name == groups_.kind().Name()) {
    if (sub_groups_.erase({std::string(ns), std::string(name)}) > 0)
      touched->members.insert({std::string(this->name()), std::string(ns), std::string(name)});
    if (const PodGroup* group = groups_.Find({std::string(this->name()), std::string(ns), std::string(name)}))
      queues_.Forget(group->spec.queue, touched);
    return groups_.Drop(ns, name, touched);
  }
  if (kind_name == PriorityClasses::Kind().Name() && priorities_.Drop(name)) ReadAgainOfClass(name, touched);
  if (kind_name == HyperNodes::Kind().Name() && hyper_nodes_.Drop(name)) {
    touched->nodes = true;
    ReadAgainWithTopology(touched);
  }
}

void Volcano::Served(std::string_view kind_name, bool served, Touched* touched) {
  if (kind_name == groups_.kind().Name()) groups_.set_served(served, touched);
  if (kind_name == VolcanoQueues::Kind().Name()) queues_.OnServed(touched);
}

// What a PodGroup says may depend on other objects.
void Volcano::ReadAgainOfClass(std::string_view priority_class, Touched* touched) {
  for (auto& [place, group] : groups_.all()) {
    const auto object = group.object;
    const Json& spec = SpecOf(*object);
    if (const auto named = spec.find("priorityClassName"); named != spec.end() && *named == priority_class)
      PutGroup(object, touched);
  }
}

void Volcano::ReadAgainWithTopology(Touched* touched) {
  for (auto& [place, group] : groups_.all()) {
    const auto object = group.object;
    if (SpecOf(*object).contains("networkTopology") || SpecOf(*object).contains("subGroupPolicy"))
      PutGroup(object, touched);
  }
}

void Volcano::AddNodeLabels(const model::Node& node, model::StringMap* labels, Touched* touched) {
  if (!hyper_nodes_.AddLabels(node, labels)) return;
  touched->nodes = true;
  ReadAgainWithTopology(touched);
}

// A PodGroup names no scheduler. Volcano's Job controller makes the pods only once the phase is neither empty nor
// Pending (syncJob), so the scheduler of its pods says the phase before there are any.
std::string_view Volcano::SchedulerName(const model::GangKey& key) const {
  const PodGroup* group = groups_.Find(key);
  return group && !MadeForStrays(key.name, group->object->meta) ? name() : std::string_view();
}

std::optional<Membership> Volcano::MembershipOf(const model::Pod& pod) const {
  const std::string* group = model::Find(pod.meta.annotations, kGroupName);
  if (!group || group->empty()) return std::nullopt;
  const RayPod ray = ReadRayPod(pod);
  if (ray.node() && MadeForStrays(*group, pod.meta)) return std::nullopt;

  Membership membership;
  membership.gang = {std::string(name()), pod.meta.ns, *group};
  const std::string* task = model::Find(pod.meta.annotations, kTaskSpec);
  if (!task) task = model::Find(pod.meta.labels, kTaskSpec);
  if (task) membership.role = *task;
  SetRayRole(ray, &membership);
  membership.priority = TaskPriority(pod);
  membership.needs_head = ray.worker && MadeByKubeRay(*group);
  if (!sub_groups_.empty())
    if (const auto policies = sub_groups_.find({pod.meta.ns, *group}); policies != sub_groups_.end())
      JoinSubGroup(policies->second, pod, &membership);
  return membership;
}

base::Millis Volcano::Desire(const GangReport& report, const cluster::Unseen& unseen,
                             std::vector<cluster::DesiredObject>* out) const {
  const PodGroup* group = groups_.Find(report.spec->key);
  if (!group) return 0;
  const Json& observed = StatusOf(*group->object);
  Json wanted = VolcanoStatus(report, LatestStatus(group->object, unseen), observed);
  // Some have done their work, and others are not there: Volcano says Pending. For its own Job it says Inqueue a moment
  // later, without which the Job's controller does not make the others.
  const model::OwnerReference* controller = group->object->meta.Controller();
  const bool of_volcano_job = controller && controller->api_version.starts_with("batch.volcano.sh/");
  if (report.state == GangState::kWaitingForMembers && report.succeeded > 0 && report.running == 0 && !of_volcano_job)
    wanted["phase"] = "Pending";
  TakeOutOtherCounters(&wanted);
  out->push_back(WithStatus(group->object, std::move(wanted), VolcanoAgrees));
  return 0;
}

}  // namespace tutti::dialects
