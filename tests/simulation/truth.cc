// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cluster/json_decode.h"
#include "cluster/json_text.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using sim::DigString;
using sim::EventType;
using sim::IntOf;
using sim::Json;

namespace {

constexpr const char* kVolcanoGroup = "scheduling.k8s.io/group-name";
constexpr const char* kPluginsGroup = "scheduling.x-k8s.io/pod-group";
constexpr const char* kYuniKornApp = "yunikorn.apache.org/app-id";
constexpr const char* kTaskGroup = "yunikorn.apache.org/task-group-name";
constexpr const char* kTaskSpec = "volcano.sh/task-spec";
constexpr const char* kTaskGroups = "yunikorn.apache.org/task-groups";
constexpr const char* kBind = "tutti.dev/bind";
constexpr const char* kTopologyRequired = "tutti.dev/topology-required";
constexpr const char* kZone = "zone";
constexpr const char* kWorkload = "kueue.x-k8s.io/workload";
constexpr const char* kPodSet = "kueue.x-k8s.io/podset";

const sim::GroupResource kVolcanoQueues{"scheduling.volcano.sh", "queues"};
const sim::GroupResource kPluginsPodGroups{"scheduling.x-k8s.io", "podgroups"};
const sim::GroupResource kHyperNodes{"topology.volcano.sh", "hypernodes"};
const sim::GroupResource kLeases{"coordination.k8s.io", "leases"};
const sim::GroupResource kUpstreamPodGroups{"scheduling.k8s.io", "podgroups"};

std::string Key(const char* dialect, const Json& object) {
  return fmt::format("{}/{}/{}", dialect, sim::NamespaceOf(object), sim::NameOf(object));
}

void AddClamped(model::ResourceList& sum, const model::ResourceList& amount, int sign) {
  for (const auto& [name, value] : amount) sum.Set(name, sum.Get(name) + sign * value);
}

// Of a node, what keeps pods away that do not ask for it or tolerate it.
bool SameMarks(const Json& a, const Json& b) {
  return sim::Dig(a, "metadata", "labels") == sim::Dig(b, "metadata", "labels") &&
         sim::Dig(a, "spec", "taints") == sim::Dig(b, "spec", "taints") &&
         sim::BoolOf(sim::Dig(a, "spec", "unschedulable")) == sim::BoolOf(sim::Dig(b, "spec", "unschedulable"));
}

bool Tolerates(const Json& pod, const std::string& key, const std::string& value, const std::string& effect) {
  return std::ranges::any_of(sim::ArrayOf(sim::Dig(pod, "spec", "tolerations")), [&](const Json& toleration) {
    const std::string& its_key = DigString(toleration, "key");
    const std::string& its_effect = DigString(toleration, "effect");
    const bool any_value = DigString(toleration, "operator") == "Exists";
    return (its_effect.empty() || its_effect == effect) && (its_key == key || (its_key.empty() && any_value)) &&
           (any_value || DigString(toleration, "value") == value);
  });
}

// The gang a pod says it is in, and its part.
std::pair<std::string, std::string> Membership(const Json& pod) {
  const std::string place = sim::NamespaceOf(pod) + "/";
  if (const auto& workload = sim::AnnotationOf(pod, kWorkload); !workload.empty())
    return {"kueue/" + place + workload, sim::LabelOf(pod, kPodSet)};
  if (const auto& group = sim::AnnotationOf(pod, kVolcanoGroup); !group.empty())
    return {"volcano/" + place + group, sim::AnnotationOf(pod, kTaskSpec)};
  if (const auto& group = sim::LabelOf(pod, kPluginsGroup); !group.empty()) return {"plugins/" + place + group, ""};
  if (const auto& group = DigString(pod, "spec", "schedulingGroup", "podGroupName"); !group.empty())
    return {"upstream/" + place + group, ""};
  if (const auto& app = sim::LabelOf(pod, kYuniKornApp); !app.empty())
    return {"yunikorn/" + place + app, sim::AnnotationOf(pod, kTaskGroup)};
  if (const auto& ray = sim::LabelOf(pod, "ray.io/cluster"); !ray.empty())
    return {"ray/" + place + ray, sim::LabelOf(pod, "ray.io/group")};
  return {"pod/" + place + sim::NameOf(pod), ""};
}

}  // namespace

