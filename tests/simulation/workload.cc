// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "sim/manifests/manifest.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using base::Random;
using sim::Json;

namespace {

constexpr const char* kQueueNames[] = {"default", "team-a", "team-b", "team-c"};
constexpr const char* kRemovable[] = {"podgroups.scheduling.volcano.sh", "queues.scheduling.volcano.sh",
                                      "podgroups.scheduling.x-k8s.io", "rayclusters.ray.io",
                                      "hypernodes.topology.volcano.sh"};
constexpr int64_t kHighPriority = 1000;

sim::GroupResource ResourceOf(const Json& declaration) {
  const auto [group, version] = sim::SplitApiVersion(sim::DigString(declaration, "apiVersion"));
  const std::string& kind = sim::DigString(declaration, "kind");
  return {group, kind == "RayCluster"  ? "rayclusters"
                 : kind == "Queue"     ? "queues"
                 : kind == "HyperNode" ? "hypernodes"
                                       : "podgroups"};
}

std::string SetOf(const std::string& gang, const std::string& part) { return gang + "-" + part; }

}  // namespace

const std::map<std::string, Workload::Action>& Workload::Actions() {
  static const std::map<std::string, Action> actions = {{"arrive-volcano", &Workload::ArriveVolcano},
                                                        {"arrive-plugins", &Workload::ArrivePlugins},
                                                        {"arrive-upstream", &Workload::ArriveUpstream},
                                                        {"arrive-yunikorn", &Workload::ArriveYuniKorn},
                                                        {"arrive-ray", &Workload::ArriveRay},
                                                        {"arrive-lone", &Workload::ArriveLone},
                                                        {"arrive-bare", &Workload::ArriveBare},
                                                        {"arrive-job", &Workload::ArriveJob},
                                                        {"arrive-volcano-job", &Workload::ArriveVolcanoJob},
                                                        {"sync-volcano-jobs", &Workload::SyncVolcanoJobs},
                                                        {"arrive-volumes", &Workload::ArriveVolumes},
                                                        {"arrive-headed", &Workload::ArriveHeaded},
                                                        {"arrive-roles", &Workload::ArriveRoles},
                                                        {"arrive-units", &Workload::ArriveUnits},
                                                        {"arrive-forged", &Workload::ArriveForged},
                                                        {"bind-forged", &Workload::BindForged},
                                                        {"leave", &Workload::Leave},
                                                        {"scale", &Workload::Scale},
                                                        {"kill", &Workload::Kill},
                                                        {"fail", &Workload::Fail},
                                                        {"edit-min", &Workload::EditMin},
                                                        {"edit-group-queue", &Workload::EditGroupQueue},
                                                        {"edit-queue", &Workload::EditQueue},
                                                        {"edit-node-size", &Workload::EditNodeSize},
                                                        {"add-node", &Workload::AddNode},
                                                        {"autoscale", &Workload::Autoscale},
                                                        {"relabel", &Workload::Relabel},
                                                        {"taint", &Workload::Taint},
                                                        {"cordon", &Workload::Cordon},
                                                        {"drain", &Workload::Drain},
                                                        {"foreign", &Workload::Foreign},
                                                        {"take-place", &Workload::TakePlace},
                                                        {"wipe-disk", &Workload::WipeDisk},
                                                        {"drop-claim", &Workload::DropClaim}};
  return actions;
}

std::vector<std::string> Workload::Names() {
  std::vector<std::string> names = QueueUsers::Names();
  for (const auto& [name, action] : Actions()) names.push_back(name);
  return names;
}

std::string Workload::Do(const std::string& name, Random& random, size_t number) {
  made_ = number;
  if (QueueUsers::Knows(name)) return queue_users_.Do(name, random, number, Full());
  return (this->*Actions().at(name))(random);
}

// --- Setup ---

