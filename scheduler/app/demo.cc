// SPDX-License-Identifier: Apache-2.0
#include "app/demo.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <system_error>

#include "app/embedded_cluster.h"
#include "app/embedded_files.h"
#include "app/kubectl_view.h"
#include "app/output.h"
#include "app/profiles.h"
#include "base/json.h"

namespace tutti::app {
namespace {

using sim::Child;
using sim::DigString;
using sim::Json;

constexpr base::Millis kStartMs = 1'767'225'600'000;  // 2026-01-01T00:00:00Z

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kQueues = "/apis/scheduling.volcano.sh/v1beta1/queues";
constexpr const char* kPodGroups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
// The version that the manifests are written in.
constexpr const char* kRayClusters = "/apis/ray.io/v1alpha1/namespaces/default/rayclusters";

constexpr const char* kNode = R"(apiVersion: v1
kind: Node
metadata: {name: node-1}
status:
  capacity: {cpu: "8", memory: 32Gi, pods: "110"}
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
)";

std::string_view File(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedDemo()) {
    if (file.name == name) return file.text;
  }
  return "";
}

class Story {
 public:
  Story(base::VirtualClock& clock, EmbeddedCluster& cluster, sim::Door& door)
      : clock_(clock), cluster_(cluster), kubectl_(door) {}

  void Say(std::string_view text) { fmt::print("\n# {}\n", text); }

