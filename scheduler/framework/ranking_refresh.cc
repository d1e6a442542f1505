// SPDX-License-Identifier: Apache-2.0
// Catches up with changes: asks again about changed nodes, and only plugins whose answer may have changed.
#include <algorithm>
#include <array>
#include <utility>

#include "framework/ranking_parts.h"

namespace tutti::framework {

using model::NodeId;

namespace {

// Fewer nodes than this are checked one by one.
constexpr size_t kFew = 4;
// Changes are sorted only if there is at least one in so many slots.
constexpr size_t kSlotsPerChange = 64;

}  // namespace

void Ranking::Impl::Refresh() {
  if (seen_nodes == snapshot.log_end() && seen_namespaces == snapshot.namespaces().version() && !StorageChanged())
    return;
  if (by_group) return RefreshGroups();
  work.changed.clear();
  Changes changes;
  if (!TellChanges(&changes)) {
    std::ranges::fill(work.marked, 0);
    Prepare();
    return;
  }
  Grow();
  if (changes.told && !MarkNamed()) {
    std::ranges::fill(work.marked, 0);
    AskAll();
    return;
  }
  changes.nodes = work.changed;
  Ask(changes);
  for (const NodeId n : work.changed) work.marked[n.index()] = 0;
}

// Adds the nodes that states put into Dirty. False when a state added all nodes.
bool Ranking::Impl::MarkNamed() {
  bool everything = work.by_filters.everything() || work.by_parted.everything();
  for (const Dirty& dirty : work.by_scores) everything |= dirty.everything();
  if (everything) return false;
  const auto mark = [this](NodeId n, char with) {
    char& marks = work.marked[n.index()];
    if (!marks) work.changed.push_back(n);
    marks |= with;
  };
  const auto mark_filter = [&](NodeId n) { mark(n, kFilter); };
  work.by_filters.ForEach(snapshot, mark_filter);
  if (sharing) work.by_parted.ForEach(snapshot, mark_filter, sharing->filter_keys);
  for (size_t i = 0; i < scores.size(); ++i) {
    ActiveScore& score = scores[i];
    score.named = !work.by_scores[i].empty();
    work.by_scores[i].ForEach(snapshot, [&](NodeId n) {
      if (!score.normalizer && keeps_moving) moving[n.index()] = kUnknown;
      mark(n, kScore);
    });
  }
  return true;
}

// Whether some state was made when no node had a label key that a node has now.
bool Ranking::Impl::Outdated() const {
  const auto outdated = [](const auto& one) { return one.state->Outdated(); };
  return seen_keys != snapshot.labels().keys_version() &&
         (std::ranges::any_of(filters, outdated) || std::ranges::any_of(scores, outdated) ||
          (sharing && sharing->score && outdated(*sharing->score)));
}

// Whether the states must be made again, because data that they were made from has changed.
bool Ranking::Impl::BeginsAnew() const {
  const bool reads_namespaces = follows_pods != State::Pods::kNone || class_refuser;  // the refusal may depend on them
  return (seen_namespaces != snapshot.namespaces().version() && reads_namespaces) || Outdated() || StorageChanged();
}

// Passes changes to the states. False when they must be prepared again.
bool Ranking::Impl::TellChanges(Changes* changes) {
  if (BeginsAnew() || !snapshot.ReadLog(seen_nodes, &work.changed)) return false;
  seen_keys = snapshot.labels().keys_version();
  seen_nodes = snapshot.log_end();
  if (work.marked.size() < snapshot.slots()) work.marked.resize(snapshot.slots());
  MarkChanged();
  changes->themselves = work.changed.size();
  if (seen_objects != snapshot.last_version()) {
    const auto of_pods = std::ranges::stable_partition(
        work.changed, [this](NodeId n) { return snapshot.node(n).version > seen_objects; });
    changes->objects = static_cast<size_t>(of_pods.begin() - work.changed.begin());
    seen_objects = snapshot.last_version();
  }
  const std::span<const NodeId> objects = std::span<const NodeId>(work.changed).first(changes->objects);
  for (const NodeId n : objects) work.marked[n.index()] = kObject;
  if (follows_nodes && !objects.empty())
    TellStates(changes, [&](State& state, Dirty& dirty) {
      if (state.FollowsNodes()) state.NodesChanged(objects, dirty);
    });
  return TellPods(changes);
}

bool Ranking::Impl::TellPods(Changes* changes) {
  if (follows_pods == State::Pods::kNone || seen_pods == snapshot.pod_log().end(pod_log())) return true;
  work.pods.clear();
  if (!snapshot.pod_log().Read(pod_log(), seen_pods, &work.pods)) return false;
  seen_pods = snapshot.pod_log().end(pod_log());
  for (const cluster::PodChange& pod : work.pods)
    TellStates(changes, [&](State& state, Dirty& dirty) {
      const State::Pods follows = state.FollowsPods();
      if (follows == State::Pods::kAll || (follows == State::Pods::kAffine && pod.pod_class->affine()))
        state.PodChanged(*pod.pod_class, pod.node, pod.by, dirty);
    });
  return true;
}

// Marks the changed nodes, each once. Many of them are sorted by slot, so that data by slot is read in the order of
// memory. With a thousand classes, whose rankings fit into no CPU cache, reading memory is most of the cost.
void Ranking::Impl::MarkChanged() {
  if (work.changed.size() < work.marked.size() / kSlotsPerChange) {
    std::erase_if(work.changed, [this](NodeId n) { return std::exchange(work.marked[n.index()], kPods); });
    return;
  }
  SortBySlot(work.marked.size(), &work.changed, &work.bits);
  for (const NodeId n : work.changed) work.marked[n.index()] = kPods;
}

void Ranking::Impl::Grow() {
  const size_t slots = snapshot.slots();
  if (slots <= refused_by.size()) return;
  refusals[kAbsent] += slots - refused_by.size();
  refused_by.resize(slots, kAbsent);
  if (!rooms.empty()) rooms.resize(slots);
  if (keeps_moving) moving.resize(slots, kUnknown);
  best.Grow(slots);
}

void Ranking::Impl::Ask(const Changes& changes) {
  bool flipped = seen_version != snapshot.last_version();  // a feasible node may have changed: new labels, for example
  FilterSome(changes);
  const int32_t even = FindUneven();
  work.moved.clear();
  work.redone.clear();
  work.rescored.clear();
  work.returned.clear();
  bool some_left = false;
  for (size_t i = 0; i < changes.nodes.size(); ++i) {
    const NodeId n = changes.nodes[i];
    const bool was_feasible = refused_by[n.index()] == kNobody, is_feasible = work.verdicts[i] == kNobody;
    flipped |= was_feasible != is_feasible;
    some_left |= was_feasible && !is_feasible;
    Sort(n, work.verdicts[i]);
    if (work.marked[n.index()] != kScore) Refuse(n, work.verdicts[i]);
  }
  if (flipped && TellFeasible()) {
    ScoreAll();
    return;
  }
  Move(work.moved, even);
  const bool renormalized = Rescore(some_left);
  if (sharing) {
    for (const NodeId n : changes.nodes) PutIntoCell(n);
    if (renormalized) sharing->cells.TotalsChanged();
    return SettleCells();
  }
  // A few changes are replayed one by one; for many all rounds are rebuilt once.
  if (renormalized || changes.nodes.size() > refused_by.size() / 64) return best.Rebuild();
  for (const NodeId n : changes.nodes) best.Replay(n.index());
}

// Sorts the node by which part of its score must be found again. If any must, the node is out while the others are
// normalised again.
void Ranking::Impl::Sort(NodeId n, RefusedBy verdict) {
  const size_t slot = n.index();
  const char marks = work.marked[slot];
  const bool itself = marks & (kObject | kPods), known = Known(n);
  const bool was_feasible = refused_by[slot] == kNobody, is_feasible = verdict == kNobody;
  if (was_feasible && is_feasible) {
    if (marks == kPods && !normalizes_pods && (known || !keeps_moving)) return work.moved.push_back(n);
    if (known && marks == kFilter) return;
    if (known && !itself) {
      for (ActiveScore* score : work.uneven)
        if (score->named) score->normalizer->Erase(slot);
      best.TakeOut(slot);
      return work.rescored.push_back(n);
    }
  }
  if (was_feasible) {
    for (ActiveScore* score : work.uneven) score->normalizer->Erase(slot);
    best.TakeOut(slot);
  }
  // A node that only filters added keeps its scores.
  if (keeps_moving && marks != kFilter) moving[slot] = kUnknown;
  if (is_feasible) (Known(n) ? work.returned : work.redone).push_back(n);
}

// Filters the changed nodes, and writes the results into `verdicts`.
void Ranking::Impl::FilterSome(const Changes& changes) {
  const size_t objects = changes.objects, themselves = changes.themselves;
  work.verdicts.resize(changes.nodes.size());
  const bool one_by_one = class_refuser || only_nodes;
  if (objects < kFew || one_by_one) {
    for (size_t i = 0; i < objects; ++i) work.verdicts[i] = FilterNode(changes.nodes[i]);
  } else {
    for (size_t i = 0; i < objects; ++i) work.verdicts[i] = snapshot.present(changes.nodes[i]) ? kNobody : kAbsent;
    for (size_t f = 0; f < filters.size(); ++f)
      filters[f].CheckSome(static_cast<RefusedBy>(f + 1), changes.nodes.first(objects),
                           std::span(work.verdicts).first(objects));
  }
  for (size_t i = objects; i < work.verdicts.size(); ++i) work.verdicts[i] = refused_by[changes.nodes[i].index()];
  const bool together = themselves - objects >= kFew && !one_by_one;
  if (together)
    for (size_t f = 0; f < filters.size(); ++f)
      if (filters[f].follows || filters[f].reads_pods)
        filters[f].CheckSome(static_cast<RefusedBy>(f + 1), changes.nodes.subspan(objects, themselves - objects),
                             std::span(work.verdicts).subspan(objects, themselves - objects));
  for (size_t i = objects; i < themselves; ++i) {
    const NodeId n = changes.nodes[i];
    if (!together || refused_by[n.index()] != kNobody) work.verdicts[i] = FilterAgain(n, true);
  }
  FilterNamed(changes);
}

// Filters nodes that filters added although they did not change themselves. It asks the filters that follow, and all
// filters after the first that refused one of these nodes, because those were not asked before. A refusal by a filter
// that does not follow still holds.
void Ranking::Impl::FilterNamed(const Changes& changes) {
  work.asked.clear();
  work.places.clear();
  size_t first_refuser = filters.size();
  for (size_t i = changes.themselves; i < changes.nodes.size(); ++i) {
    const NodeId n = changes.nodes[i];
    if (!(work.marked[n.index()] & kFilter)) continue;
    const RefusedBy by = refused_by[n.index()];
    if (by != kNobody && (by > filters.size() || !filters[by - size_t{1}].follows)) {
      work.verdicts[i] = FilterAgain(n, false);
      continue;
    }
    if (by != kNobody) first_refuser = std::min(first_refuser, by - size_t{1});
    work.asked.push_back(n);
    work.places.push_back(i);
  }
  work.again.assign(work.asked.size(), kNobody);
  for (size_t f = 0; f < filters.size(); ++f)
    if (filters[f].follows || f > first_refuser)
      filters[f].CheckSome(static_cast<RefusedBy>(f + 1), work.asked, work.again);
  for (size_t i = 0; i < work.places.size(); ++i) work.verdicts[work.places[i]] = work.again[i];
}

// Filters a node whose object did not change; `pods`: its pods did.
RefusedBy Ranking::Impl::FilterAgain(NodeId n, bool pods) const {
  const RefusedBy by = refused_by[n.index()];
  if (by == kAbsent || by == kExcluded) return by;
  const auto refuses = [&](size_t i) { return filters[i].Refuses(n); };
  const auto again = [&](size_t i) { return filters[i].follows || (pods && filters[i].reads_pods); };
  const size_t before = by == kNobody ? filters.size() : by - size_t{1};
  for (size_t i = 0; i < before; ++i)
    if (again(i) && refuses(i)) return static_cast<RefusedBy>(i + 1);
  if (by == kNobody || !again(before)) return by;
  for (size_t i = before; i < filters.size(); ++i)
    if (refuses(i)) return static_cast<RefusedBy>(i + 1);
  return kNobody;
}

void Ranking::Impl::Refuse(NodeId n, RefusedBy by) {
  const size_t slot = n.index();
  if (refused_by[slot] != by) {
    --refusals[refused_by[slot]];
    ++refusals[by];
    refused_by[slot] = by;
  }
  if (rooms.empty()) return;
  total_room -= rooms[slot];
  total_room += rooms[slot] = RoomAt(n);
}

// Updates the totals of nodes that stay feasible and on which only pods changed. `even` is the sum of the scores that
// are equal for all nodes.
void Ranking::Impl::Move(std::span<const NodeId> nodes, int32_t even) {
  if (nodes.empty()) return;
  work.raw.resize(nodes.size());
  work.sums.assign(nodes.size(), 0);
  for (const ActiveScore& score : scores) {
    if (score.normalizer || !score.reads_pods) continue;
    score.state->ScoreSome(nodes, work.raw);
    for (size_t i = 0; i < nodes.size(); ++i) work.sums[i] += score.weight * static_cast<int32_t>(work.raw[i]);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t slot = nodes[i].index();
    if (keeps_moving)
      best.Put(slot, best.total(slot) + work.sums[i] - std::exchange(moving[slot], work.sums[i]));
    else
      best.Put(slot, work.sums[i] + static_cast<int32_t>(still.at(slot)) + even + SumUneven(nodes[i]));
  }
}

// Updates the totals of nodes whose scores must be asked, of those that a normalised score added, and of those that are
// feasible again. `some_left`: some nodes are not feasible any more. True when all other nodes were normalised again.
bool Ranking::Impl::Rescore(bool some_left) {
  const std::array<std::span<const NodeId>, 3> all{work.redone, work.rescored, work.returned};
  if (!some_left && std::ranges::all_of(all, [](const auto& nodes) { return nodes.empty(); })) return false;
  SumPlain(work.redone);
  const auto insert = [this](ActiveScore& score, std::span<const NodeId> nodes) {
    work.raw.resize(nodes.size());
    score.state->ScoreSome(nodes, work.raw);
    for (size_t i = 0; i < nodes.size(); ++i)
      score.normalizer->Insert(nodes[i].index(), work.raw[i], refused_by.size());
  };
  for (ActiveScore& score : scores) {
    if (!score.normalizer) continue;
    insert(score, work.redone);
    if (score.named) insert(score, work.rescored);
    if (score.normalizer->flat()) continue;
    for (const NodeId n : work.returned)
      score.normalizer->Insert(n.index(), score.normalizer->raw(n.index()), refused_by.size());
  }
  const bool renormalized = Renormalize();
  const int32_t even = FindUneven();
  for (size_t i = 0; i < work.redone.size(); ++i)
    best.Put(work.redone[i].index(), work.sums[i] + even + SumUneven(work.redone[i]));
  for (const auto& nodes : {std::span<const NodeId>(work.rescored), std::span<const NodeId>(work.returned)})
    for (const NodeId n : nodes)
      best.Put(n.index(), moving[n.index()] + static_cast<int32_t>(still.at(n.index())) + even + SumUneven(n));
  return renormalized;
}

// Finds the normalised scores that are not flat. Returns what the flat ones add to every node.
int32_t Ranking::Impl::FindUneven() {
  int32_t even = 0;
  work.uneven.clear();
  for (ActiveScore& score : scores) {
    if (!score.normalizer) continue;
    if (score.normalizer->flat())
      even += score.weight * static_cast<int32_t>(score.normalizer->Share(0));
    else
      work.uneven.push_back(&score);
  }
  return even;
}

// Returns what the scores that are not flat add for one node.
int32_t Ranking::Impl::SumUneven(NodeId n) const {
  int32_t sum = 0;
  for (const ActiveScore* score : work.uneven)
    sum += score->weight * static_cast<int32_t>(score->normalizer->Share(score->normalizer->raw(n.index())));
  return sum;
}

// Writes the sums of the scores without normalisation into `sums`, `still` and `moving`. REQUIRES: the nodes are
// feasible.
void Ranking::Impl::SumPlain(std::span<const NodeId> nodes) {
  work.raw.resize(nodes.size());
  work.sums.assign(nodes.size(), profile.scores.empty() ? 1 : 0);
  const auto add = [&](bool reads_pods) {
    for (const ActiveScore& score : scores) {
      if (score.normalizer || score.reads_pods != reads_pods) continue;
      score.state->ScoreSome(nodes, work.raw);
      for (size_t i = 0; i < nodes.size(); ++i) work.sums[i] += score.weight * static_cast<int32_t>(work.raw[i]);
    }
  };
  add(false);
  for (size_t i = 0; i < nodes.size(); ++i) still.Put(nodes[i].index(), work.sums[i], refused_by.size());
  add(true);
  if (!keeps_moving) return;
  for (size_t i = 0; i < nodes.size(); ++i)
    moving[nodes[i].index()] = work.sums[i] - static_cast<int32_t>(still.at(nodes[i].index()));
}

// Normalises again. True when totals changed: the caller must then rebuild the rounds above them.
bool Ranking::Impl::Renormalize() {
  bool moved = false;
  for (ActiveScore& score : scores) {
    if (!score.normalizer || !score.normalizer->UpdateExtremes(refused_by)) continue;
    moved = true;
    // There are few different raw scores, and neighbours mostly have the same. So each division is done once, because
    // divisions would be most of the cost.
    struct Shift {
      int64_t raw = 0;
      int32_t by = 0;
      bool known = false;
    };
    std::array<Shift, 64> shifts{};
    for (size_t slot = 0; slot < best.size(); ++slot) {
      const int32_t total = best.total(slot);
      if (total == BestNode::kOut) continue;
      const int64_t raw = score.normalizer->raw(slot);
      Shift& shift = shifts[static_cast<uint64_t>(raw) % shifts.size()];
      if (!shift.known || shift.raw != raw)
        shift = {raw,
                 score.weight * static_cast<int32_t>(score.normalizer->Share(raw) - score.normalizer->OldShare(raw)),
                 true};
      best.Put(slot, total + shift.by);
    }
  }
  return moved;
}

}  // namespace tutti::framework
