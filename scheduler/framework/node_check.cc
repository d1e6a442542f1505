// SPDX-License-Identifier: Apache-2.0
#include "framework/node_check.h"

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

}  // namespace tutti::framework