void Workload::Setup(Random& random) {
  static const auto definitions = sim::LoadManifests({TUTTI_SOURCE_DIR "/manifests/crds"});
  TUTTI_CHECK(definitions, definitions ? "" : definitions.error().message);
  for (const sim::Manifest& each : *definitions) {
    definitions_[sim::NameOf(each.object)] = each.object;
    MustCreate(store_, each.object);
  }
  MustCreate(store_, {{"apiVersion", "scheduling.k8s.io/v1"},
                      {"kind", "PriorityClass"},
                      {"metadata", {{"name", "high"}}},
                      {"value", kHighPriority}});
  MustCreate(store_, {{"apiVersion", "scheduling.k8s.io/v1"},
                      {"kind", "PriorityClass"},
                      {"metadata", {{"name", "low"}}},
                      {"value", -kHighPriority}});
  for (const auto& [name, provisioner] :
       {std::pair(kDisks, "kubernetes.io/no-provisioner"), std::pair(kNetwork, "network.csi.example")})
    MustCreate(store_, {{"apiVersion", "storage.k8s.io/v1"},
                        {"kind", "StorageClass"},
                        {"metadata", {{"name", name}}},
                        {"provisioner", provisioner},
                        {"volumeBindingMode", "WaitForFirstConsumer"}});
  if (scenario_.budgets)
    MustCreate(store_,
               {{"apiVersion", "policy/v1"},
                {"kind", "PodDisruptionBudget"},
                {"metadata", {{"name", "guards"}, {"namespace", kNamespace}}},
                {"spec", {{"minAvailable", "100%"}, {"selector", {{"matchLabels", {{kGuardedLabel, "yes"}}}}}}}});
  const int64_t cpu = scenario_.nodes * scenario_.cpu;
  const auto add_queue = [&](const std::string& name, const std::string& parent, int64_t most) {
    Json queue = {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                  {"kind", "Queue"},
                  {"metadata", {{"name", name}}},
                  {"spec", {{"weight", 1}}}};
    if (!parent.empty()) queue["spec"]["parent"] = parent;
    if (most > 0) queue["spec"]["capability"] = {{"cpu", std::to_string(most)}};
    queues_[name] = queue;
    MustCreate(store_, queue);
  };
  add_queue("default", "", 0);
  add_queue("org", "", cpu / 2);
  for (const char* name : {"team-a", "team-b"}) add_queue(name, "org", cpu / 3);
  add_queue("team-c", "", cpu / 4);
  for (const char* zone : {"a", "b"}) {
    const Json members = {{"type", "Node"}, {"selector", {{"labelMatch", {{"matchLabels", {{"zone", zone}}}}}}}};
    hyper_nodes_.push_back({{"apiVersion", "topology.volcano.sh/v1alpha1"},
                            {"kind", "HyperNode"},
                            {"metadata", {{"name", fmt::format("zone-{}", zone)}}},
                            {"spec", {{"tier", 1}, {"members", Json::array({members})}}}});
    MustCreate(store_, hyper_nodes_.back());
  }
  if (queued()) queue_users_.Setup(random);
  for (int64_t i = 0; i < scenario_.nodes; ++i) AddNode(random);
  world_.Pump();
}

// --- Picking ---
//
// Each has a lot of its own, and the least is drawn: whether others are there does not change the lot of any.

bool Workload::Full() const {
  return static_cast<int64_t>(gangs_.size() + queue_users_.jobs()) >= scenario_.most_gangs ||
         static_cast<int64_t>(store_.Count(sim::kPods)) >= scenario_.most_pods;
}

Workload::Gang* Workload::PickGang(Random& random) {
  const auto lot = [salt = random.Next()](const Gang& gang) { return Mix(salt, gang.name); };
  const auto at = std::ranges::min_element(gangs_, {}, lot);
  return at == gangs_.end() ? nullptr : &*at;
}

// First whose, then which.
sim::Object Workload::PickPod(Random& random, bool bound_only) const {
  const uint64_t salt = random.Next();
  std::vector<sim::Object> pods;
  uint64_t least = 0;
  for (const sim::Object& pod : store_.All(sim::kPods)) {
    if (sim::IsTerminating(*pod) || (bound_only && sim::DigString(*pod, "spec", "nodeName").empty())) continue;
    const uint64_t lot = Mix(salt, std::string_view(sim::NameOf(*pod)).substr(0, sim::NameOf(*pod).rfind('-')));
    if (pods.empty() || lot < least) pods.clear(), least = lot;
    if (lot == least) pods.push_back(pod);
  }
  return pods.empty() ? nullptr : pods[random.Below(pods.size())];
}

