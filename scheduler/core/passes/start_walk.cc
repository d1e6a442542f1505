// SPDX-License-Identifier: Apache-2.0
#include "core/passes/start_walk.h"

#include <algorithm>
#include <utility>

namespace tutti::core {

using base::Millis;
using model::GangDraft;
using model::GangId;
using model::NodeId;
using model::PodId;
using observe::Prospect;
using observe::StartEstimate;

namespace {

// What it takes to look at a gang besides its search, to look up when a pod ends, and to have one end or come back, in
// units of the budget.
constexpr int64_t kWorkOfTurn = 500, kWorkOfRoom = 10, kWorkOfEnd = 60;
constexpr size_t kMostAwaited = 100;

bool Starts(const Prospect& prospect) {
  return prospect.verdict == Prospect::Verdict::kFits || prospect.verdict == Prospect::Verdict::kNeedsVictims;
}

// When a guest that starts at that instant has ended; 0: nothing says it.
Millis EndOfGuest(const GangDraft& draft, const RunLengths& lengths, Millis from_ms, RunLengths::Guess* like_it) {
  Millis last = 0;
  for (const GangDraft::Member& member : draft.members) {
    Millis end = LimitOf(&draft.spec, *member.pod, from_ms);
    if (end == 0) {
      const auto guess = lengths.Of(ShapeOf(draft.key.dialect, &draft.spec, member.role, *member.pod));
      if (!guess) return 0;
      *like_it = *guess;
      end = from_ms + guess->median_ms;
    }
    last = std::max(last, end);
  }
  return last;
}

}  // namespace

StartWalk::StartWalk(const cluster::ClusterState& state, const GangBook& book, const RunLengths& lengths,
                     Planner& planner, Millis now_ms, const std::vector<GangDraft>& line,
                     const std::vector<GangId>& ids, size_t asked, int64_t most_work, Trial& trial, const Look& look)
    : state_(state),
      book_(book),
      lengths_(lengths),
      planner_(planner),
      now_ms_(now_ms),
      line_(line),
      ids_(ids),
      asked_(asked),
      left_(most_work),
      searched_(planner.work()),
      trial_(trial),
      look_(look),
      started_(line.size()) {}

StartWalk::~StartWalk() {
  while (!steps_.empty()) steps_.pop_back();
}

void StartWalk::Forward() {
  steps_.push_back(std::make_unique<Trial::Step>(trial_));
  for (const Ending& ending : next_->second) {
    left_ -= kWorkOfEnd * static_cast<int64_t>(ending.end.pods.size() + ending.taken.count);
    if (ending.guest == kNone)
      trial_.End(ending.end.pods, ending.end.gang);
    else
      trial_.End(ids_[ending.guest], ending.taken);
  }
  ++next_;
}

void StartWalk::Back() {
  steps_.pop_back();
  --next_;
  for (const Ending& ending : next_->second)
    left_ -= kWorkOfEnd * static_cast<int64_t>(ending.end.pods.size() + ending.taken.count);
}

Prospect StartWalk::LookAt(size_t guest) {
  left_ -= kWorkOfTurn;
  trial_.TakeTaken();
  Prospect prospect = look_(ids_[guest], line_[guest], trial_);
  if (guest == asked_) last_ = prospect;
  return prospect;
}

bool StartWalk::AskAlike(size_t a, size_t b) const {
  const model::GangSpec &one = line_[a].spec, &other = line_[b].spec;
  const Members &mine = book_.at(ids_[a]).members, &others = book_.at(ids_[b]).members;
  const auto is_like = [this](const Member* x, const Member* y) {
    return x->role == y->role && book_.ClassOf(*x) == book_.ClassOf(*y) && !x->topology && !y->topology;
  };
  return !one.quota && !other.quota && one.queue == other.queue && one.queue_dialect == other.queue_dialect &&
         one.min_member == other.min_member && one.roles == other.roles && one.units.empty() && other.units.empty() &&
         one.topology == other.topology && one.min_resources == other.min_resources &&
         one.further_queues == other.further_queues && std::ranges::equal(mine, others, is_like);
}

bool StartWalk::IsRefusedAlike(size_t guest, const std::vector<size_t>& refused) const {
  return guest != asked_ && std::ranges::any_of(refused, [&](size_t other) { return AskAlike(guest, other); });
}

bool StartWalk::AnyStarts() {
  trial_.quota().BeginRound();
  std::vector<size_t> refused;
  for (size_t i = 0; i < line_.size() && !exhausted(); ++i) {
    if (started_[i] || IsRefusedAlike(i, refused)) continue;
    const Trial::Step step(trial_);
    if (Starts(LookAt(i))) return true;
    refused.push_back(i);
  }
  return false;
}

bool StartWalk::Start() {
  trial_.quota().BeginRound();
  std::vector<size_t> refused;
  for (size_t i = 0; i < line_.size() && !exhausted(); ++i) {
    if (started_[i] || IsRefusedAlike(i, refused)) continue;
    steps_.push_back(std::make_unique<Trial::Step>(trial_));
    if (!Starts(LookAt(i))) {
      steps_.pop_back();
      refused.push_back(i);
      continue;
    }
    if (i == asked_) return true;
    FollowStarted(i);
  }
  return false;
}

void StartWalk::FollowStarted(size_t guest) {
  started_[guest] = true;
  RunLengths::Guess like_it;
  const Millis end_ms = EndOfGuest(line_[guest], lengths_, here_ms(), &like_it);
  if (end_ms == 0) {
    endless_guests_.push_back(line_[guest].key);
    return;
  }
  const Millis at_ms = std::max(end_ms, here_ms() + 1);
  const auto [instant, is_new] = instants_.try_emplace(at_ms);
  instant->second.push_back({{at_ms, line_[guest].key, {}, {}, like_it}, guest, trial_.TakeTaken()});
  if (is_new && std::next(instant) == next_) next_ = instant;
}

bool StartWalk::Advance() {
  int64_t refused = 0, here = 0, found = 0;  // instants from where it stands
  const auto go_to = [&](int64_t place) {
    for (; here < place && next_ != instants_.end() && !exhausted(); ++here) Forward();
    for (; here > place; --here) Back();
  };
  for (int64_t stride = 1; found == 0; stride *= 2) {
    if (next_ == instants_.end() || exhausted()) return false;
    go_to(here + stride);
    (AnyStarts() ? found : refused) = here;
  }
  while (found - refused > 1 && !exhausted()) {
    go_to(refused + (found - refused) / 2);
    (AnyStarts() ? found : refused) = here;
  }
  go_to(found);
  return !exhausted();
}

void StartWalk::Begin() {
  trial_.SeekNoVictims();
  absl::flat_hash_set<GangId> asks;
  for (const GangDraft& draft : line_)
    if (const GangId there = book_.Find(draft.key)) asks.insert(there);
  Ends ends = FindEnds(state_, book_, lengths_, now_ms_, [&asks](GangId of) { return asks.contains(of); });
  left_ -= kWorkOfRoom * ends.pods;
  endless_ = std::move(ends.unknown);
  for (End& end : ends.known) instants_[end.at_ms].push_back({std::move(end), kNone, {}});
  next_ = instants_.begin();
  while (next_ != instants_.end() && next_->first <= now_ms_) Forward();
}

StartEstimate StartWalk::Run() {
  Begin();
  bool found = Start();
  by_queue_ = last_.verdict == Prospect::Verdict::kWaitsForQueue;
  while (!found && last_.verdict != Prospect::Verdict::kNever && Advance()) found = Start();
  return found ? Found() : NotFound();
}

bool StartWalk::IsInItsWay(const Ending& ending, const absl::flat_hash_set<NodeId>& nodes) const {
  if (by_queue_) {
    const GangId of = book_.Find(ending.end.of);
    return ending.guest != kNone || (of && NamedQueue(book_.at(of).spec) == NamedQueue(line_[asked_].spec));
  }
  const std::vector<cluster::Placement>& placements = planner_.what_if().placements();
  for (size_t i = 0; i < ending.taken.count; ++i)
    if (nodes.contains(placements[ending.taken.first + i].node)) return true;
  return std::ranges::any_of(ending.end.pods, [&](PodId pod) { return nodes.contains(state_.pod(pod).node); });
}

StartEstimate StartWalk::Found() const {
  StartEstimate estimate;
  estimate.basis = StartEstimate::Basis::kDeclared;
  estimate.at_ms = here_ms();
  absl::flat_hash_set<NodeId> nodes;
  for (const Prospect::Place& place : last_.places) nodes.insert(state_.snapshot().FindNode(place.node));
  for (auto at = std::make_reverse_iterator(next_); at != instants_.rend() && at->first > now_ms_; ++at)
    for (const Ending& ending : at->second) {
      const End& end = ending.end;
      const bool decides = at->first == estimate.at_ms;
      if (end.like_it.runs > 0) estimate.basis = StartEstimate::Basis::kSeen;
      if (estimate.awaits.size() < kMostAwaited && (decides || IsInItsWay(ending, nodes)))
        estimate.awaits.push_back({end.of, end.at_ms, end.like_it.runs, end.like_it.median_ms});
    }
  return estimate;
}

StartEstimate StartWalk::NotFound() const {
  StartEstimate estimate;
  if (exhausted() || last_.verdict == Prospect::Verdict::kUndecided) {
    estimate.why = kCutShort;
  } else if (last_.verdict == Prospect::Verdict::kNever) {
    estimate.why = "It could not start even if nothing else ran.";
  } else if (endless_.empty() && endless_guests_.empty()) {
    estimate.why = "It would not start when all that runs has ended.";
  } else {
    estimate.why = "Some of what is in its way has no limit, and no runs of others like it tell its end.";
    estimate.endless = endless_guests_;
    estimate.endless.insert(estimate.endless.end(), endless_.begin(), endless_.end());
  }
  return estimate;
}

}  // namespace tutti::core
