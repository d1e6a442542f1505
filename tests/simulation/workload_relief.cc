// SPDX-License-Identifier: Apache-2.0
// What lets others start: room, nodes that may be used, queues that may grow, less that is needed.
#include <fmt/format.h>

#include <map>
#include <set>

#include "tests/simulation/faults.h"
#include "tests/simulation/workload.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using base::Random;
using sim::Json;

Workload::Relief Workload::MakeRoom(Random& random) { return Repeat("nodes come", &Workload::AddNode, random); }

Workload::Relief Workload::Relieve(Random& random) {
  static constexpr std::pair<const char*, Action> kActions[] = {{"gangs leave", &Workload::Leave},
                                                                {"nodes grow", &Workload::GrowNode},
                                                                {"nodes are opened", &Workload::OpenNode},
                                                                {"nodes change zone", &Workload::MoveNode},
                                                                {"queues may use more", &Workload::RaiseQueues},
                                                                {"quotas are raised", &Workload::RaiseQuotas},
                                                                {"gangs need less", &Workload::LowerMin},
                                                                {"disks are wiped", &Workload::WipeDisk}};
  constexpr int kTries = 8;
  for (int tries = 0; tries < kTries; ++tries) {
    const auto [kind, action] = kActions[random.Below(std::size(kActions))];
    if (const Relief relief = Repeat(kind, action, random); !relief.done.empty()) return relief;
  }
  return {};
}

Workload::Relief Workload::Repeat(const char* kind, Action action, Random& random) {
  constexpr int kTimes = 3;
  std::string done;
  for (int i = 0; i < kTimes; ++i)
    if (const std::string one = (this->*action)(random); !one.empty()) done += (done.empty() ? "" : ", ") + one;
  return {done, kind, action != &Workload::Leave};
}

std::string Workload::GrowNode(Random& random) {
  const std::string name = PickNode(random);
  if (name.empty()) return {};
  store_.Modify(
      sim::kNodes, "", name,
      [this](Json& next) {
        Json& allocatable = next["status"]["allocatable"];
        allocatable["cpu"] = std::to_string(2 * scenario_.cpu);
        allocatable["nvidia.com/gpu"] = std::to_string(2 * scenario_.gpu);
      },
      sim::Part::kStatus);
  return fmt::format("node {} has {} cpu", name, 2 * scenario_.cpu);
}

std::string Workload::OpenNode(Random& random) {
  std::vector<std::string> closed;
  for (const sim::Object& node : store_.All(sim::kNodes))
    if (sim::BoolOf(sim::Dig(*node, "spec", "unschedulable")) || !sim::Dig(*node, "spec", "taints").empty())
      closed.push_back(sim::NameOf(*node));
  if (closed.empty()) return {};
  const std::string name = closed[random.Below(closed.size())];
  store_.Modify(sim::kNodes, "", name, [](Json& next) {
    next["spec"].erase("unschedulable");
    next["spec"].erase("taints");
  });
  return fmt::format("node {} is open for all", name);
}

// To the other zone: one that is as empty as any, so that there is room for the gangs that wait for that.
std::string Workload::MoveNode(Random& random) {
  std::map<std::string, int64_t> pods_on;
  for (const sim::Object& node : store_.All(sim::kNodes)) pods_on[sim::NameOf(*node)];
  for (const sim::Object& pod : store_.All(sim::kPods))
    if (const auto at = pods_on.find(sim::DigString(*pod, "spec", "nodeName")); at != pods_on.end()) ++at->second;
  if (pods_on.empty()) return {};
  const auto lot = [&, salt = random.Next()](const auto& node) {
    return std::pair(node.second, Mix(salt, node.first));
  };
  const std::string name = std::ranges::min_element(pods_on, {}, lot)->first;
  std::string zone;
  store_.Modify(sim::kNodes, "", name, [&](Json& next) {
    Json& label = next["metadata"]["labels"]["zone"];
    zone = sim::StringOf(label) == "a" ? "b" : "a";
    label = zone;
  });
  return fmt::format("node {} is in zone {}", name, zone);
}

// Raises all of them: a gang that waits for one may be held by those above it, too.
std::string Workload::RaiseQueues(Random&) {
  std::string raised;
  for (auto& [name, queue] : queues_) {
    const std::string most = sim::DigString(queue, "spec", "capability", "cpu");
    if (most.empty()) continue;
    const std::string now = std::to_string(std::stoll(most) + scenario_.nodes * scenario_.cpu / 4);
    const auto edit = [&](Json& next) { next["spec"]["capability"]["cpu"] = now; };
    edit(queue);
    if (store_.Modify({"scheduling.volcano.sh", "queues"}, "", name, edit))
      raised += fmt::format("{}queue {} may use {} cpu", raised.empty() ? "" : ", ", name, now);
  }
  return raised;
}

// Of a gang no member of which has a node.
std::string Workload::LowerMin(Random& random) {
  std::set<std::string> placed;  // whose pods
  for (const sim::Object& pod : store_.All(sim::kPods))
    if (!sim::DigString(*pod, "spec", "nodeName").empty()) placed.insert(sim::LabelOf(*pod, "app"));
  constexpr int kTries = 16;
  for (int tries = 0; tries < kTries; ++tries) {
    Gang* gang = PickGang(random);
    if (!gang || gang->min < 2 || placed.contains(gang->name)) continue;
    if (std::string done = SetMin(*gang, 1); !done.empty()) return done;
  }
  return {};
}

}  // namespace tutti::simulation
