// SPDX-License-Identifier: Apache-2.0
#include "framework/plugin.h"

#include <numeric>

namespace tutti::framework {

void FilterState::CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const {
  for (uint32_t n = 0; n < refused_by.size(); ++n)
    if (refused_by[n] == kNobody && Check(model::NodeId(n)) != Verdict::kFits) refused_by[n] = mine;
}

void FilterState::CheckSome(RefusedBy mine, std::span<const model::NodeId> nodes,
                            std::span<RefusedBy> refused_by) const {
  for (size_t i = 0; i < nodes.size(); ++i)
    if (refused_by[i] == kNobody && Check(nodes[i]) != Verdict::kFits) refused_by[i] = mine;
}

void FilterState::ExplainAll(RefusedBy mine, std::span<const RefusedBy> refused_by,
                             std::map<std::string, size_t>* nodes) const {
  std::vector<std::string> reasons;
  for (uint32_t n = 0; n < refused_by.size(); ++n) {
    if (refused_by[n] != mine) continue;
    reasons.clear();
    Explain(model::NodeId(n), &reasons);
    for (std::string& reason : reasons) ++(*nodes)[std::move(reason)];
  }
}

int64_t FilterState::Most(std::span<const int32_t> room, std::span<const cluster::PodClass* const>) const {
  return std::accumulate(room.begin(), room.end(), int64_t{0});
}

void ScoreState::ScoreAll(std::span<const RefusedBy> refused_by, std::span<int64_t> raw) const {
  for (uint32_t n = 0; n < refused_by.size(); ++n)
    if (refused_by[n] == kNobody) raw[n] = Score(model::NodeId(n));
}

void ScoreState::ScoreSome(std::span<const model::NodeId> nodes, std::span<int64_t> raw) const {
  for (size_t i = 0; i < nodes.size(); ++i) raw[i] = Score(nodes[i]);
}

}  // namespace tutti::framework
