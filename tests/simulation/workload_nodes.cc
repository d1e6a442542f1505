// SPDX-License-Identifier: Apache-2.0
// Nodes: they come, change, are cordoned and drained, and go; as users and an autoscaler have it. And other schedulers
// take their room.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tests/simulation/workload.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using base::Random;
using sim::Json;

void Workload::PutNode(const std::string& name, int64_t cpu, int64_t gpu, Random& random) {
  MustCreate(store_, {{"apiVersion", "v1"},
                      {"kind", "Node"},
                      {"metadata", {{"name", name}, {"labels", {{"zone", random.OneIn(2) ? "a" : "b"}}}}},
                      {"status",
                       {{"allocatable",
                         {{"cpu", std::to_string(cpu)},
                          {"memory", "64Gi"},
                          {"pods", "32"},
                          {"nvidia.com/gpu", std::to_string(gpu)}}}}}});
}

std::string Workload::AddNode(Random& random) {
  if (store_.Count(sim::kNodes) >= static_cast<size_t>(scenario_.nodes * 3 / 2)) return {};
  const std::string name = fmt::format("n{}", ++nodes_made_);
  const int64_t cpu = random.Between(scenario_.cpu / 2, scenario_.cpu);  // one after the other, by every compiler
  const int64_t gpu = scenario_.gpu > 0 ? random.Between(0, scenario_.gpu) : 0;
  PutNode(name, cpu, gpu, random);
  if (scenario_.workload.contains("arrive-volumes"))
    for (const char* disk : {"a", "b"}) MakeDisk(fmt::format("{}-{}", name, disk), name);
  return "node " + name + " is added";
}

std::string Workload::EditNodeSize(Random& random) {
  const std::string name = PickNode(random);
  const int64_t cpu = random.Between(1, scenario_.cpu * 3 / 2);
  if (name.empty()) return {};
  store_.Modify(
      sim::kNodes, "", name, [&](Json& next) { next["status"]["allocatable"]["cpu"] = std::to_string(cpu); },
      sim::Part::kStatus);
  return fmt::format("node {} has {} cpu", name, cpu);
}

std::string Workload::Relabel(Random& random) {
  const std::string name = PickNode(random);
  if (name.empty()) return {};
  const std::string zone = random.OneIn(4) ? "" : random.OneIn(2) ? "a" : "b";
  store_.Modify(sim::kNodes, "", name, [&](Json& next) {
    next["metadata"]["labels"]["zone"] = zone;
    if (zone.empty()) next["metadata"]["labels"].erase("zone");
  });
  return fmt::format("node {} is in {}", name, zone.empty() ? "no zone" : "zone " + zone);
}

std::string Workload::Taint(Random& random) {
  const std::string name = PickNode(random);
  if (name.empty()) return {};
  const bool away = random.OneIn(2);
  store_.Modify(sim::kNodes, "", name, [&](Json& next) {
    Json taints = Json::array();
    for (const Json& taint : sim::ArrayOf(sim::Dig(next, "spec", "taints")))
      if (sim::DigString(taint, "key") != "team") taints.push_back(taint);
    if (!away) taints.push_back({{"key", "team"}, {"value", "x"}, {"effect", "NoSchedule"}});
    next["spec"]["taints"] = std::move(taints);
  });
  return fmt::format("node {} is {}", name, away ? "for all" : "for team x");
}

// As the cluster-autoscaler: a node for pods that say no node has room, and one less where one is empty.
std::string Workload::Autoscale(Random& random) {
  std::set<std::string> used;
  bool wanted = false;
  for (const sim::Object& pod : store_.All(sim::kPods)) {
    used.insert(sim::DigString(*pod, "spec", "nodeName"));
    wanted = wanted || sim::DigString(sim::ConditionOf(*pod, "PodScheduled"), "message").find("nodes are available") !=
                           std::string::npos;
  }
  if (wanted) return AddNode(random);
  for (const sim::Object& node : store_.All(sim::kNodes))
    if (!used.contains(sim::NameOf(*node)) && store_.Count(sim::kNodes) > static_cast<size_t>(scenario_.nodes)) {
      store_.Delete(sim::kNodes, "", sim::NameOf(*node));
      return fmt::format("empty node {} is taken away", sim::NameOf(*node));
    }
  return {};
}