std::string Workload::PickNode(Random& random) const {
  const std::vector<sim::Object> nodes = store_.All(sim::kNodes);
  const auto lot = [salt = random.Next()](const sim::Object& node) { return Mix(salt, sim::NameOf(*node)); };
  return nodes.empty() ? "" : sim::NameOf(**std::ranges::min_element(nodes, {}, lot));
}

// --- Arrivals ---

Json Workload::PodTemplate(Random& random, const Gang& gang, const Part* part) const {
  Json requests = {{"cpu", fmt::format("{}m", 500 * random.Between(1, 6))},
                   {"memory", fmt::format("{}Gi", random.Between(1, 4))}};
  if (scenario_.gpu > 0 && random.OneIn(3)) requests["nvidia.com/gpu"] = std::to_string(random.Between(1, 2));
  Json pod = {{"metadata", {{"labels", {{"app", gang.name}}}}},
              {"spec",
               {{"schedulerName", "tutti"},
                {"terminationGracePeriodSeconds", 5},
                {"containers",
                 {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", requests}, {"limits", requests}}}}}}}}};
  Json& meta = pod["metadata"];
  if (random.OneIn(3)) pod["spec"]["priorityClassName"] = random.OneIn(3) ? "low" : "high";
  if (scenario_.gangs_preempt) {  // of a gang all alike; lone pods have none below them
    const auto sum = std::accumulate(gang.name.begin(), gang.name.end(), size_t{0});
    pod["spec"]["priorityClassName"] = gang.dialect.empty() ? "low" : std::array{"low", "", "high"}[sum % 3];
  }
  if (scenario_.budgets && Mix(0, gang.name) % 4 != 0) meta["labels"][kGuardedLabel] = "yes";
  if (scenario_.victims) pod["spec"]["priorityClassName"] = gang.dialect.empty() ? "low" : "high";
  if (random.OneIn(5)) pod["spec"]["nodeSelector"] = {{"zone", random.OneIn(2) ? "a" : "b"}};
  if (random.OneIn(4)) pod["spec"]["tolerations"] = {{{"key", "team"}, {"operator", "Exists"}}};
  if (random.OneIn(6)) meta["annotations"]["sim.tutti.dev/stop-after"] = "3s";
  if (!part && random.OneIn(10))
    meta["annotations"][random.OneIn(2) ? "kueue.x-k8s.io/podset-preferred-topology" : "tutti.dev/topology-required"] =
        "zone";
  if (gang.owner != "ReplicaSet" && gang.owner != "RayCluster")
    meta["annotations"]["sim.tutti.dev/run-for"] = fmt::format("{}s", random.Between(5, 120));
  if (gang.dialect == "volcano") meta["annotations"]["scheduling.k8s.io/group-name"] = gang.name;
  if (gang.dialect == "plugins") meta["labels"]["scheduling.x-k8s.io/pod-group"] = gang.name;
  if (gang.dialect == "upstream") pod["spec"]["schedulingGroup"] = {{"podGroupName", gang.name}};
  if (gang.dialect == "yunikorn") {
    Json groups = Json::array();
    for (const Part& each : gang.parts) groups.push_back({{"name", each.name}, {"minMember", each.min}});
    if (!part) groups.push_back({{"name", "w"}, {"minMember", gang.min}});
    meta["labels"]["yunikorn.apache.org/app-id"] = gang.name;
    meta["annotations"]["yunikorn.apache.org/task-group-name"] = part ? part->name : "w";
    meta["annotations"]["yunikorn.apache.org/task-groups"] = groups.dump();
  } else if (gang.parted == Parted::kInRoles) {
    meta["annotations"]["volcano.sh/task-spec"] = part->name;
  } else if (gang.parted == Parted::kInUnits) {
    meta["labels"][kUnit] = part->name;
  }
  return pod;
}

Json Workload::Declaration(Random& random, const Gang& gang) const {
  const Json meta = {{"name", gang.name}, {"namespace", kNamespace}};
  if (gang.dialect == "volcano") {
    Json spec = {{"minMember", gang.min}, {"queue", kQueueNames[random.Below(std::size(kQueueNames))]}};
    const Json one_zone = {{"mode", "hard"}, {"highestTierAllowed", 1}};
    if (gang.parted == Parted::kInRoles)
      for (const Part& part : gang.parts) spec["minTaskMember"][part.name] = part.min;
    if (gang.parted == Parted::kInUnits) {
      const int64_t least = random.Between(1, static_cast<int64_t>(gang.parts.size())), size = gang.parts.front().size;
      Json policy = {{"name", "units"}, {"matchLabelKeys", {kUnit}}, {"subGroupSize", size}, {"minSubGroups", least}};
      if (random.OneIn(3)) policy["networkTopology"] = one_zone;
      spec["subGroupPolicy"] = Json::array({policy});
      spec["minMember"] = least * size;
    }
    if (gang.parted != Parted::kNot && random.OneIn(4)) spec["networkTopology"] = one_zone;
    return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
            {"kind", "PodGroup"},
            {"metadata", meta},
            {"spec", std::move(spec)}};
  }
  if (gang.dialect == "plugins")
    return {{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
            {"kind", "PodGroup"},
            {"metadata", meta},
            {"spec", {{"minMember", gang.min}}}};
  if (gang.dialect == "upstream")
    return {{"apiVersion", "scheduling.k8s.io/v1alpha2"},
            {"kind", "PodGroup"},
            {"metadata", meta},
            {"spec", {{"schedulingPolicy", {{"gang", {{"minCount", gang.min}}}}}}}};
  return nullptr;
}

void Workload::MakePods(const Gang& gang, Json pod_template) {
  if (gang.owner == "ReplicaSet") {
    MakeReplicaSet(gang.name, gang.size, std::move(pod_template));
  } else if (gang.owner == "Job") {
    pod_template["spec"]["restartPolicy"] = "Never";
    MustCreate(
        store_,
        {{"apiVersion", "batch/v1"},
         {"kind", "Job"},
         {"metadata", {{"name", gang.name}, {"namespace", kNamespace}}},
         {"spec", {{"parallelism", gang.size}, {"completions", gang.size}, {"template", std::move(pod_template)}}}});
  } else {
    // Of every other gang one member has done its work while the others go on.
    const bool one_ends = Mix(0, gang.name) % 2 == 0;
    for (int64_t i = 0; i < gang.size; ++i) {
      Json pod = pod_template;
      if (one_ends && i > 0) pod["metadata"]["annotations"].erase("sim.tutti.dev/run-for");
      if (!gang.volume_class.empty())
        pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] = fmt::format("{}-{}", gang.name, i);
      pod["apiVersion"] = "v1";
      pod["kind"] = "Pod";
      pod["metadata"]["name"] = fmt::format("{}-{}", gang.name, i);
      pod["metadata"]["namespace"] = kNamespace;
      MustCreate(store_, std::move(pod));
    }
  }
}

void Workload::MakeReplicaSet(const std::string& name, int64_t size, Json pod_template) {
  pod_template["metadata"]["labels"]["set"] = name;
  MustCreate(store_, {{"apiVersion", "apps/v1"},
                      {"kind", "ReplicaSet"},
                      {"metadata", {{"name", name}, {"namespace", kNamespace}}},
                      {"spec",
                       {{"replicas", size},
                        {"selector", {{"matchLabels", {{"set", name}}}}},
                        {"template", std::move(pod_template)}}}});
}

std::string Workload::Arrive(Random& random, const std::string& dialect, const std::string& owner) {
  if (Full()) return {};
  Gang gang;
  gang.name = fmt::format("g{}", ++made_);
  gang.dialect = dialect;
  gang.owner = owner;
  gang.min = dialect.empty() ? 1 : random.Between(1, random.OneIn(3) ? 7 : 3);
  gang.size = dialect.empty() ? 1 : gang.min + (random.OneIn(3) ? random.Between(1, 3) : 0);
  gang.declaration = Declaration(random, gang);
  Json pods = PodTemplate(random, gang);
  const bool pods_first = random.OneIn(3);
  if (pods_first) MakePods(gang, pods);
  if (!gang.declaration.is_null()) (void)store_.Create(gang.declaration);  // its kind may be gone just now
  if (!pods_first) MakePods(gang, pods);
  gangs_.push_back(gang);
  return fmt::format("{} gang {} of {} with {} pods, {} needed, arrives", dialect.empty() ? "plain" : dialect,
                     gang.name, owner.empty() ? "bare pods" : owner, gang.size, gang.min);
}

std::string Workload::ArriveVolcano(Random& random) { return Arrive(random, "volcano", "ReplicaSet"); }
std::string Workload::ArrivePlugins(Random& random) { return Arrive(random, "plugins", "ReplicaSet"); }
std::string Workload::ArriveUpstream(Random& random) { return Arrive(random, "upstream", "ReplicaSet"); }
std::string Workload::ArriveYuniKorn(Random& random) { return Arrive(random, "yunikorn", "ReplicaSet"); }
std::string Workload::ArriveLone(Random& random) { return Arrive(random, "", random.OneIn(2) ? "" : "ReplicaSet"); }
std::string Workload::ArriveBare(Random& random) { return Arrive(random, random.OneIn(2) ? "volcano" : "plugins", ""); }
std::string Workload::ArriveJob(Random& random) {
  return Arrive(random, random.OneIn(2) ? "volcano" : "upstream", "Job");
}

// As Volcano's Job controller begins: the PodGroup alone.
std::string Workload::ArriveVolcanoJob(Random& random) {
  if (Full()) return {};
  Gang gang{.name = fmt::format("g{}", ++made_), .dialect = "volcano", .owner = random.OneIn(3) ? "Job" : "ReplicaSet"};
  gang.min = gang.size = random.Between(1, 5);
  gang.declaration = Declaration(random, gang);
  gang.declaration["spec"]["minResources"] = {{"cpu", std::to_string(2 * gang.min)}};
  gang.pods_to_come = PodTemplate(random, gang);
  (void)store_.Create(gang.declaration);  // its kind may be gone just now
  gangs_.push_back(gang);
  return fmt::format("volcano gang {} arrives, whose {} pods are made when it is let in", gang.name, gang.size);
}

// As it goes on: the pods, of each whose PodGroup has been let in.
std::string Workload::SyncVolcanoJobs(Random&) {
  std::string made;
  for (Gang& gang : gangs_) {
    if (gang.pods_to_come.is_null()) continue;
    const sim::Object group = store_.Find(kVolcanoPodGroups, kNamespace, gang.name);
    const std::string& phase = group ? sim::DigString(*group, "status", "phase") : std::string();
    if (phase.empty() || phase == "Pending") continue;
    MakePods(gang, std::exchange(gang.pods_to_come, nullptr));
    made += " " + gang.name;
  }
  return made.empty() ? "" : "pods are made of the gangs" + made;
}

std::string Workload::ArriveInParts(Random& random, Gang gang) {
  gang.owner = "ReplicaSet";
  gang.min = gang.size = 0;
  for (const Part& part : gang.parts) gang.min += part.min, gang.size += part.size;
  gang.declaration = Declaration(random, gang);
  if (!gang.declaration.is_null()) (void)store_.Create(gang.declaration);  // its kind may be gone just now
  const Json like = PodTemplate(random, gang, &gang.parts.front());
  for (const Part& part : gang.parts) {
    Json pods = PodTemplate(random, gang, &part);
    // What is asked of subgroups is of any of them only while they are alike.
    if (gang.parted == Parted::kInUnits) pods["spec"] = like["spec"];
    MakeReplicaSet(SetOf(gang.name, part.name), part.size, std::move(pods));
  }
  gangs_.push_back(gang);
  return fmt::format("{} gang {} of {} {} with {} pods, {} needed, arrives", gang.dialect, gang.name, gang.parts.size(),
                     gang.parted == Parted::kInRoles ? "roles" : "subgroups", gang.size, gang.min);
}

std::string Workload::ArriveRoles(Random& random) {
  if (Full()) return {};
  Gang gang{.name = fmt::format("g{}", ++made_), .dialect = random.OneIn(2) ? "volcano" : "yunikorn"};
  gang.parted = Parted::kInRoles;
  for (const char* role : {"a", "b"}) {
    const int64_t min = random.Between(1, 3);
    gang.parts.push_back({role, min, min + (random.OneIn(3) ? random.Between(1, 2) : 0)});
  }
  return ArriveInParts(random, std::move(gang));
}

std::string Workload::ArriveUnits(Random& random) {
  if (Full()) return {};
  Gang gang{.name = fmt::format("g{}", ++made_), .dialect = "volcano"};
  gang.parted = Parted::kInUnits;
  const int64_t size = random.Between(2, 3), least = random.Between(1, 3), units = least + (random.OneIn(3) ? 1 : 0);
  for (int64_t i = 0; i < units; ++i) gang.parts.push_back({fmt::format("u{}", i), size, size});
  return ArriveInParts(random, std::move(gang));
}

std::string Workload::ArriveRay(Random& random) {
  if (Full()) return {};
  Gang gang;
  gang.name = fmt::format("r{}", ++made_);
  gang.dialect = "ray";
  gang.owner = "RayCluster";
  const int64_t workers = random.Between(1, 4);
  const auto pod = [&](const char* name) {
    const Json requests = {{"cpu", fmt::format("{}", random.Between(1, 2))}, {"memory", "1Gi"}};
    return Json{
        {"spec",
         {{"schedulerName", "tutti"},
          {"containers",
           {{{"name", name}, {"image", "i"}, {"resources", {{"requests", requests}, {"limits", requests}}}}}}}}};
  };
  gang.declaration = {{"apiVersion", "ray.io/v1"},
                      {"kind", "RayCluster"},
                      {"metadata", {{"name", gang.name}, {"namespace", kNamespace}}},
                      {"spec",
                       {{"rayVersion", "2.46.0"},
                        {"headGroupSpec", {{"rayStartParams", Json::object()}, {"template", pod("head")}}},
                        {"workerGroupSpecs",
                         {{{"groupName", "w"},
                           {"replicas", workers},
                           {"minReplicas", 0},
                           {"maxReplicas", 8},
                           {"rayStartParams", Json::object()},
                           {"template", pod("worker")}}}}}}};
  const auto created = store_.Create(gang.declaration);
  if (!created) return {};
  gangs_.push_back(gang);
  return fmt::format("RayCluster {} with {} workers arrives", gang.name, workers);
}

// Pods whose template carries the bind annotation of another user's pod.
std::string Workload::ArriveForged(Random& random) {
  if (Full()) return {};
  const sim::Object victim = PickPod(random, true);
  const std::string stolen = victim ? sim::AnnotationOf(*victim, "tutti.dev/bind") : "";
  if (stolen.empty()) return {};
  Gang gang{fmt::format("f{}", ++made_), "plugins", "ReplicaSet", random.Between(2, 4), 0};
  gang.size = gang.min;
  gang.declaration = Declaration(random, gang);
  Json pods = PodTemplate(random, gang);
  pods["metadata"]["annotations"]["tutti.dev/bind"] = stolen;
  (void)store_.Create(gang.declaration);
  MakePods(gang, pods);
  gangs_.push_back(gang);
  return fmt::format("gang {} arrives with the bind annotation of {}", gang.name, sim::NameOf(*victim));
}

// Another user binds one member of a gang that waits, and writes on it that another member is bound last.
std::string Workload::BindForged(Random& random) {
  const Gang* gang = PickGang(random);
  if (!gang || gang->owner != "ReplicaSet") return {};
  std::vector<sim::Object> members;
  for (const sim::Object& pod : store_.All(sim::kPods)) {
    if (sim::LabelOf(*pod, "app") != gang->name || sim::IsTerminating(*pod)) continue;
    if (!sim::DigString(*pod, "spec", "nodeName").empty()) return {};
    members.push_back(pod);
  }
  const std::string node = PickNode(random);
  if (members.size() < 2 || node.empty()) return {};
  const Json evidence = {{"plan", "forged"}, {"uid", "unknown"}, {"node", node}, {"commit", sim::UidOf(*members[1])}};
  const auto bound = store_.Bind({{"apiVersion", "v1"},
                                  {"kind", "Binding"},
                                  {"metadata",
                                   {{"name", sim::NameOf(*members[0])},
                                    {"namespace", kNamespace},
                                    {"annotations", {{"tutti.dev/bind", evidence.dump()}}}}},
                                  {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
  return bound ? fmt::format("another user binds {} of gang {} to {} with a forged annotation",
                             sim::NameOf(*members[0]), gang->name, node)
               : "";
}

// --- Departures and changes ---

std::string Workload::Leave(Random& random) {
  const Gang* picked = PickGang(random);
  if (!picked) return {};
  const Gang gang = *picked;
  gangs_.erase(gangs_.begin() + (picked - gangs_.data()));
  if (gang.owner == "ReplicaSet" && gang.parts.empty()) store_.Delete(sim::kReplicaSets, kNamespace, gang.name);
  for (const Part& part : gang.parts) store_.Delete(sim::kReplicaSets, kNamespace, SetOf(gang.name, part.name));
  if (gang.owner == "Job") store_.Delete(sim::kJobs, kNamespace, gang.name);
  if (gang.owner.empty())
    for (int64_t i = 0; i < gang.size; ++i) store_.Delete(sim::kPods, kNamespace, fmt::format("{}-{}", gang.name, i));
  if (!gang.declaration.is_null()) store_.Delete(ResourceOf(gang.declaration), kNamespace, gang.name);
  if (!gang.volume_class.empty())
    for (const sim::Object& claim : store_.All(kClaims))
      if (sim::LabelOf(*claim, "app") == gang.name) store_.Delete(kClaims, kNamespace, sim::NameOf(*claim));
  return "gang " + gang.name + " leaves";
}

std::string Workload::Scale(Random& random) {
  Gang* gang = PickGang(random);
  if (!gang || gang->owner == "Job" || gang->owner.empty()) return {};
  if (gang->owner == "RayCluster") {
    const int64_t to = random.Between(0, 5);
    const auto changed = store_.Modify(sim::kRayClusters, kNamespace, gang->name,
                                       [&](Json& next) { next["spec"]["workerGroupSpecs"][0]["replicas"] = to; });
    return changed ? fmt::format("RayCluster {} is scaled to {} workers", gang->name, to) : "";
  }
  if (!gang->parts.empty()) {
    const Part& part = gang->parts[random.Below(gang->parts.size())];
    const int64_t to = std::max<int64_t>(0, part.min + random.Between(-1, 2));
    const std::string set = SetOf(gang->name, part.name);
    store_.Modify(sim::kReplicaSets, kNamespace, set, [&](Json& next) { next["spec"]["replicas"] = to; });
    return fmt::format("part {} of gang {} is scaled to {} pods", part.name, gang->name, to);
  }
  gang->size = std::max<int64_t>(1, gang->min + random.Between(-1, 4));
  store_.Modify(sim::kReplicaSets, kNamespace, gang->name, [&](Json& next) { next["spec"]["replicas"] = gang->size; });
  return fmt::format("gang {} is scaled to {} pods", gang->name, gang->size);
}

std::string Workload::Kill(Random& random) {
  const sim::Object pod = PickPod(random, !random.OneIn(4));
  if (!pod) return {};
  sim::DeleteOptions options;
  if (random.OneIn(2)) options.grace_seconds = 0;
  store_.Delete(sim::kPods, kNamespace, sim::NameOf(*pod), options);
  return fmt::format("pod {} is deleted{}", sim::NameOf(*pod), options.grace_seconds ? " at once" : "");
}

std::string Workload::Fail(Random& random) {
  const sim::Object pod = PickPod(random, true);
  if (!pod || sim::DigString(*pod, "status", "phase") == "Succeeded") return {};
  store_.Modify(
      sim::kPods, kNamespace, sim::NameOf(*pod), [](Json& next) { next["status"]["phase"] = "Failed"; },
      sim::Part::kStatus);
  return "pod " + sim::NameOf(*pod) + " fails";
}

std::string Workload::EditMin(Random& random) {
  Gang* gang = PickGang(random);
  return gang ? SetMin(*gang, std::max<int64_t>(1, gang->size + random.Between(-3, 1))) : "";
}

std::string Workload::SetMin(Gang& gang, int64_t min) {
  if (gang.declaration.is_null() || gang.dialect == "ray" || !gang.parts.empty()) return {};
  gang.min = min;
  const auto edit = [&](Json& object) {
    if (gang.dialect == "upstream")
      object["spec"]["schedulingPolicy"]["gang"]["minCount"] = gang.min;
    else
      object["spec"]["minMember"] = gang.min;
  };
  edit(gang.declaration);
  const auto changed = store_.Modify(ResourceOf(gang.declaration), kNamespace, gang.name, edit);
  return changed ? fmt::format("gang {} needs {} now", gang.name, gang.min) : "";
}

std::string Workload::EditGroupQueue(Random& random) {
  Gang* gang = PickGang(random);
  if (!gang || gang->dialect != "volcano") return {};
  const std::string to = random.OneIn(8) ? "nowhere" : kQueueNames[random.Below(std::size(kQueueNames))];
  gang->declaration["spec"]["queue"] = to;
  const auto changed = store_.Modify(ResourceOf(gang->declaration), kNamespace, gang->name,
                                     [&](Json& next) { next["spec"]["queue"] = to; });
  return changed ? fmt::format("gang {} moves to queue {}", gang->name, to) : "";
}

std::string Workload::EditQueue(Random& random) {
  const std::string name = kQueueNames[1 + random.Below(std::size(kQueueNames) - 1)];
  const std::string most = std::to_string(random.Between(2, scenario_.nodes * scenario_.cpu / 3));
  const auto edit = [&](Json& next) { next["spec"]["capability"]["cpu"] = most; };
  edit(queues_[name]);
  const auto changed = store_.Modify({"scheduling.volcano.sh", "queues"}, "", name, edit);
  return changed ? fmt::format("queue {} may use {} cpu", name, most) : "";
}

// --- Faults ---

std::string Workload::RemoveKind(Random& random) {
  const std::string name = kRemovable[random.Below(std::size(kRemovable))];
  const sim::Object definition = store_.Find(sim::kCustomResourceDefinitions, "", name);
  if (!definition) return "";
  Json again = {{"apiVersion", (*definition)["apiVersion"]}, {"kind", (*definition)["kind"]}};  // KubeRay made its own
  again["metadata"]["name"] = name;
  again["spec"] = (*definition)["spec"];
  definitions_.try_emplace(name, std::move(again));
  store_.Delete(sim::kCustomResourceDefinitions, "", name);
  return name;
}

void Workload::RestoreKind(const std::string& name) {
  if (store_.Find(sim::kCustomResourceDefinitions, "", name)) return;
  MustCreate(store_, definitions_.at(name));
  const auto belongs = [&](const Json& object) { return ResourceOf(object).ToString() == name; };
  for (const auto& [queue, object] : queues_)
    if (belongs(object)) (void)store_.Create(object);
  for (const Json& object : hyper_nodes_)
    if (belongs(object)) (void)store_.Create(object);
  for (const Gang& gang : gangs_)
    if (!gang.declaration.is_null() && belongs(gang.declaration)) (void)store_.Create(gang.declaration);
}

bool Workload::HasAllKinds() const {
  return std::ranges::all_of(kRemovable, [this](const char* name) {
    return store_.Find(sim::kCustomResourceDefinitions, "", name) != nullptr;
  });
}

}  // namespace tutti::simulation
