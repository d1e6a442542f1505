// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "app/demo_story.h"
#include "base/json.h"

namespace tutti::app {
namespace {

using sim::DigString;
using sim::Json;

constexpr const char* kRayJobs = "/apis/ray.io/v1/namespaces/default/rayjobs";
constexpr const char* kWorkloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
constexpr const char* kLeaves = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";
constexpr const char* kDev = "dev-classifier-";

// The documents of a file.
std::vector<std::string> DocumentsOf(std::string_view text) {
  constexpr std::string_view kSeparator = "\n---\n";
  std::vector<std::string> documents;
  for (size_t end = text.find(kSeparator); end != text.npos; end = text.find(kSeparator)) {
    documents.emplace_back(text.substr(0, end + 1));
    text.remove_prefix(end + kSeparator.size());
  }
  documents.emplace_back(text);
  return documents;
}

// The RayJob of a team under a name, in place of one that the API server makes.
std::string JobOf(const std::string& team, const std::string& name) {
  return DemoFileWith("ray-job.pytorch-distributed-training.yaml",
                      {{"generateName: ${team}-pytorch-text-classifier-", "name: " + name}, {"${team}", team}});
}

void CreateJob(Story& story, const std::string& team, const std::string& name) {
  story.Create(name + ".yaml", kRayJobs, JobOf(team, name), "rayjob.ray.io/" + name);
}

std::string StatusOf(Story& story, const std::string& job) {
  return DigString(story.Get(std::string(kRayJobs) + "/" + job), "status", "jobDeploymentStatus");
}

// Counts the pods that the job's RayCluster has on nodes.
size_t PodsOf(Story& story, const std::string& job) {
  return story.Count(DigString(story.Get(std::string(kRayJobs) + "/" + job), "status", "rayClusterName"), "Running",
                     true);
}

// The job's Workload.
Json WorkloadOf(Story& story, const std::string& job) {
  const Json list = story.Get(kWorkloads);
  for (const Json& workload : sim::ArrayOf(sim::Child(list, "items")))
    if (DigString(workload, "metadata", "name").starts_with("rayjob-" + job)) return workload;
  return Json::object();
}

std::string StatusAndMessage(const Json& workload, const char* type) {
  const Json& condition = sim::ConditionOf(workload, type);
  return DigString(condition, "status") + " " + DigString(condition, "message");
}

void QueueIsMade(Story& story) {
  story.Say("The quota of the queue: 2 CPUs, 8G of memory and one GPU. There are three nodes with a GPU each.");
  const std::vector<std::pair<std::string, std::string>> objects{
      {"/apis/kueue.x-k8s.io/v1beta1/resourceflavors", "resourceflavor.kueue.x-k8s.io/default-flavor"},
      {"/apis/kueue.x-k8s.io/v1beta1/clusterqueues", "clusterqueue.kueue.x-k8s.io/cluster-queue"},
      {"/apis/kueue.x-k8s.io/v1beta1/namespaces/default/localqueues", "localqueue.kueue.x-k8s.io/user-queue"},
      {"/apis/kueue.x-k8s.io/v1beta1/workloadpriorityclasses", "workloadpriorityclass.kueue.x-k8s.io/prod-priority"},
      {"/apis/kueue.x-k8s.io/v1beta1/workloadpriorityclasses", "workloadpriorityclass.kueue.x-k8s.io/dev-priority"}};
  const std::vector<std::string> documents = DocumentsOf(DemoFile("kueue-resources.yaml"));
  story.Check(documents.size() == objects.size(), "the file has five objects");
  for (size_t i = 0; i < documents.size() && i < objects.size(); ++i)
    story.Create("kueue-resources.yaml", objects[i].first, documents[i], objects[i].second);
}

void OneRuns(Story& story) {
  story.Say("Three RayJobs of low priority, of which each needs all of the quota:");
  for (const char* number : {"1", "2", "3"}) {
    CreateJob(story, "dev", kDev + std::string(number));
    story.Let(20'000);
  }
  story.Say("One runs. The others are held back: they have no pods, and their Workloads say why:");
  story.GetTable("rayjobs", kRayJobs);
  story.GetTable("pods", kDemoPods);
  story.GetTable("workloads", kWorkloads);
  story.Check(StatusOf(story, kDev + std::string("1")) == "Running", "the first job runs");
  for (const char* number : {"2", "3"}) {
    const std::string job = kDev + std::string(number);
    story.Check(StatusOf(story, job) == "Suspended", job + " is suspended");
    const std::string why = StatusAndMessage(WorkloadOf(story, job), "QuotaReserved");
    story.Check(why.starts_with("False ") && why.find("insufficient unused quota") != why.npos, job + " says why");
  }
  story.Describe("workload", WorkloadOf(story, kDev + std::string("2")));
  story.GetTable("clusterqueues", kLeaves);
}

void UrgentTakesItsPlace(Story& story) {
  story.Say("A job of high priority takes the place of the one that runs:");
  CreateJob(story, "prod", "prod-classifier");
  story.Let(60'000);
  story.GetTable("rayjobs", kRayJobs);
  story.GetTable("pods", kDemoPods);
  story.Check(StatusOf(story, "prod-classifier") == "Running", "the urgent job runs");
  story.Check(PodsOf(story, "prod-classifier") == 1, "its head has a node");
  story.Check(StatusOf(story, kDev + std::string("1")) == "Suspended", "the first job is suspended");
  story.Say("The one that had to leave says for which, and stands in line again:");
  const std::string events = story.Describe("workload", WorkloadOf(story, kDev + std::string("1")));
  story.Check(events.find("due to prioritization in the ClusterQueue") != events.npos, "the Event says why it left");
}

void NextRuns(Story& story) {
  story.Say("The urgent job goes, and one that waits starts:");
  story.Delete("rayjob", kRayJobs, "prod-classifier", "rayjob.ray.io");
  story.Let(60'000);
  story.GetTable("rayjobs", kRayJobs);
  size_t running = 0;
  for (const char* number : {"1", "2", "3"}) running += StatusOf(story, kDev + std::string(number)) == "Running";
  story.Check(running == 1, "one job of low priority runs");
}

}  // namespace

void TellOfPriorities(Story& story) {
  story.MakeNodes("gpu-node", 3, "{cpu: 7910m, memory: 27Gi, nvidia.com/gpu: \"1\", pods: \"110\"}");
  QueueIsMade(story);
  OneRuns(story);
  UrgentTakesItsPlace(story);
  NextRuns(story);
}

}  // namespace tutti::app
