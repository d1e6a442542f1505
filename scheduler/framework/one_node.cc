// SPDX-License-Identifier: Apache-2.0
#include "framework/one_node.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace tutti::framework {

std::optional<cluster::Takings> FitsOn(const Profile& profile, const cluster::PodClass& pod_class,
                                       const cluster::Snapshot& snapshot, model::NodeId n) {
  if (!snapshot.present(n)) return std::nullopt;
  std::vector<std::unique_ptr<FilterState>> states;
  for (const auto& plugin : profile.filters) {
    auto state = plugin->PrepareFilter(pod_class, snapshot);
    if (!state) continue;
    if (!state->RefusesClass().empty()) return std::nullopt;
    const std::vector<std::string>* only = state->OnlyNodes();
    if (only && !std::ranges::binary_search(*only, snapshot.node(n).name)) return std::nullopt;
    if (state->Check(n) != Verdict::kFits) return std::nullopt;
    states.push_back(std::move(state));
  }
  cluster::Takings takings;
  for (const auto& state : states) state->Choose(n, &takings);
  return takings;
}

}  // namespace tutti::framework
