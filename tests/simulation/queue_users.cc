// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/queue_users.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "sim/manifests/manifest.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using base::Random;
using sim::Json;

namespace {

constexpr const char* kVersion = "kueue.x-k8s.io/v1beta1";
constexpr const char* kPriorityLabel = "kueue.x-k8s.io/priority-class";
constexpr const char* kLeaves[] = {"org-a", "org-b", "org-c", "alone"};
constexpr const char* kLocals[] = {"a", "a-too", "b", "c", "alone"};
constexpr const char* kFlavors[] = {"in-a", "in-b"};  // nodes of a zone
constexpr const char* kPriorities[] = {"low", "high"};

// The ClusterQueue to which a LocalQueue leads.
std::string LeafOf(const std::string& local) {
  return local == "alone" ? local : fmt::format("org-{}", local.front());
}

// Of each flavor's cpu in a ClusterQueue.
void ForEachQuota(Json& queue, const std::function<void(Json&)>& change) {
  for (Json& group : queue["spec"]["resourceGroups"])
    for (Json& flavor : group["flavors"])
      for (Json& resource : flavor["resources"]) change(resource);
}

}  // namespace

const std::map<std::string, QueueUsers::Action, std::less<>>& QueueUsers::Actions() {
  static const std::map<std::string, Action, std::less<>> actions = {
      {"arrive-queued-job", &QueueUsers::ArriveJob},     {"arrive-queued-group", &QueueUsers::ArriveGroup},
      {"arrive-queued-ray", &QueueUsers::ArriveRay},     {"replace-queued-pods", &QueueUsers::ReplacePods},
      {"leave-queue", &QueueUsers::Leave},               {"flip-queued", &QueueUsers::Flip},
      {"move-queued", &QueueUsers::MoveToQueue},
      {"prioritize-queued", &QueueUsers::SetPriority},   {"edit-quota", &QueueUsers::EditQuota},
      {"edit-quota-limits", &QueueUsers::EditLimits},    {"stop-cluster-queue", &QueueUsers::StopQueue},
      {"stop-local-queue", &QueueUsers::StopLocalQueue}, {"edit-queued-workload", &QueueUsers::EditWorkload},
      {"delete-queued-workload", &QueueUsers::DeleteWorkload}};
  return actions;
}

std::vector<std::string> QueueUsers::Names() {
  std::vector<std::string> names;
  for (const auto& [name, action] : Actions()) names.push_back(name);
  return names;
}

bool QueueUsers::AreIn(const Scenario& scenario) {
  return std::ranges::any_of(scenario.workload, [](const auto& each) { return Knows(each.first); });
}

std::string QueueUsers::Do(const std::string& name, Random& random, size_t number, bool full) {
  number_ = number;
  full_ = full;
  return (this->*Actions().find(name)->second)(random);
}

// --- Setup ---