Truth::Truth(sim::Store& store) : store_(store) {
  subscription_ = store_.Subscribe([this](const sim::WatchEvent& event) {
    if (event.resource == sim::kPods)
      OnPod(event);
    else if (event.resource == sim::kNodes)
      OnNode(event);
    else if (event.resource == kVolcanoQueues)
      OnQueue(event);
    else if (event.resource == kHyperNodes)
      OnHyperNode(event);
    else if (event.resource == kLeases)
      ++lease_writes_;
    else if (event.resource == kClaims && event.type != EventType::kModified)
      claims_[sim::KeyOf(*event.object)] = event.resource_version;
    else if (event.resource == kVolcanoPodGroups || event.resource == kPluginsPodGroups ||
             event.resource == kUpstreamPodGroups || event.resource == sim::kRayClusters)
      OnDeclaration(event);
    else if (event.resource == kWorkloads)
      OnWorkload(event);
  });
}

Truth::~Truth() { store_.Unsubscribe(subscription_); }

const TruePod* Truth::Pod(const std::string& uid) const {
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : &at->second;
}

const TruePod* Truth::PodAt(const std::string& ns, const std::string& name) const {
  const auto at = by_name_.find({ns, name});
  return at == by_name_.end() ? nullptr : Pod(at->second);
}

// A record is over when it is taken back, or its pod bound. Another one of the gang may come then, or when the victims
// of the first are gone.
void Truth::FollowRecord(const Json& pod, TruePod& now) {
  const Json& condition = sim::ConditionOf(pod, "tutti.dev/Preempting");
  const bool stands = DigString(condition, "status") == "True" && !now.bound() && !now.done && !now.deleting;
  const Json record = stands ? cluster::ParseJson(DigString(condition, "message")) : Json();
  const std::string plan = stands ? DigString(record, "plan") : "";
  if (plan == now.preemption) return;
  const auto conflicts = [&](const TruePod& earlier) {
    return !plan.empty() && !earlier.preemption.empty() && earlier.preemption != plan && earlier.gang == now.gang &&
           std::ranges::any_of(earlier.victims, [this](const std::string& uid) { return pods_.contains(uid); });
  };
  for (const auto& [uid, earlier] : pods_)
    if (conflicts(earlier)) second_set_ = fmt::format("{}: {} after {}", now.gang, plan, earlier.preemption);
  now.preemption = plan;
  now.victims.clear();
  if (!stands) return;
  for (const char* cause : {"preempt", "reclaim"})
    for (const Json& uid : sim::ArrayOf(sim::Child(record, cause))) now.victims.insert(sim::StringOf(uid));
  recorded_.insert(now.victims.begin(), now.victims.end());
  if (judged_.insert(plan).second) FindUseless(now);
}

// The members' nominations are there before the first record is. A later leader may find other places.
void Truth::FindUseless(const TruePod& recorder) {
  std::set<std::string> kept, gangs;
  for (const std::string& uid : gangs_.at(recorder.gang).members) kept.insert(pods_.at(uid).nominated);
  for (const std::string& uid : recorder.victims) {
    const TruePod* victim = Pod(uid);
    if (!victim || victim->deleting) continue;
    const auto gang = gangs_.find(victim->gang);
    if (gang != gangs_.end() && gang->second.declared && !victim->foreign) {
      gangs.insert(victim->gang);
    } else if (!kept.contains(victim->node)) {
      useless_ = fmt::format("{} for {}, which has no place on {}", victim->name, recorder.gang, victim->node);
    }
  }
  for (const std::string& name : gangs) {
    const TrueGang& gang = gangs_.at(name);
    if (!StandingOf(gang).whole) continue;
    std::vector<std::string> left;
    for (const std::string& uid : gang.members) {
      const TruePod& pod = pods_.at(uid);
      if (pod.bound() && !pod.done && !pod.deleting && !recorder.victims.contains(uid)) left.push_back(uid);
    }
    if (!left.empty() && !Suffices(gang, left))
      useless_ = fmt::format("a part of {} for {}, and the rest is too little", name, recorder.gang);
    const auto is_head = [this](const std::string& uid) { return pods_.contains(uid) && pods_.at(uid).head; };
    const auto goes = [&](const std::string& uid) { return is_head(uid) && recorder.victims.contains(uid); };
    if (!left.empty() && std::ranges::any_of(gang.members, goes) && std::ranges::none_of(left, is_head))
      useless_ = fmt::format("the head of {} for {}, and its workers stay", name, recorder.gang);
  }
}

