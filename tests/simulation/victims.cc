// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/victims.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

namespace tutti::simulation {

namespace {

constexpr size_t kMostNodes = 4;

// Nothing but the pod itself says of which gang it is.
bool IsLone(const model::Pod& pod) {
  const auto of_gang = [](const auto& entry) {
    const std::string_view key = entry.first;
    return key.starts_with("scheduling.") || key.starts_with("ray.io/") || key.starts_with("yunikorn.apache.org/") ||
           key == "applicationId";
  };
  return pod.scheduling_group.empty() && std::ranges::none_of(pod.meta.labels, of_gang) &&
         std::ranges::none_of(pod.meta.annotations, of_gang);
}

}  // namespace

std::vector<core::ChosenVictim> ChooseVictims(const model::GangKey& /*gang*/, const std::vector<model::PodId>& members,
                                              const cluster::ClusterState& state) {
  int32_t priority = std::numeric_limits<int32_t>::max();
  for (const model::PodId member : members) priority = std::min(priority, state.pod(member).pod->spec->priority);
  std::map<std::string_view, model::NodeId> nodes;  // by name
  for (uint32_t slot = 0; slot < state.snapshot().slots(); ++slot)
    if (const model::NodeId node(slot); state.snapshot().present(node))
      nodes.emplace(state.snapshot().node(node).name, node);
  std::vector<core::ChosenVictim> victims;
  size_t taken = 0;
  for (const auto& [name, node] : nodes) {
    const size_t before = victims.size();
    for (const model::PodId pod : state.pods_on(node)) {
      const cluster::PodEntry& entry = state.pod(pod);
      if (entry.reserved || entry.victim_of || entry.leaving || entry.pod->meta.deleting()) continue;
      if (entry.pod->spec->priority < priority && IsLone(*entry.pod)) victims.push_back({.pod = pod});
    }
    taken += victims.size() > before;
    if (taken == kMostNodes) break;
  }
  return victims;
}

}  // namespace tutti::simulation
