// SPDX-License-Identifier: Apache-2.0
#include "framework/node_check.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tutti::framework {

std::optional<NodeRefusal> CheckNode(model::NodeId n, const cluster::PodClass& pod_class, const Profile& profile,
                                     const cluster::Snapshot& snapshot, absl::FunctionRef<bool(const Filter&)> asks) {
  for (const auto& filter : profile.filters) {
    if (!asks(*filter)) continue;
    const auto state = filter->PrepareFilter(pod_class, snapshot);
    if (!state) continue;
    NodeRefusal refusal;
    if (std::string reason = state->RefusesClass(); !reason.empty()) {
      refusal.of_class = true;
      refusal.reasons.push_back(std::move(reason));
      return refusal;
    }
    if (state->Check(n) == Verdict::kFits) continue;
    state->Explain(n, &refusal.reasons);
    return refusal;
  }
  return std::nullopt;
}

std::optional<cluster::Takings> FitsOn(model::NodeId n, const cluster::PodClass& pod_class, const Profile& profile,
                                       const cluster::Snapshot& snapshot) {
  if (!snapshot.present(n)) return std::nullopt;
  std::vector<std::unique_ptr<FilterState>> states;
  for (const auto& filter : profile.filters) {
    auto state = filter->PrepareFilter(pod_class, snapshot);
    if (!state) continue;
    const std::vector<std::string>* only = state->OnlyNodes();
    if (only && !std::ranges::binary_search(*only, snapshot.node(n).name)) return std::nullopt;
    if (!state->RefusesClass().empty() || state->Check(n) != Verdict::kFits) return std::nullopt;
    states.push_back(std::move(state));
  }
  cluster::Takings takings;
  for (const auto& state : states) state->Choose(n, &takings);
  return takings;
}

}  // namespace tutti::framework