  void Prepare() {
    Check(cluster_.Load({}).has_value(), "the kinds of Volcano are defined");
    Check(kubectl_.Create("/api/v1/nodes", kNode).has_value(), "there is a node");
    Let(5'000);
  }

  void Create(const char* file, const std::string& path, const std::string& expected) {
    fmt::print("$ kubectl create -f {}\n", file);
    Check(Shown(kubectl_.Create(path, File(file))) == expected + " created\n", expected + " is created");
  }
  void DeleteRayCluster(const std::string& name) {
    fmt::print("$ kubectl delete raycluster {}\n", name);
    Shown(kubectl_.Delete(std::string(kRayClusters) + "/" + name, "raycluster.ray.io"));
  }
  void GetPods() {
    fmt::print("$ kubectl get pods\n");
    Shown(kubectl_.GetTable(kPods));
  }
  Json GetYaml(const std::string& what, const std::string& path, const std::string& name) {
    fmt::print("$ kubectl get {} {} -o yaml\n", what, name);
    Shown(kubectl_.GetYaml(path + "/" + name));
    return kubectl_.Get(path + "/" + name).value_or(Json());
  }
  // Shows the Events that `kubectl describe` prints for the cluster's head, and returns them.
  std::string DescribeHead(const std::string& ray_cluster) {
    for (const Json& pod : Pods()) {
      if (sim::LabelOf(pod, "ray.io/cluster") != ray_cluster || sim::LabelOf(pod, "ray.io/node-type") != "head")
        continue;
      fmt::print("$ kubectl describe pod {} | tail -n 4\n", sim::NameOf(pod));
      return Shown(kubectl_.Events("default", sim::UidOf(pod), clock_.WallMs()));
    }
    return "";
  }

  // Counts the pods of `ray_cluster` in `phase` that have a node (`bound`), or that have none.
  size_t Count(const std::string& ray_cluster, const std::string& phase, bool bound) {
    size_t count = 0;
    for (const Json& pod : Pods()) {
      count += sim::LabelOf(pod, "ray.io/cluster") == ray_cluster && DigString(pod, "status", "phase") == phase &&
               DigString(pod, "spec", "nodeName").empty() != bound;
    }
    return count;
  }

  // Lets virtual time pass.
  void Let(base::Millis ms) {
    const base::Millis until = clock_.MonotonicMs() + ms;
    for (;;) {
      Check(cluster_.Settle(), "the cluster comes to rest");
      const auto next = cluster_.NextDeadline();
      if (!next || *next > until) break;
      clock_.AdvanceTo(std::max(*next, clock_.MonotonicMs() + 1));
    }
    clock_.AdvanceTo(until);
    Check(cluster_.Settle(), "the cluster comes to rest");
  }

  void Check(bool come_true, const std::string& what) {
    if (come_true) return;
    ++broken_;
    fmt::print("\nNOT SO: {}\n", what);
  }
  int broken() const { return broken_; }

 private:
  std::string Shown(const base::Result<std::string>& text) {
    fmt::print("{}", text ? *text : text.error().message + "\n");
    return text.value_or("");
  }
  Json Pods() { return Child(kubectl_.Get(kPods).value_or(Json::object()), "items"); }

  base::VirtualClock& clock_;
  EmbeddedCluster& cluster_;
  KubectlView kubectl_;
  int broken_ = 0;
};

std::string LastCondition(const Json& object, const char* field) {
  const Json& conditions = sim::Dig(object, "status", "conditions");
  return conditions.is_array() && !conditions.empty() ? DigString(conditions.back(), field) : "";
}

void FirstStarts(Story& story) {
  story.Say("A queue with a capacity of 4 CPUs and 6Gi of memory, in a cluster of one node with 8 CPUs:");
  story.Create("queue.yaml", kQueues, "queue.scheduling.volcano.sh/kuberay-test-queue");
  story.Say("A RayCluster: a head (1 CPU, 2Gi) and two workers (1 CPU, 1Gi each), 3 CPUs and 4Gi together:");
  story.Create("test-cluster-0.yaml", kRayClusters, "raycluster.ray.io/test-cluster-0");
  story.Let(20'000);
  story.Say("It fits the queue, so all of it starts:");
  story.GetPods();
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
  story.Create("test-cluster-1.yaml", kRayClusters, "raycluster.ray.io/test-cluster-1");
  story.Let(60'000);
  story.GetPods();
  story.Check(story.Count("test-cluster-1", "Pending", false) == 3,
              "all three pods of test-cluster-1 wait, on no node");
  story.Check(story.Count("test-cluster-0", "Running", true) == 3, "test-cluster-0 still runs");
  story.Say("None of it starts, because not all of it could. It says why:");
  const std::string events = story.DescribeHead("test-cluster-1");
  for (const char* word : {"FailedScheduling", "kuberay-test-queue", "capability 4", "used 3", "asked 3"}) {
    story.Check(events.find(word) != std::string::npos, fmt::format("the Event says \"{}\"", word));
  }
  const Json group = story.GetYaml("podgroup", kPodGroups, "ray-test-cluster-1-pg");
  story.Check(DigString(group, "status", "phase") == "Pending", "its PodGroup's phase is Pending");
  story.Check(LastCondition(group, "type") == "Unschedulable", "its PodGroup's last condition is Unschedulable");
}

void SecondStarts(Story& story) {
  story.Say("The first RayCluster goes, and makes room:");
  story.DeleteRayCluster("test-cluster-0");
  story.Let(60'000);
  story.GetPods();
  story.Check(story.Count("test-cluster-1", "Running", true) == 3, "the three pods of test-cluster-1 run");
  story.Check(story.Count("test-cluster-0", "Running", true) == 0, "those of test-cluster-0 are gone");
  const Json group = story.GetYaml("podgroup", kPodGroups, "ray-test-cluster-1-pg");
  story.Check(DigString(group, "status", "phase") == "Running", "its PodGroup's phase is Running");
}

// Tells the story and returns whether every claim of it came true.
base::Result<bool> Tell() {
  Config config;
  auto options = MakeOptions(config, DefaultSchedulerNames());
  if (!options) return tl::make_unexpected(options.error());
  base::VirtualClock clock(kStartMs);
  EmbeddedCluster::Options cluster_options;
  cluster_options.world.kuberay.batch_scheduler = sim::BatchScheduler::kVolcano;
  cluster_options.scheduler = *std::move(options);
  EmbeddedCluster cluster(clock, std::move(cluster_options));
  sim::Door door(cluster.store());
  Story story(clock, cluster, door);

  fmt::print("Gang scheduling with KubeRay's Volcano integration, on the embedded cluster. Times are virtual.\n");
  story.Prepare();
  FirstStarts(story);
  SecondWaits(story);
  SecondStarts(story);
  if (story.broken() == 0) {
    fmt::print("\nAll of it started, none of it, all of it: as it should be.\n");
  } else {
    fmt::print("\n{} of the expectations above did not come true.\n", story.broken());
  }
  if (const base::Status printed = Print(""); !printed) return tl::make_unexpected(printed.error());
  return story.broken() == 0;
}

}  // namespace

int Demo() {
  base::Result<bool> told = false;
  try {
    told = Tell();
  } catch (const std::system_error& error) {  // from fmt, when it cannot print
    told = base::Fail(base::ErrorCode::kUnavailable, std::string("standard output: ") + error.what());
  }
  if (told) return *told ? 0 : 1;
  fmt::print(stderr, "tutti demo: error: {}\n", told.error().message);
  return 1;
}

}  // namespace tutti::app