std::string Workload::Cordon(Random& random) {
  const std::string name = PickNode(random);
  if (name.empty()) return {};
  bool now = false;
  store_.Modify(sim::kNodes, "", name, [&](Json& next) {
    now = !sim::BoolOf(sim::Dig(next, "spec", "unschedulable"));
    next["spec"]["unschedulable"] = now;
  });
  return fmt::format("node {} is {}", name, now ? "cordoned" : "open again");
}

std::string Workload::Drain(Random& random) {
  const std::string name = PickNode(random);
  if (name.empty()) return {};
  store_.Modify(sim::kNodes, "", name, [](Json& next) { next["spec"]["unschedulable"] = true; });
  for (const sim::Object& pod : store_.All(sim::kPods))
    if (sim::DigString(*pod, "spec", "nodeName") == name) store_.Delete(sim::kPods, kNamespace, sim::NameOf(*pod));
  return "node " + name + " is drained";
}

// Adds a pod that another scheduler bound, whether or not it fits.
void Workload::PutForeign(const std::string& name, const std::string& node, const Json& requests, Random& random) {
  MustCreate(store_,
             {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata",
               {{"name", name},
                {"namespace", kNamespace},
                {"annotations", {{"sim.tutti.dev/run-for", fmt::format("{}s", random.Between(5, 90))}}}}},
              {"spec",
               {{"schedulerName", "another"},
                {"nodeName", node},
                {"containers",
                 {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", requests}, {"limits", requests}}}}}}}}});
}

std::string Workload::Foreign(Random& random) {
  const std::string node = PickNode(random);
  if (node.empty() || Full()) return {};
  const std::string name = fmt::format("x{}", ++made_);
  PutForeign(name, node, {{"cpu", "1"}, {"memory", "1Gi"}}, random);
  return fmt::format("another scheduler's pod {} is on {}", name, node);
}

// A member of a gang of several roles goes, another scheduler's pod has its room, and another role grows.
std::string Workload::TakePlace(Random& random) {
  const sim::Object pod = Full() ? nullptr : PickPod(random, true);
  if (!pod) return {};
  const std::string& node = sim::DigString(*pod, "spec", "nodeName");
  const std::string &cluster = sim::LabelOf(*pod, "ray.io/cluster"), &set = sim::LabelOf(*pod, "set");
  const auto gang = std::ranges::find(gangs_, cluster.empty() ? sim::LabelOf(*pod, "app") : cluster, &Gang::name);
  if (gang == gangs_.end() || !store_.Find(sim::kNodes, "", node)) return {};
  if (!cluster.empty()) {
    if (sim::LabelOf(*pod, "ray.io/node-type") != "head") return {};
    store_.Modify(sim::kRayClusters, kNamespace, cluster,
                  [](Json& next) { next["spec"]["workerGroupSpecs"][0]["replicas"] = 5; });
  } else {
    if (gang->parted != Parted::kInRoles) return {};
    for (const Part& part : gang->parts)
      if (const std::string other = fmt::format("{}-{}", gang->name, part.name); other != set)
        store_.Modify(sim::kReplicaSets, kNamespace, other,
                      [&part](Json& next) { next["spec"]["replicas"] = part.size + 2; });
  }
  const Json requests = sim::Dig(*pod, "spec", "containers")[0]["resources"]["requests"];
  store_.Delete(sim::kPods, kNamespace, sim::NameOf(*pod), {.grace_seconds = 0});
  PutForeign(fmt::format("x{}", ++made_), node, requests, random);
  return fmt::format("pod {} of {} loses its place on {} to another scheduler's pod", sim::NameOf(*pod), gang->name,
                     node);
}

std::string Workload::LoseNode(Random& random) {
  const std::string name = PickNode(random);
  if (name.empty()) return {};
  const sim::Object node = store_.Find(sim::kNodes, "", name);
  lost_nodes_[name] = {{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", name}, {"labels", sim::Dig(*node, "metadata", "labels")}}},
                       {"spec", sim::MapOf(sim::Child(*node, "spec"))},
                       {"status", {{"allocatable", sim::Dig(*node, "status", "allocatable")}}}};
  store_.Delete(sim::kNodes, "", name);
  return name;
}

void Workload::ReturnNode(const std::string& name) {
  if (store_.Find(sim::kNodes, "", name)) return;
  MustCreate(store_, lost_nodes_.at(name));
}

}  // namespace tutti::simulation