void Truth::Read(const Json& pod, bool first, TruePod& now) const {
  if (first) {
    now.ns = sim::NamespaceOf(pod);
    now.name = sim::NameOf(pod);
    now.uid = sim::UidOf(pod);
    now.scheduler = DigString(pod, "spec", "schedulerName");
    now.foreign = now.scheduler != "tutti";
    std::vector<std::string> problems;
    now.requests = cluster::DecodePodLeniently(pod, &problems).spec->requests;
    now.requests.Set(model::kPods, 1);
    now.unit = sim::LabelOf(pod, kUnit);
    const std::string& owner = DigString(sim::ControllerOf(pod), "kind");
    now.kept = owner.empty() || owner == "Job";
    now.controller = DigString(sim::ControllerOf(pod), "uid");
    now.volumes = !sim::Dig(pod, "spec", "volumes").empty();
    now.one_zone = sim::AnnotationOf(pod, kTopologyRequired) == kZone;
    now.head = sim::LabelOf(pod, "ray.io/node-type") == "head";
    now.guarded = !sim::LabelOf(pod, kGuardedLabel).empty();
    now.priority = static_cast<int32_t>(sim::IntOf(sim::Dig(pod, "spec", "priority")));
  }
  if (first || now.gated) std::tie(now.gang, now.role) = Membership(pod);
  now.told_to_go = sim::IsTrue(pod, "TerminationTarget");
  const bool was_bound = now.bound();
  now.node = DigString(pod, "spec", "nodeName");
  now.phase = DigString(pod, "status", "phase");
  now.done = now.phase == "Succeeded" || now.phase == "Failed";
  now.deleting = sim::IsTerminating(pod);
  now.nominated = DigString(pod, "status", "nominatedNodeName");
  now.gated = !sim::Dig(pod, "spec", "schedulingGates").empty();
  now.disruption = DigString(sim::ConditionOf(pod, "DisruptionTarget"), "status") == "True";
  now.preempted =
      now.disruption && DigString(sim::ConditionOf(pod, "DisruptionTarget"), "reason") == "PreemptionByScheduler";
  const Json& scheduled = sim::ConditionOf(pod, "PodScheduled");
  now.waiting = DigString(scheduled, "status") == "False";
  now.bound_at = DigString(scheduled, "status") == "True" ? DigString(scheduled, "lastTransitionTime")
                                                          : DigString(pod, "metadata", "creationTimestamp");
  now.reason = now.waiting ? DigString(scheduled, "reason") : "";
  now.message = now.waiting ? DigString(scheduled, "message") : "";
  if (!was_bound && now.bound()) {
    const Json bind = cluster::ParseJson(sim::AnnotationOf(pod, kBind));
    if (DigString(bind, "uid") == now.uid && DigString(bind, "node") == now.node) {
      now.plan = DigString(bind, "plan");
      now.commit = DigString(bind, "commit");
    }
  }
}

void Truth::Weigh(const TruePod& pod, int sign) {
  if (!pod.occupies()) return;
  AddClamped(nodes_[pod.node].used, pod.requests, sign);
  const TrueGang& gang = gangs_[pod.gang];
  if (!pod.deleting && !pod.foreign && !gang.queue.empty()) AddClamped(queues_[gang.queue].used, pod.requests, sign);
}