void QueueUsers::Setup(Random& random) {
  static const auto definitions = sim::LoadManifests({TUTTI_SOURCE_DIR "/manifests/kueue/crds"});
  TUTTI_CHECK(definitions, definitions ? "" : definitions.error().message);
  for (const sim::Manifest& each : *definitions) MustCreate(store_, each.object);
  for (const auto& [name, value] : {std::pair(kPriorities[0], -100), std::pair(kPriorities[1], 100)})
    MustCreate(store_, {{"apiVersion", kVersion},
                        {"kind", "WorkloadPriorityClass"},
                        {"metadata", {{"name", name}}},
                        {"value", value}});
  for (const char* flavor : kFlavors)
    MustCreate(store_, {{"apiVersion", kVersion},
                        {"kind", "ResourceFlavor"},
                        {"metadata", {{"name", flavor}}},
                        {"spec", {{"nodeLabels", {{"zone", std::string(1, flavor[3])}}}}}});
  const int64_t share = std::max<int64_t>(2, scenario_.nodes * scenario_.cpu / 10);
  static constexpr const char* kWithin[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
  static constexpr const char* kReclaim[] = {"Never", "LowerPriority", "Any"};
  for (const char* leaf : kLeaves) {
    Json flavors = Json::array();
    for (const char* flavor : kFlavors) {
      Json cpu = {{"name", "cpu"}, {"nominalQuota", std::to_string(random.Between(1, share))}};
      if (leaf != std::string_view("alone")) {
        if (random.OneIn(3)) cpu["borrowingLimit"] = std::to_string(random.Between(0, share));
        if (random.OneIn(3)) cpu["lendingLimit"] = std::to_string(random.Between(0, share));
      }
      flavors.push_back({{"name", flavor}, {"resources", Json::array({cpu})}});
    }
    Json spec = {
        {"namespaceSelector", Json::object()},
        {"queueingStrategy", random.OneIn(4) ? "StrictFIFO" : "BestEffortFIFO"},
        {"preemption", {{"withinClusterQueue", kWithin[random.Below(3)]}}},
        {"resourceGroups", Json::array({{{"coveredResources", {"cpu"}}, {"flavors", std::move(flavors)}}})}};
    spec["preemption"]["reclaimWithinCohort"] = kReclaim[random.Below(3)];
    if (spec["preemption"]["reclaimWithinCohort"] != "Never" && random.OneIn(2))
      spec["preemption"]["borrowWithinCohort"] = {{"policy", "LowerPriority"}};
    if (leaf != std::string_view("alone")) spec["cohort"] = "org";
    MustCreate(store_, {{"apiVersion", kVersion},
                        {"kind", "ClusterQueue"},
                        {"metadata", {{"name", leaf}}},
                        {"spec", std::move(spec)}});
  }
  for (const char* local : kLocals)
    MustCreate(store_, {{"apiVersion", kVersion},
                        {"kind", "LocalQueue"},
                        {"metadata", {{"name", local}, {"namespace", kNamespace}}},
                        {"spec", {{"clusterQueue", LeafOf(local)}}}});
}

// --- Picking, as Workload does ---

QueueUsers::Job* QueueUsers::Pick(Random& random, bool with_flag) {
  const uint64_t salt = random.Next();
  Job* best = nullptr;
  for (Job& job : jobs_)
    if ((!with_flag || !job.kind.empty()) && (!best || Mix(salt, job.name) < Mix(salt, best->name))) best = &job;
  return best;
}

sim::Object QueueUsers::PickWorkload(Random& random) const {
  const auto lot = [salt = random.Next()](const sim::Object& each) { return Mix(salt, sim::NameOf(*each)); };
  const std::vector<sim::Object> all = store_.All(kWorkloads);
  return all.empty() ? nullptr : *std::ranges::min_element(all, {}, lot);
}

sim::ApiResult<sim::Object> QueueUsers::Modify(const Job& job, const std::function<void(Json&)>& change) {
  return store_.Modify(job.kind == "Job" ? sim::kJobs : sim::kRayClusters, kNamespace, job.name, change);
}

// --- Arrivals ---

Json QueueUsers::Labels(Random& random) const {
  Json labels = {{kQueueLabel, kLocals[random.Below(std::size(kLocals))]}};
  if (random.OneIn(2)) labels[kPriorityLabel] = kPriorities[random.Below(std::size(kPriorities))];
  return labels;
}

Json QueueUsers::PodSpec(Random& random) const {
  const Json requests = {{"cpu", fmt::format("{}m", 500 * random.Between(1, 5))}};
  return {{"schedulerName", "tutti"},
          {"terminationGracePeriodSeconds", 5},
          {"containers",
           {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", requests}, {"limits", requests}}}}}}};
}

std::string QueueUsers::ArriveJob(Random& random) {
  if (full_) return {};
  Job job{.name = fmt::format("j{}", number_), .kind = "Job", .size = random.Between(1, 5)};
  Json pods = {{"spec", PodSpec(random)}};
  pods["spec"]["restartPolicy"] = "Never";
  if (random.OneIn(2))
    pods["metadata"]["annotations"]["sim.tutti.dev/run-for"] = fmt::format("{}s", random.Between(5, 100));
  Json spec = {{"suspend", true}, {"parallelism", job.size}, {"completions", job.size}, {"template", std::move(pods)}};
  MustCreate(store_, {{"apiVersion", "batch/v1"},
                      {"kind", "Job"},
                      {"metadata", {{"name", job.name}, {"namespace", kNamespace}, {"labels", Labels(random)}}},
                      {"spec", std::move(spec)}});
  jobs_.push_back(job);
  return fmt::format("Job {} with {} pods arrives in a queue", job.name, job.size);
}

void QueueUsers::MakePod(Job& job) {
  Json pod = job.pod;
  pod["metadata"]["name"] = fmt::format("{}-{}", job.name, job.made++);
  MustCreate(store_, std::move(pod));
}

std::string QueueUsers::ArriveGroup(Random& random) {
  if (full_) return {};
  Job job{.name = fmt::format("p{}", number_), .kind = "", .size = random.Between(1, 4)};
  Json labels = Labels(random);
  labels[kGroupLabel] = job.name;
  labels["kueue.x-k8s.io/managed"] = "true";
  Json spec = PodSpec(random);
  spec["schedulingGates"] = Json::array({{{"name", "kueue.x-k8s.io/admission"}}});
  Json meta = {{"namespace", kNamespace}, {"labels", std::move(labels)}};
  meta["annotations"]["kueue.x-k8s.io/pod-group-total-count"] = std::to_string(job.size);
  if (random.OneIn(2)) meta["annotations"]["sim.tutti.dev/run-for"] = fmt::format("{}s", random.Between(5, 100));
  meta["finalizers"] = {"kueue.x-k8s.io/managed"};
  job.pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}};
  for (int64_t i = 0; i < job.size; ++i) MakePod(job);
  jobs_.push_back(job);
  return fmt::format("group {} of {} pods arrives in a queue", job.name, job.size);
}

std::string QueueUsers::ArriveRay(Random& random) {
  if (full_) return {};
  Job job{.name = fmt::format("q{}", number_), .kind = "RayCluster", .size = random.Between(1, 3)};
  const auto pod = [&] {
    Json spec = PodSpec(random);
    return Json{{"spec", std::move(spec)}};
  };
  const Json head = pod(), worker = pod();
  const auto created = store_.Create(
      {{"apiVersion", "ray.io/v1"},
       {"kind", "RayCluster"},
       {"metadata", {{"name", job.name}, {"namespace", kNamespace}, {"labels", Labels(random)}}},
       {"spec",
        {{"suspend", true},
         {"rayVersion", "2.46.0"},
         {"headGroupSpec", {{"rayStartParams", Json::object()}, {"template", head}}},
         {"workerGroupSpecs",
          {{{"groupName", "w"},
            {"replicas", job.size},
            {"minReplicas", 0},
            {"maxReplicas", 8},
            {"rayStartParams", Json::object()},
            {"template", worker}}}}}}});
  if (!created) return {};
  jobs_.push_back(job);
  return fmt::format("RayCluster {} with {} workers arrives in a queue", job.name, job.size);
}

// As a user does who sees that some of a group have failed or are gone.
std::string QueueUsers::ReplacePods(Random& random) {
  Job* job = Pick(random);
  if (!job || !job->kind.empty()) return {};
  int64_t there = 0;
  for (const sim::Object& pod : store_.All(sim::kPods, kNamespace))
    there += sim::LabelOf(*pod, kGroupLabel) == job->name && !sim::IsTerminating(*pod) &&
             sim::DigString(*pod, "status", "phase") != "Failed";
  if (there >= job->size) return {};
  for (; there < job->size; ++there) MakePod(*job);
  return fmt::format("pods of group {} are replaced", job->name);
}

// --- What becomes of jobs ---

void QueueUsers::Remove(const Job& job) {
  if (job.kind == "Job") store_.Delete(sim::kJobs, kNamespace, job.name);
  if (job.kind == "RayCluster") store_.Delete(sim::kRayClusters, kNamespace, job.name);
  if (!job.kind.empty()) return;
  for (const sim::Object& pod : store_.All(sim::kPods, kNamespace))
    if (sim::LabelOf(*pod, kGroupLabel) == job.name) store_.Delete(sim::kPods, kNamespace, sim::NameOf(*pod));
}

std::string QueueUsers::Leave(Random& random) {
  const Job* picked = Pick(random);
  if (!picked) return {};
  const Job job = *picked;
  jobs_.erase(jobs_.begin() + (picked - jobs_.data()));
  Remove(job);
  return fmt::format("{} {} leaves its queue", job.kind.empty() ? "group" : job.kind, job.name);
}

std::string QueueUsers::Flip(Random& random) {
  const Job* job = Pick(random, true);
  if (!job) return {};
  bool suspend = false;
  const auto changed = Modify(*job, [&](Json& next) {
    suspend = !sim::BoolOf(sim::Dig(next, "spec", "suspend"));
    next["spec"]["suspend"] = suspend;
  });
  return changed ? fmt::format("{} {} is {} by hand", job->kind, job->name, suspend ? "suspended" : "let go") : "";
}

std::string QueueUsers::MoveToQueue(Random& random) {
  const Job* job = Pick(random, true);
  if (!job) return {};
  const std::string to = random.OneIn(8) ? "nowhere" : kLocals[random.Below(std::size(kLocals))];
  const auto changed = Modify(*job, [&](Json& next) { next["metadata"]["labels"][kQueueLabel] = to; });
  return changed ? fmt::format("{} {} is moved to queue {}", job->kind, job->name, to) : "";
}

std::string QueueUsers::SetPriority(Random& random) {
  const Job* job = Pick(random, true);
  if (!job) return {};
  const char* to = kPriorities[random.Below(std::size(kPriorities))];
  const auto changed = Modify(*job, [&](Json& next) { next["metadata"]["labels"][kPriorityLabel] = to; });
  return changed ? fmt::format("{} {} has priority {}", job->kind, job->name, to) : "";
}

std::string QueueUsers::EditWorkload(Random& random) {
  const sim::Object workload = PickWorkload(random);
  if (!workload) return {};
  const bool active = random.OneIn(2);
  store_.Modify(kWorkloads, kNamespace, sim::NameOf(*workload), [&](Json& next) { next["spec"]["active"] = active; });
  return fmt::format("Workload {} is {}", sim::NameOf(*workload), active ? "active" : "deactivated");
}

std::string QueueUsers::DeleteWorkload(Random& random) {
  const sim::Object workload = PickWorkload(random);
  if (!workload) return {};
  store_.Delete(kWorkloads, kNamespace, sim::NameOf(*workload));
  return fmt::format("Workload {} is deleted by hand", sim::NameOf(*workload));
}

// --- Administrators ---

std::string QueueUsers::EditQuota(Random& random) {
  const std::string leaf = kLeaves[random.Below(std::size(kLeaves))];
  const int64_t most = std::max<int64_t>(2, scenario_.nodes * scenario_.cpu / 8);
  std::string texts;
  store_.Modify(kClusterQueues, "", leaf, [&](Json& next) {
    ForEachQuota(next, [&](Json& cpu) {
      cpu["nominalQuota"] = std::to_string(random.Between(0, most));
      texts += " " + sim::StringOf(cpu["nominalQuota"]);
    });
  });
  return fmt::format("ClusterQueue {} has{} cpu", leaf, texts);
}

std::string QueueUsers::EditLimits(Random& random) {
  const std::string leaf = kLeaves[random.Below(3)];
  const char* which = random.OneIn(2) ? "borrowingLimit" : "lendingLimit";
  const int64_t most = std::max<int64_t>(2, scenario_.nodes * scenario_.cpu / 10);
  store_.Modify(kClusterQueues, "", leaf, [&](Json& next) {
    ForEachQuota(next, [&](Json& cpu) {
      cpu.erase(which);
      if (!random.OneIn(3)) cpu[which] = std::to_string(random.Between(0, most));
    });
  });
  return fmt::format("ClusterQueue {} has another {}", leaf, which);
}

std::string QueueUsers::StopQueue(Random& random) {
  const std::string leaf = kLeaves[random.Below(std::size(kLeaves))];
  const char* policy = random.OneIn(2) ? "None" : random.OneIn(2) ? "Hold" : "HoldAndDrain";
  store_.Modify(kClusterQueues, "", leaf, [&](Json& next) { next["spec"]["stopPolicy"] = policy; });
  return fmt::format("ClusterQueue {} has stopPolicy {}", leaf, policy);
}

std::string QueueUsers::StopLocalQueue(Random& random) {
  const std::string local = kLocals[random.Below(std::size(kLocals))];
  const char* policy = random.OneIn(2) ? "None" : random.OneIn(2) ? "Hold" : "HoldAndDrain";
  store_.Modify(kLocalQueues, kNamespace, local, [&](Json& next) { next["spec"]["stopPolicy"] = policy; });
  return fmt::format("LocalQueue {} has stopPolicy {}", local, policy);
}

std::string QueueUsers::RaiseQuotas(Random&) {
  for (const sim::Object& queue : store_.All(kLocalQueues))
    store_.Modify(kLocalQueues, kNamespace, sim::NameOf(*queue),
                  [](Json& next) { next["spec"]["stopPolicy"] = "None"; });
  for (const sim::Object& queue : store_.All(kClusterQueues))
    store_.Modify(kClusterQueues, "", sim::NameOf(*queue), [this](Json& next) {
      next["spec"]["stopPolicy"] = "None";
      ForEachQuota(next, [this](Json& cpu) {
        cpu["nominalQuota"] =
            std::to_string(std::stoll(sim::StringOf(cpu["nominalQuota"])) + scenario_.nodes * scenario_.cpu / 20);
      });
    });
  return "all queues go on, with more quota";
}

}  // namespace tutti::simulation
