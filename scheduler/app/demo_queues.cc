// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/demo_story.h"
#include "base/json.h"

namespace tutti::app {
namespace {

using sim::DigString;
using sim::Json;

constexpr const char* kQueues = "/apis/scheduling.volcano.sh/v1beta1/queues";
constexpr const char* kPodGroups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
// The version that the manifests are written in.
constexpr const char* kRayClusters = "/apis/ray.io/v1alpha1/namespaces/default/rayclusters";

std::string File(std::string_view name) { return std::string(DemoFile(name)); }

Json HeadOf(Story& story, const std::string& ray_cluster) {
  for (const Json& pod : story.Pods())
    if (sim::LabelOf(pod, "ray.io/cluster") == ray_cluster && sim::LabelOf(pod, "ray.io/node-type") == "head")
      return pod;
  return Json::object();
}

void FirstStarts(Story& story) {
  story.Say("A queue with a capacity of 4 CPUs and 6Gi of memory, in a cluster of one node with 8 CPUs:");
  story.Create("queue.yaml", kQueues, File("queue.yaml"), "queue.scheduling.volcano.sh/kuberay-test-queue");
  story.Say("A RayCluster: a head (1 CPU, 2Gi) and two workers (1 CPU, 1Gi each), 3 CPUs and 4Gi together:");
  story.Create("test-cluster-0.yaml", kRayClusters, File("test-cluster-0.yaml"), "raycluster.ray.io/test-cluster-0");
  story.Let(20'000);
  story.Say("It fits the queue, so all of it starts:");
  story.GetTable("pods", kDemoPods);
  story.Check(story.Count("test-cluster-0", "Running", true) == 3, "the three pods of test-cluster-0 run");
  const Json group = story.GetYaml("podgroup", kPodGroups, "ray-test-cluster-0-pg");
  story.Check(DigString(group, "status", "phase") == "Running", "its PodGroup's phase is Running");
  story.Check(LastCondition(group, "type") == "Scheduled", "its PodGroup's last condition is Scheduled");
  const Json queue = story.GetYaml("queue", kQueues, "kuberay-test-queue");
  story.Check(DigString(queue, "status", "state") == "Open", "the queue is Open");
  story.Check(DigString(queue, "status", "allocated", "cpu") == "3", "3 CPUs of the queue are allocated");
}

void SecondWaits(Story& story) {
  story.Say("A second RayCluster of the same size, in the same queue. One of its pods would fit the CPU that is left:");
  story.Create("test-cluster-1.yaml", kRayClusters, File("test-cluster-1.yaml"), "raycluster.ray.io/test-cluster-1");
  story.Let(60'000);
  story.GetTable("pods", kDemoPods);
  story.Check(story.Count("test-cluster-1", "Pending", false) == 3,
              "all three pods of test-cluster-1 wait, on no node");
  story.Check(story.Count("test-cluster-0", "Running", true) == 3, "test-cluster-0 still runs");
  story.Say("None of it starts, because not all of it could. It says why:");
  const std::string events = story.Describe("pod", HeadOf(story, "test-cluster-1"));
  for (const char* word : {"FailedScheduling", "kuberay-test-queue", "capability 4", "used 3", "asked 3"}) {
    story.Check(events.find(word) != std::string::npos, fmt::format("the Event says \"{}\"", word));
  }
  const Json group = story.GetYaml("podgroup", kPodGroups, "ray-test-cluster-1-pg");
  story.Check(DigString(group, "status", "phase") == "Pending", "its PodGroup's phase is Pending");
  story.Check(LastCondition(group, "type") == "Unschedulable", "its PodGroup's last condition is Unschedulable");
}

void SecondStarts(Story& story) {
  story.Say("The first RayCluster goes, and makes room:");
  story.Delete("raycluster", kRayClusters, "test-cluster-0", "raycluster.ray.io");
  story.Let(60'000);
  story.GetTable("pods", kDemoPods);
  story.Check(story.Count("test-cluster-1", "Running", true) == 3, "the three pods of test-cluster-1 run");
  story.Check(story.Count("test-cluster-0", "Running", true) == 0, "those of test-cluster-0 are gone");
  const Json group = story.GetYaml("podgroup", kPodGroups, "ray-test-cluster-1-pg");
  story.Check(DigString(group, "status", "phase") == "Running", "its PodGroup's phase is Running");
}

}  // namespace

void TellOfQueues(Story& story) {
  story.MakeNodes("node", 1, "{cpu: \"8\", memory: 32Gi, pods: \"110\"}");
  FirstStarts(story);
  SecondWaits(story);
  SecondStarts(story);
}

}  // namespace tutti::app