void Truth::OnPod(const sim::WatchEvent& event) {
  const std::string& uid = sim::UidOf(*event.object);
  const auto [at, fresh] = pods_.try_emplace(uid);
  TruePod& pod = at->second;
  if (event.type == EventType::kDeleted) {
    last_loss_ = event.resource_version;
    if (!fresh) Forget(uid, pod, event.resource_version);
    pods_.erase(at);
    return;
  }
  const bool was_bound = pod.bound(), was_live = !fresh && pod.live(), weighed = pod.occupies(),
             was_deleting = pod.deleting, was_done = pod.done;
  if (weighed) Weigh(pod, -1);
  const std::string said = std::exchange(pod.message, {}), in = pod.gang;
  Read(*event.object, fresh, pod);
  if (fresh) pod.made = event.resource_version;
  if (!fresh && pod.gang != in) {
    gang_count_ -= gangs_[in].members.erase(uid) > 0 && gangs_[in].members.empty() && !pod.foreign;
    touched_.insert(in);
  }
  if (said != pod.message) pod.said = event.resource_version;
  if (pod.done && !was_done) pod.done_since = event.resource_version;
  if ((pod.bound() && !was_bound) || (was_live && !pod.live())) last_loss_ = event.resource_version;
  TrueGang& gang = gangs_[pod.gang];
  if (fresh || pod.gang != in) Join(*event.object, uid, pod, gang);
  FollowRecord(*event.object, pod);
  if (pod.occupies()) Weigh(pod, +1);
  if (was_live && !pod.live()) gang.disturbed = event.resource_version;
  if (pod.bound() && !was_bound) OnBound(uid, pod, gang, event.resource_version);
  if (fresh || was_bound != pod.bound() || was_live != pod.live() || weighed != pod.occupies() ||
      was_deleting != pod.deleting)
    touched_.insert(pod.gang);
}

void Truth::Forget(const std::string& uid, const TruePod& pod, Version version) {
  Weigh(pod, -1);
  by_name_.erase({pod.ns, pod.name});
  TrueGang& gang = gangs_[pod.gang];
  gang.members.erase(uid);
  gang_count_ -= gang.members.empty() && !pod.foreign;
  gang.disturbed = version;
  touched_.insert(pod.gang);
}

void Truth::Join(const Json& object, const std::string& uid, TruePod& pod, TrueGang& gang) {
  gang_count_ += gang.members.empty() && !pod.foreign;
  gang.members.insert(uid);
  by_name_[{pod.ns, pod.name}] = uid;
  if (pod.gang.starts_with("pod/")) gang.declared = true;
  if (pod.gang.starts_with("yunikorn/")) {
    gang.declared = true;
    gang.min = 0;
    for (const Json& group : cluster::ParseJson(sim::AnnotationOf(object, kTaskGroups)))
      gang.role_min[DigString(group, "name")] = IntOf(sim::Child(group, "minMember"));
  }
  if (pod.gang.starts_with("ray/") && pod.role.empty()) pod.role = "headgroup";
}

void Truth::OnBound(const std::string& uid, TruePod& pod, TrueGang& gang, Version version) {
  bound_.push_back(uid);
  pod.stray = stray_;
  if (pod.plan.empty() || pod.stray) {  // by others
    gang.disturbed = nodes_[pod.node].disturbed = room_taken_ = version;
    if (!gang.queue.empty()) queues_[gang.queue].disturbed = version;
  }
  if (pod.commit == uid && !pod.plan.empty()) {
    committed_.insert(pod.gang + "\n" + pod.plan);
    gang.was_whole = true;  // the last bind is the commit record, whatever became of the others meanwhile
  }
}

void Truth::OnNode(const sim::WatchEvent& event) {
  TrueNode& node = nodes_[sim::NameOf(*event.object)];
  const bool was = node.present;
  const model::ResourceList before = node.allocatable;
  node.present = event.type != EventType::kDeleted;
  if (node.present) {
    std::vector<std::string> problems;
    node.allocatable = cluster::DecodeNodeLeniently(*event.object, &problems).allocatable;
  }
  const bool shrunk =
      std::ranges::any_of(before, [&](const auto& item) { return node.allocatable.Get(item.first) < item.second; });
  if (was != node.present || shrunk) node.disturbed = event.resource_version;
  if (event.type != EventType::kAdded && (shrunk || !node.present)) room_taken_ = event.resource_version;
  if (event.type != EventType::kModified || !SameMarks(*event.previous, *event.object))
    node.marked = room_taken_ = event.resource_version;
  node.zone = sim::LabelOf(*event.object, kZone);
  if (was == node.present) return;
  if (node.present)
    ++node_count_;
  else
    --node_count_;
  for (const auto& [uid, pod] : pods_)
    if (pod.node == sim::NameOf(*event.object)) {
      gangs_[pod.gang].disturbed = event.resource_version;
      touched_.insert(pod.gang);
    }
}

