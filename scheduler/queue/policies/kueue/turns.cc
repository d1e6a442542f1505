// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/turns.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace tutti::queue {
namespace {

// Higher priority, then the one that has stood longer.
auto AgeKey(const Turn& turn) { return std::tuple(-int64_t{turn.ask->priority}, turn.ask->queued_ms, turn.ask->uid); }

using Shares = absl::flat_hash_map<QueueId, DominantShare>;  // by the queue below which they are compared

Shares SharesWith(const PreemptionArena& arena, const Turn& turn) {
  Shares shares;
  const Ledger::Mark mark = arena.ledger.Here();
  arena.ledger.Charge(turn.leaf, Ask(arena.shares.cells(), turn.assignment.usage));
  for (QueueId at = turn.leaf; arena.shares.parent(at).valid(); at = arena.shares.parent(at))
    shares.emplace(arena.shares.parent(at), arena.shares.Dominant(at));
  arena.ledger.Rewind(mark);
  return shares;
}

struct Player {
  Turn* turn;
  const Shares* shares;

  bool Beats(const Player& other, QueueId below) const {
    const DominantShare& own = shares->at(below);
    const DominantShare& others = other.shares->at(below);
    const bool borrows = own.BorrowsOf(turn->assignment.usage);
    if (borrows != others.BorrowsOf(other.turn->assignment.usage)) return !borrows;
    if (const auto order = Compare(own, others); order != 0) return order < 0;
    return AgeKey(*turn) < AgeKey(*other.turn);
  }
};

}  // namespace

Turns::Turns(const PreemptionArena& arena, std::vector<Turn> turns, bool by_fair_share)
    : arena_(arena), turns_(std::move(turns)), by_fair_share_(by_fair_share) {
  std::ranges::sort(turns_, [](const Turn& a, const Turn& b) {
    return std::pair(a.assignment.borrowing, AgeKey(a)) < std::pair(b.assignment.borrowing, AgeKey(b));
  });
  for (Turn& turn : turns_) left_.push_back(&turn);
}

Turn* Turns::Next() {
  if (left_.empty()) return nullptr;
  Turn* next = by_fair_share_ && left_.size() > 1 ? PlayTournament() : left_.front();
  std::erase(left_, next);
  return next;
}

Turn* Turns::PlayTournament() {
  std::vector<Player> players;
  for (Turn* turn : left_) {
    const auto [at, first] = shares_.try_emplace(turn);
    if (first) at->second = SharesWith(arena_, *turn);
    players.push_back({turn, &at->second});
  }
  // The deepest queue first, so that all below a cohort have played before it does.
  absl::flat_hash_map<QueueId, size_t> winners;
  std::set<std::pair<int, QueueId>> open;
  const auto enter = [&](QueueId queue, int depth, size_t player) {
    const auto [at, first] = winners.try_emplace(queue, player);
    if (!first && players[player].Beats(players[at->second], queue)) at->second = player;
    if (first) open.emplace(-depth, queue);
  };
  for (size_t i = 0; i < players.size(); ++i)
    enter(players[i].turn->leaf, static_cast<int>(players[i].shares->size()), i);
  while (open.size() > 1 || open.begin()->first != 0) {
    const auto [depth, queue] = *open.begin();
    open.erase(open.begin());
    enter(arena_.shares.parent(queue), -depth - 1, winners.at(queue));
  }
  return players[winners.at(open.begin()->second)].turn;
}

}  // namespace tutti::queue
