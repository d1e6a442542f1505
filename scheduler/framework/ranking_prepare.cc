// SPDX-License-Identifier: Apache-2.0
// Makes a ranking again: prepares every plugin and asks about every node.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "framework/ranking_parts.h"

namespace tutti::framework {

using model::NodeId;

namespace {

constexpr size_t kMostFilters = kExcluded - 1;

}  // namespace

int64_t Ranking::Impl::MostTotal(const Profile& profile) {
  int64_t weights = 0;
  for (const WeightedScore& score : profile.scores) weights += score.weight;
  TUTTI_CHECK(weights <= kMostWeight, "the sum of score weights is checked where profiles are made");
  return profile.scores.empty() ? 1 : weights * kMaxNodeScore;
}

void Ranking::Impl::Prepare() {
  filters.clear();
  scores.clear();
  class_refusal.clear();
  class_refuser = nullptr;
  PrepareFilters();
  for (ActiveFilter& filter : filters) {
    filter.follows = filter.state->Follows();
    filter.reads_pods = filter.state->DependsOnNodePods();
  }
  TUTTI_CHECK(filters.size() <= kMostFilters, "a profile has a few dozen filters at most");
  for (const WeightedScore& score : profile.scores) {
    auto state = class_refuser ? nullptr : score.plugin->PrepareScore(pod_class, snapshot);
    if (!state) continue;
    const bool reads_pods = state->DependsOnNodePods();
    scores.push_back({score.plugin.get(), static_cast<int32_t>(score.weight), std::move(state), {}, reads_pods});
    if (score.plugin->normalize() != Normalize::kNone) scores.back().normalizer.emplace(score.plugin->normalize());
  }
  sharing.reset();
  if (PrepareGroups()) return;
  PrepareSharing();
  normalizes_pods =
      std::ranges::any_of(scores, [](const ActiveScore& score) { return score.normalizer && score.reads_pods; });
  Follow();
  AskAll();
}

// Prepares the filters like kube-scheduler's PreFilter pass: node sets intersect, the first refusal of the class wins,
// and later filters are not asked.
void Ranking::Impl::PrepareFilters() {
  only_nodes.reset();
  narrowing.clear();
  for (const auto& plugin : profile.filters) {
    auto state = plugin->PrepareFilter(pod_class, snapshot);
    if (!state) continue;
    filters.push_back({plugin.get(), std::move(state), false, true});
    if (!Narrow(filters.back())) return;
  }
}

void Ranking::Impl::Follow() {
  follows_pods = State::Pods::kNone;
  follows_nodes = follows_feasible = false;
  const auto ask = [this](const State& state) {
    follows_pods = std::max(follows_pods, state.FollowsPods());
    follows_nodes |= state.FollowsNodes();
  };
  for (const ActiveFilter& filter : filters) ask(*filter.state);
  for (const ActiveScore& score : scores) {
    ask(*score.state);
    follows_feasible |= score.state->FollowsFeasible();
  }
  if (sharing && sharing->score) ask(*sharing->score->state);
  keeps_moving = follows_pods != State::Pods::kNone;
  following = follows_pods == State::Pods::kAll ? snapshot.pod_log().Follow() : nullptr;
  seen_nodes = snapshot.log_end();
  seen_objects = snapshot.last_version();
  seen_pods = snapshot.pod_log().end(pod_log());
  seen_namespaces = snapshot.namespaces().version();
  seen_storage = snapshot.storage().version();
  seen_keys = snapshot.labels().keys_version();
}

// Applies the filter's node set. False when the class is refused on every node.
bool Ranking::Impl::Narrow(const ActiveFilter& filter) {
  class_refuser = filter.plugin;
  if (class_refusal = filter.state->RefusesClass(); !class_refusal.empty()) return false;
  class_refuser = nullptr;
  const std::vector<std::string>* names = filter.state->OnlyNodes();
  if (!names) return true;
  narrowing.push_back(filter.plugin);
  if (!only_nodes) {
    only_nodes = *names;
  } else {
    std::vector<std::string> both;
    std::ranges::set_intersection(*only_nodes, *names, std::back_inserter(both));
    only_nodes = std::move(both);
  }
  if (!only_nodes->empty()) return true;
  std::string who;
  for (const Filter* plugin : narrowing) who += fmt::format("{}{}", who.empty() ? "" : " ", plugin->name());
  class_refusal = narrowing.size() == 1 ? fmt::format("node(s) didn't satisfy plugin {}", who)
                                        : fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously", who);
  class_refuser = filter.plugin;
  return false;
}

void Ranking::Impl::AskAll() {
  const size_t slots = snapshot.slots();
  refused_by.assign(slots, class_refuser || only_nodes ? kExcluded : kNobody);
  for (uint32_t n = 0; n < slots; ++n)
    if (!snapshot.present(NodeId(n))) refused_by[n] = kAbsent;
  if (!class_refuser) {
    if (only_nodes)
      for (const std::string& name : *only_nodes)
        if (const NodeId n = snapshot.FindNode(name)) refused_by[n.index()] = kNobody;
    for (size_t i = 0; i < filters.size(); ++i) filters[i].CheckAll(static_cast<RefusedBy>(i + 1), refused_by);
  }
  refusals.fill(0);
  for (const RefusedBy by : refused_by) ++refusals[by];
  if (!rooms.empty()) MeasureRooms();
  TellFeasible();
  ScoreAll();
}

// Calls FeasibleChanged() of the scores that follow. True when some score must be asked about all nodes again.
bool Ranking::Impl::TellFeasible() {
  bool all = false;
  seen_version = snapshot.last_version();
  if (follows_feasible)
    for (ActiveScore& score : scores)
      if (score.state->FollowsFeasible()) all |= score.state->FeasibleChanged(refused_by);
  return all;
}

void Ranking::Impl::ScoreAll() {
  const size_t slots = refused_by.size();
  std::vector<int64_t>& raw = work.raw;
  std::vector<int32_t>& sums = work.sums;
  const auto feasible = [this](size_t slot) { return refused_by[slot] == kNobody; };
  still.Clear();
  moving.assign(keeps_moving ? slots : 0, kUnknown);
  sums.assign(slots, profile.scores.empty() ? 1 : 0);
  raw.assign(slots, 0);
  const auto add = [&](const ActiveScore& score) {
    score.state->ScoreAll(refused_by, raw);
    for (size_t slot = 0; slot < slots; ++slot)
      if (feasible(slot)) sums[slot] += score.weight * static_cast<int32_t>(raw[slot]);
  };
  for (const ActiveScore& score : scores)
    if (!score.normalizer && !score.reads_pods) add(score);
  for (size_t slot = 0; slot < slots; ++slot)
    if (feasible(slot)) still.Put(slot, sums[slot], slots);
  for (const ActiveScore& score : scores)
    if (!score.normalizer && score.reads_pods) add(score);
  if (keeps_moving)
    for (size_t slot = 0; slot < slots; ++slot)
      if (feasible(slot)) moving[slot] = sums[slot] - static_cast<int32_t>(still.at(slot));
  for (ActiveScore& score : scores) {
    if (!score.normalizer) continue;
    score.state->ScoreAll(refused_by, raw);
    score.normalizer->Assign(refused_by, raw);
    score.normalizer->UpdateExtremes(refused_by);
    for (size_t slot = 0; slot < slots; ++slot)
      if (feasible(slot))
        sums[slot] += score.weight * static_cast<int32_t>(score.normalizer->Share(score.normalizer->raw(slot)));
  }
  best.Grow(slots);
  for (size_t slot = 0; slot < slots; ++slot) feasible(slot) ? best.Put(slot, sums[slot]) : best.TakeOut(slot);
  if (!sharing) return best.Rebuild();
  FillCells();
  SettleCells();
}

RefusedBy Ranking::Impl::FilterNode(NodeId n) const {
  if (!snapshot.present(n)) return kAbsent;
  if (class_refuser) return kExcluded;
  if (only_nodes && !std::ranges::binary_search(*only_nodes, snapshot.node(n).name)) return kExcluded;
  for (size_t i = 0; i < filters.size(); ++i)
    if (filters[i].Refuses(n)) return static_cast<RefusedBy>(i + 1);
  return kNobody;
}

int32_t Ranking::Impl::RoomAt(NodeId n) const {
  const RefusedBy by = refused_by[n.index()];
  if (by >= kExcluded) return 0;
  size_t asked = 0;  // filters whose Check is already known to be kFits
  if (by == kNobody)
    asked = filters.size();
  else if (filters[by - 1].state->reach() != FilterState::Reach::kCluster)
    return 0;
  else
    asked = by - size_t{1};
  int64_t room = kMostRoom;
  for (size_t i = 0; i < filters.size() && room > 0; ++i) {
    const FilterState& state = *filters[i].state;
    if (i >= asked && state.reach() != FilterState::Reach::kCluster && state.Check(n) != Verdict::kFits) return 0;
    room = std::min(room, state.Room(n));
  }
  return static_cast<int32_t>(room);
}

void Ranking::Impl::MeasureRooms() {
  rooms.resize(refused_by.size());
  total_room = 0;
  for (uint32_t n = 0; n < rooms.size(); ++n) total_room += rooms[n] = RoomAt(NodeId(n));
}

}  // namespace tutti::framework