void Truth::Redeclare(const std::string& key, const std::function<void(TrueGang&)>& change, Version version) {
  TrueGang& gang = gangs_[key];
  for (const std::string& uid : gang.members) Weigh(pods_.at(uid), -1);
  const std::string queue = gang.queue;
  change(gang);
  for (const std::string& uid : gang.members) Weigh(pods_.at(uid), +1);
  gang.disturbed = version;
  if (gang.queue != queue && !gang.queue.empty()) queues_[gang.queue].disturbed = version;
  touched_.insert(key);
}

void Truth::OnDeclaration(const sim::WatchEvent& event) {
  const Json& object = *event.object;
  const Json& spec = sim::Child(object, "spec");
  if (event.previous && event.type == EventType::kModified && sim::Child(*event.previous, "spec") == spec) return;
  const bool there = event.type != EventType::kDeleted;
  const auto declare = [&](const char* dialect, const auto& read) {
    Redeclare(
        Key(dialect, object),
        [&](TrueGang& gang) {
          gang.declared = there;
          gang.made = there ? DigString(object, "metadata", "creationTimestamp") : "";
          gang.queue.clear();
          gang.role_min.clear();
          gang.unit_size = gang.unit_min = 0;
          gang.one_zone = gang.one_zone_each = false;
          if (there) read(gang);
        },
        event.resource_version);
  };
  if (event.resource == kVolcanoPodGroups) {
    declare("volcano", [&](TrueGang& gang) {
      gang.min = IntOf(sim::Child(spec, "minMember"), 0);
      gang.queue = DigString(spec, "queue").empty() ? "default" : DigString(spec, "queue");
      for (const auto& [role, least] : sim::MapOf(sim::Child(spec, "minTaskMember")).items())
        gang.role_min[role] = IntOf(least);
      gang.one_zone = !sim::Dig(spec, "networkTopology", "highestTierAllowed").is_null();
      for (const Json& policy : sim::ArrayOf(sim::Child(spec, "subGroupPolicy"))) {
        gang.unit_size = IntOf(sim::Child(policy, "subGroupSize"));
        gang.unit_min = IntOf(sim::Child(policy, "minSubGroups"));
        gang.one_zone_each = !sim::Dig(policy, "networkTopology", "highestTierAllowed").is_null();
      }
    });
  } else if (event.resource == kPluginsPodGroups) {
    declare("plugins", [&](TrueGang& gang) { gang.min = IntOf(sim::Child(spec, "minMember"), 1); });
  } else if (event.resource == kUpstreamPodGroups) {
    declare("upstream",
            [&](TrueGang& gang) { gang.min = IntOf(sim::Dig(spec, "schedulingPolicy", "gang", "minCount"), 1); });
  } else if (event.resource == sim::kRayClusters) {
    declare("ray", [&](TrueGang& gang) {
      gang.min = 0;
      gang.role_min["headgroup"] = 1;
      for (const Json& group : sim::ArrayOf(sim::Child(spec, "workerGroupSpecs"))) {
        const int64_t least = IntOf(sim::Child(group, "minReplicas"), 0);
        gang.role_min[DigString(group, "groupName")] = std::max(IntOf(sim::Child(group, "replicas"), least), least);
      }
      if (sim::BoolOf(sim::Child(spec, "suspend"))) gang.declared = false;
    });
  }
}

// A Workload is the minimum of its job's pods while it has quota.
void Truth::OnWorkload(const sim::WatchEvent& event) {
  const Json& object = *event.object;
  const bool has = event.type != EventType::kDeleted && sim::IsTrue(object, "QuotaReserved");
  const Json& status = sim::Child(object, "status");
  std::map<std::string, int64_t> counts;
  for (const Json& set : sim::ArrayOf(sim::Dig(status, "admission", "podSetAssignments")))
    if (has) counts[DigString(set, "name")] = IntOf(sim::Child(set, "count"));
  for (const Json& set : sim::ArrayOf(sim::Child(status, "reclaimablePods")))
    if (has) counts[DigString(set, "name")] -= IntOf(sim::Child(set, "count"));
  const std::string key = Key("kueue", object);
  const auto known = gangs_.find(key);
  if (known == gangs_.end() ? !has : known->second.declared == has && known->second.role_min == counts) return;
  Redeclare(
      key,
      [&](TrueGang& gang) {
        gang.declared = has;
        gang.min = 0;
        gang.role_min = counts;
      },
      event.resource_version);
}

