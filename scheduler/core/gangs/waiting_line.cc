// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/waiting_line.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/gangs/draft.h"

namespace tutti::core {

WaitingLine LineOf(const GangBook& book, const cluster::ClusterState& state, base::Millis now_ms,
                   const std::function<bool(const Gang&)>& is_meant, size_t most) {
  std::vector<std::pair<std::tuple<int64_t, base::Millis, std::string_view>, const Gang*>> found;
  book.ForEach([&](model::GangId, const Gang& gang) {
    if (gang.state != GangState::kWaitingForQueue && gang.state != GangState::kWaitingForNodes) return;
    if (!is_meant(gang)) return;
    if (!gang.quota || !gang.quota->terms) {
      found.push_back({{-gang.line.rank().PriorityAt(now_ms), gang.line.created_ms, {}}, &gang});
      return;
    }
    const model::GangAsk& ask = gang.quota->terms->ask;
    found.push_back({{-int64_t{ask.priority}, ask.queued_ms, ask.uid}, &gang});
  });
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  WaitingLine line;
  int64_t pods = 0;
  for (const auto& [place, gang] : found) {
    if (pods >= WaitingLine::kMostPods || line.drafts.size() >= most) {
      ++line.left_out;
      continue;
    }
    line.drafts.push_back(DraftOf(*gang, state));
    pods += std::ssize(line.drafts.back().members);
  }
  return line;
}

}  // namespace tutti::core
