// SPDX-License-Identifier: Apache-2.0
// What lets others start: room, nodes that may be used, queues that may grow, less that is needed.
#include <fmt/format.h>

#include "tests/simulation/workload.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using base::Random;
using sim::Json;

Workload::Relief Workload::Relieve(Random& random) {
  static constexpr Action kActions[] = {&Workload::Leave,    &Workload::AddNode,  &Workload::GrowNode,
                                        &Workload::OpenNode, &Workload::MoveNode, &Workload::RaiseQueue,
                                        &Workload::LowerMin, &Workload::WipeDisk};
  constexpr int kTries = 8, kTimes = 3;
  for (int tries = 0; tries < kTries; ++tries) {
    const Action action = kActions[random.Below(std::size(kActions))];
    std::string done;
    for (int i = 0; i < kTimes; ++i)
      if (const std::string one = (this->*action)(random); !one.empty()) done += (done.empty() ? "" : ", ") + one;
    if (!done.empty()) return {done, action != &Workload::Leave};
  }
  return {};
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

// To the other zone.
std::string Workload::MoveNode(Random& random) {
  const std::string name = PickNode(random);
  if (name.empty()) return {};
  std::string zone;
  store_.Modify(sim::kNodes, "", name, [&](Json& next) {
    Json& label = next["metadata"]["labels"]["zone"];
    zone = sim::StringOf(label) == "a" ? "b" : "a";
    label = zone;
  });
  return fmt::format("node {} is in zone {}", name, zone);
}

std::string Workload::RaiseQueue(Random& random) {
  auto at = queues_.begin();
  std::advance(at, static_cast<ptrdiff_t>(random.Below(queues_.size())));
  const std::string& most = sim::DigString(at->second, "spec", "capability", "cpu");
  if (most.empty()) return {};
  const int64_t now = std::stoll(most) + scenario_.nodes * scenario_.cpu / 4;
  const auto edit = [now](Json& next) { next["spec"]["capability"]["cpu"] = std::to_string(now); };
  edit(at->second);
  const auto changed = store_.Modify({"scheduling.volcano.sh", "queues"}, "", at->first, edit);
  return changed ? fmt::format("queue {} may use {} cpu", at->first, now) : "";
}

std::string Workload::LowerMin(Random& random) {
  Gang* gang = PickGang(random);
  if (!gang || gang->min < 2) return {};
  return SetMin(*gang, random.Between(1, gang->min - 1));
}

}  // namespace tutti::simulation