// Until all are there again, it cannot be told which zone is whose.
void Truth::OnHyperNode(const sim::WatchEvent& event) {
  if (event.type == EventType::kDeleted)
    hyper_nodes_.erase(sim::NameOf(*event.object));
  else
    hyper_nodes_.insert(sim::NameOf(*event.object));
  for (auto& [key, gang] : gangs_)
    if (gang.one_zone || gang.one_zone_each) gang.disturbed = event.resource_version;
}

void Truth::OnQueue(const sim::WatchEvent& event) {
  const Json& spec = sim::Child(*event.object, "spec");
  if (event.type == EventType::kModified && sim::Child(*event.previous, "spec") == spec) return;
  TrueQueue& queue = queues_[sim::NameOf(*event.object)];
  queue.parent = DigString(spec, "parent");
  queue.capability = {};
  for (const auto& [name, amount] : sim::MapOf(sim::Child(spec, "capability")).items()) {
    (void)queue.capability.SetText(name, amount.is_string() ? sim::StringOf(amount) : amount.dump());
  }
  // A change anywhere in a tree may have moved what counts where.
  for (auto& [name, each] : queues_) each.disturbed = event.resource_version;
}

std::vector<std::pair<std::string, model::ResourceList>> Truth::PathUse(const std::string& name) const {
  std::vector<std::pair<std::string, model::ResourceList>> path;
  std::set<std::string> seen;
  for (std::string at = name; queues_.contains(at) && seen.insert(at).second; at = queues_.at(at).parent) {
    model::ResourceList used;
    for (const auto& [other, queue] : queues_) {
      std::set<std::string> up;
      for (std::string above = other; queues_.contains(above) && up.insert(above).second;
           above = queues_.at(above).parent)
        if (above == at) {
          AddClamped(used, queue.used, +1);
          break;
        }
    }
    path.emplace_back(at, std::move(used));
    if (queues_.at(at).parent.empty()) break;
  }
  return path;
}

Truth::Standing Truth::StandingOf(const TrueGang& gang) const {
  Standing standing;
  std::vector<std::string> bound;
  for (const std::string& uid : gang.members) {
    const TruePod& pod = pods_.at(uid);
    if (Ran(gang, pod)) {
      standing.ran = true;
      bound.push_back(uid);
      continue;
    }
    if (pod.foreign || pod.done || pod.deleting) continue;
    const bool here = pod.bound() && nodes_.contains(pod.node) && nodes_.at(pod.node).present;
    standing.held += pod.bound();
    standing.kept = standing.kept || (pod.bound() && (pod.kept || pod.plan.empty()));
    if (here) bound.push_back(uid);
  }
  standing.bound = std::ssize(bound);
  standing.whole = Suffices(gang, bound);
  return standing;
}

bool Truth::Suffices(const TrueGang& gang, const std::vector<std::string>& uids) const {
  std::map<std::string, int64_t> of_role, of_unit;
  for (const std::string& uid : uids) {
    const TruePod& pod = pods_.at(uid);
    ++of_role[pod.role];
    if (!pod.unit.empty()) ++of_unit[pod.unit];
  }
  int64_t sum = 0;
  for (const auto& [role, min] : gang.role_min) {
    if (of_role[role] < min) return false;
    sum += min;
  }
  const auto full = [&](const auto& unit) { return unit.second >= gang.unit_size; };
  return std::ranges::count_if(of_unit, full) >= gang.unit_min &&
         std::ssize(uids) >= std::max({sum, gang.min, int64_t{1}});
}

size_t Truth::CountPodGroupsWithoutPods() const {
  return static_cast<size_t>(std::ranges::count_if(gangs_, [](const auto& each) {
    return each.second.members.empty() && each.second.declared && each.first.starts_with("volcano/");
  }));
}

