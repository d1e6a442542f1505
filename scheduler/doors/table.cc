// SPDX-License-Identifier: Apache-2.0
#include "doors/table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "doors/messages.h"
#include "model/gang_rank.h"

namespace tutti::doors {
namespace {

// Gives those that wait their positions, queue by queue.
std::vector<Row> WithPositions(std::vector<Row> rows, base::Millis now_ms) {
  std::map<QueueKey, std::vector<Row*>> lines;
  for (Row& row : rows)
    if (StandsInLine(*row.decision)) lines[QueueKeyOf(*row.decision)].push_back(&row);
  for (auto& [queue, line] : lines) {
    std::ranges::stable_sort(line, {}, [now_ms](const Row* row) { return PlaceInLine(*row->decision, now_ms); });
    for (size_t i = 0; i < line.size(); ++i) {
      line[i]->position = static_cast<int32_t>(i + 1);
      line[i]->line = static_cast<int32_t>(line.size());
    }
  }
  return rows;
}

}  // namespace

std::string QueueOf(const observe::Decision& decision) {
  return decision.quota && !decision.quota->leaf.empty() ? decision.quota->leaf : decision.queue;
}

QueueKey QueueKeyOf(const observe::Decision& decision) { return {decision.queue_dialect, QueueOf(decision)}; }

std::pair<int64_t, base::Millis> PlaceInLine(const observe::Decision& it, base::Millis now_ms) {
  const bool for_quota = it.quota && it.quota->queued_ms != 0;
  const int64_t priority = model::GangRank{it.priority, it.created_ms, it.priority_slope}.PriorityAt(now_ms);
  return {model::SaturatingSub(0, priority), for_quota ? it.quota->queued_ms : it.created_ms};
}

bool StandsInLine(const observe::Decision& decision) {
  using observe::GangState;
  return decision.state == GangState::kWaitingForQueue || decision.state == GangState::kWaitingForNodes;
}

Table::Table(uint64_t sequence, std::vector<Row> sorted, base::Millis now_ms)
    : sequence(sequence),
      at_ms(now_ms),
      rows(WithPositions(std::move(sorted), now_ms)),
      rises(std::ranges::any_of(
          rows, [](const Row& row) { return row.decision->priority_slope != 0 && StandsInLine(*row.decision); })) {}

std::pair<size_t, size_t> Table::RangeOf(const std::string& ns, const std::string& name) const {
  const auto key = [&](const Row& row) {
    const model::GangKey& gang = row.decision->gang;
    return std::tuple<const std::string&, const std::string&>(gang.ns, name.empty() ? name : gang.name);
  };
  const auto found =
      std::ranges::equal_range(rows, std::tuple<const std::string&, const std::string&>(ns, name), std::less(), key);
  return {found.begin() - rows.begin(), found.end() - rows.begin()};
}

const HoldersByNode& Table::holders() const {
  std::call_once(made_, [this] {
    for (const Row& row : rows) {
      const observe::Decision& decision = *row.decision;
      for (const observe::MemberDecision& member : decision.members) {
        if (!HoldsRoom(member)) continue;
        std::vector<Holding>& here = holders_[member.node];
        if (here.empty() || here.back().decision != &decision) here.push_back({&decision, 0, {}});
        ++here.back().pods;
        here.back().amounts.AddAll(WeightOf(member));
      }
    }
  });
  return holders_;
}

}  // namespace tutti::doors