bool Truth::Ran(const TrueGang& gang, const TruePod& pod) const {
  if (pod.phase != "Succeeded" || !pod.bound() || pod.foreign) return false;
  if (gang.made.empty() ? pod.controller.empty() : pod.bound_at >= gang.made) return true;
  return std::ranges::any_of(gang.members, [&](const std::string& uid) {
    const TruePod& other = pods_.at(uid);
    if (other.done || other.foreign) return false;
    return (!pod.controller.empty() && other.controller == pod.controller) ||
           (other.bound() && !pod.plan.empty() && other.plan == pod.plan);
  });
}

std::string Truth::WrongNode(const TruePod& pod, const std::string& node_name) const {
  const sim::Object object = store_.Find(sim::kPods, pod.ns, pod.name), node = store_.Find(sim::kNodes, "", node_name);
  if (!object || !node) return {};
  for (const auto& [key, value] : sim::MapOf(sim::Dig(*object, "spec", "nodeSelector")).items())
    if (sim::LabelOf(*node, key) != sim::StringOf(value))
      return fmt::format("it asks for {} {}, and there it is \"{}\"", key, sim::StringOf(value),
                         sim::LabelOf(*node, key));
  if (sim::BoolOf(sim::Dig(*node, "spec", "unschedulable")) &&
      !Tolerates(*object, "node.kubernetes.io/unschedulable", "", "NoSchedule"))
    return "the node is cordoned";
  for (const Json& taint : sim::ArrayOf(sim::Dig(*node, "spec", "taints"))) {
    const std::string& effect = DigString(taint, "effect");
    if (effect != "PreferNoSchedule" && !Tolerates(*object, DigString(taint, "key"), DigString(taint, "value"), effect))
      return fmt::format("it does not tolerate {}={}:{}", DigString(taint, "key"), DigString(taint, "value"), effect);
  }
  return {};
}

int64_t Truth::RoomFor(const TruePod& pod) const {
  int64_t room = 0;
  for (const auto& [name, node] : nodes_) {
    if (!node.present || !WrongNode(pod, name).empty()) continue;
    int64_t here = std::numeric_limits<int64_t>::max();
    for (const auto& [resource, amount] : pod.requests)
      if (amount > 0)
        here = std::min(here, std::max<int64_t>(0, node.allocatable.Get(resource) - node.used.Get(resource)) / amount);
    room += here;
  }
  return room;
}

std::string Truth::WrongVolumes(const TruePod& pod, Version known) const {
  const sim::Object object = store_.Find(sim::kPods, pod.ns, pod.name);
  if (!object) return {};
  for (const Json& use : sim::ArrayOf(sim::Dig(*object, "spec", "volumes"))) {
    const std::string& name = DigString(use, "persistentVolumeClaim", "claimName");
    const sim::Object claim = name.empty() ? nullptr : store_.Find(kClaims, pod.ns, name);
    if (!claim || claims_.at(sim::KeyOf(*claim)) > known) continue;
    const std::string& volume_name = DigString(*claim, "spec", "volumeName");
    if (volume_name.empty()) return "claim " + name + " has no volume";
    const sim::Object volume = store_.Find({"", "persistentvolumes"}, "", volume_name);
    if (volume && !sim::Dig(*volume, "spec", "local").is_null() && !volume_name.starts_with(pod.node + "-"))
      return fmt::format("claim {} has volume {}, which is not on {}", name, volume_name, pod.node);
  }
  return {};
}

std::vector<std::string> Truth::TakeBound() { return std::exchange(bound_, {}); }
std::set<std::string> Truth::TakeTouched() { return std::exchange(touched_, {}); }

bool Truth::HasOpenCommit(const TrueGang& gang) const {
  for (const std::string& uid : gang.members) {
    const TruePod& pod = pods_.at(uid);
    if (!pod.bound() || pod.deleting || pod.commit.empty() || (pod.done && !Ran(gang, pod))) continue;
    const TruePod* commit = Pod(pod.commit);
    if (commit && !commit->bound() && gang.members.contains(commit->uid)) return true;
  }
  return false;
}

}  // namespace tutti::simulation
