// SPDX-License-Identifier: Apache-2.0
// A ranking that is kept by groups of equal nodes: its answer about a group is its answer about each node in it.
#include <algorithm>

#include "framework/ranking_parts.h"

namespace tutti::framework {

using model::NodeId;

namespace {

// The most groupings of a workspace, because each of them follows every change.
constexpr size_t kMostGroupings = 8;

}  // namespace

// Reads the facts that the plugins depend on. False if they may tell apart nodes with equal facts.
bool Ranking::Impl::ReadFacts(NodeFacts* facts) const {
  const auto reads = [facts](const auto& one) { return one.state->Reads(facts); };
  const auto of_group = [](const ActiveScore& score) {
    return !score.state->FollowsFeasible() && !(score.normalizer && score.reads_pods);
  };
  const bool known = !class_refuser && !only_nodes && !sharing && std::ranges::all_of(filters, reads) &&
                     std::ranges::all_of(scores, of_group) && std::ranges::all_of(scores, reads);
  facts->CommitCounts();
  return known;
}

// Changes the ranking to groups, if it can. True: it keeps no data by node now. REQUIRES: filters and scores are
// prepared, and there is no `sharing`.
bool Ranking::Impl::PrepareGroups() {
  by_group.reset();
  if (!wants_groups || !may_group) return false;
  NodeFacts facts;
  may_group = ReadFacts(&facts);
  const std::shared_ptr<NodeGroups> groups = may_group ? FindGroups(facts) : nullptr;
  may_group = groups != nullptr;
  if (!groups) return false;
  by_group.emplace(groups, MostTotal(profile));
  refused_by = {};
  refusals.fill(0);
  best = BestNode(MostTotal(profile));
  still.Clear();
  moving = {};
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i].normalizer) by_group->normalized.push_back({i, {}, {}});
  Follow();
  groups->Refresh();
  AskAllGroups();
  return true;
}

// Returns the groups for these facts. Null: there are too many sets of facts, or nearly every node is a kind of its
// own.
std::shared_ptr<NodeGroups> Ranking::Impl::FindGroups(const NodeFacts& facts) {
  std::erase_if(work.groups, [](const auto& one) { return one.expired(); });
  for (const auto& one : work.groups)
    if (auto groups = one.lock(); groups->facts() == facts) return groups->Pays() ? groups : nullptr;
  if (work.groups.size() >= kMostGroupings) return nullptr;
  auto groups = std::make_shared<NodeGroups>(facts, snapshot);
  if (!groups->Pays()) return nullptr;
  work.groups.push_back(groups);
  return groups;
}

void Ranking::Impl::LeaveGroups() {
  may_group = false;
  Prepare();
}

void Ranking::Impl::RefreshGroups() {
  bool told = false;
  if (!TellOfGroups(&told)) return Prepare();
  if (NodeFacts facts; told && !ReadFacts(&facts)) return LeaveGroups();
  NodeGroups& groups = *by_group->groups;
  by_group->best_known = false;
  groups.Refresh();
  if (!groups.Pays()) return LeaveGroups();
  work.of_groups.clear();
  if (by_group->era != groups.era() || !groups.ReadLog(by_group->seen, &work.of_groups)) return AskAllGroups();
  by_group->seen = groups.log_end();
  by_group->totals.Grow(groups.size());
  SortBySlot(groups.size(), &work.of_groups, &work.bits);
  AskGroups(work.of_groups);
}

// Passes changes to the states; sets `told` if there was one. False when the states must be prepared again.
bool Ranking::Impl::TellOfGroups(bool* told) {
  if (BeginsAnew()) return false;
  Changes changes;
  if (follows_nodes && seen_objects != snapshot.last_version()) {
    work.changed.clear();
    if (!snapshot.ReadLog(seen_nodes, &work.changed)) return false;
    std::erase_if(work.changed, [this](NodeId n) { return snapshot.node(n).version <= seen_objects; });
    std::ranges::sort(work.changed);
    work.changed.erase(std::unique(work.changed.begin(), work.changed.end()), work.changed.end());
    TellStates(&changes, [&](State& state, Dirty& dirty) {
      if (state.FollowsNodes()) state.NodesChanged(work.changed, dirty);
    });
  }
  seen_keys = snapshot.labels().keys_version();
  seen_nodes = snapshot.log_end();
  seen_objects = snapshot.last_version();
  if (!TellPods(&changes)) return false;
  *told = changes.told;
  return true;
}

void Ranking::Impl::AskAllGroups() {
  const NodeGroups& groups = *by_group->groups;
  by_group->era = groups.era();
  by_group->seen = groups.log_end();
  by_group->best_known = false;
  by_group->kinds.clear();
  for (ByGroup::Normalized& one : by_group->normalized) one = {one.score, {}, {}};
  by_group->totals = BestNode(MostTotal(profile));
  by_group->totals.Grow(groups.size());
  work.of_groups.clear();
  for (uint32_t g = 0; g < groups.size(); ++g) work.of_groups.emplace_back(g);
  AskGroups(work.of_groups);
}

// Asks about these groups. REQUIRES: `groups` has each group once.
void Ranking::Impl::AskGroups(std::span<const NodeGroup> groups) {
  if (groups.empty()) return;
  TakeOutGroups(groups);
  JudgeGroups();
  const bool shifted = SettleKinds();
  BestNode& totals = by_group->totals;
  for (size_t i = 0; i < work.open_groups.size(); ++i) {
    const NodeGroup g = work.open_groups[i];
    const ByGroup::Kind& kind = by_group->kinds[by_group->groups->kind(g)];
    totals.Put(g.index(), work.sums[i] + kind.plain + kind.shares);
  }
  if (shifted || groups.size() > totals.size() / 64) return totals.Rebuild();
  for (const NodeGroup g : groups) totals.Replay(g.index());
}

// Takes these groups out. Puts the groups of kinds that no filter refuses into `open_groups`, and a node of each into
// `asked`.
void Ranking::Impl::TakeOutGroups(std::span<const NodeGroup> groups) {
  work.open_groups.clear();
  work.asked.clear();
  work.crossed.clear();
  by_group->kinds.resize(by_group->groups->kinds());
  for (const NodeGroup g : groups) {
    const NodeGroups::Kind kind = by_group->groups->kind(g);
    if (by_group->totals.total(g.index()) != BestNode::kOut) {
      by_group->totals.TakeOut(g.index());
      if (--by_group->kinds[kind].feasible == 0) work.crossed.push_back(kind);
    }
    const NodeId n = by_group->groups->First(g);
    if (!n) continue;
    AskKind(kind, n);
    if (by_group->kinds[kind].closed) continue;
    work.open_groups.push_back(g);
    work.asked.push_back(n);
  }
}

// Removes groups that a filter refuses from `open_groups`, and puts the sums of scores that read pods into `sums`. It
// asks about a few groups at a time, so that a node's data stays in the CPU's cache from one plugin to the next.
void Ranking::Impl::JudgeGroups() {
  constexpr size_t kAtOnce = 64;
  work.verdicts.assign(work.asked.size(), kNobody);
  work.sums.assign(work.asked.size(), 0);
  work.raw.resize(kAtOnce);
  size_t left = 0;
  for (size_t from = 0; from < work.asked.size(); from += kAtOnce) {
    const size_t count = std::min(kAtOnce, work.asked.size() - from), first = left;
    const std::span<RefusedBy> verdicts = std::span(work.verdicts).subspan(from, count);
    for (size_t f = 0; f < filters.size(); ++f)
      if (filters[f].reads_pods)
        filters[f].CheckSome(static_cast<RefusedBy>(f + 1), std::span(work.asked).subspan(from, count), verdicts);
    for (size_t i = 0; i < count; ++i) {
      if (verdicts[i] != kNobody) continue;
      work.open_groups[left] = work.open_groups[from + i];
      work.asked[left++] = work.asked[from + i];
    }
    const std::span<const NodeId> feasible = std::span(work.asked).subspan(first, left - first);
    for (const ActiveScore& score : scores) {
      if (!score.reads_pods) continue;
      score.state->ScoreSome(feasible, std::span(work.raw).first(feasible.size()));
      for (size_t i = 0; i < feasible.size(); ++i)
        work.sums[first + i] += score.weight * static_cast<int32_t>(work.raw[i]);
    }
  }
  work.open_groups.resize(left);
  for (const NodeGroup g : work.open_groups) {
    const NodeGroups::Kind kind = by_group->groups->kind(g);
    if (by_group->kinds[kind].feasible++ == 0) work.crossed.push_back(kind);
  }
}

// Asks about one node of the kind for the answers that hold as long as the kind has nodes.
void Ranking::Impl::AskKind(NodeGroups::Kind kind, NodeId n) {
  ByGroup::Kind& entry = by_group->kinds[kind];
  if (std::exchange(entry.asked, true)) return;
  entry.closed =
      std::ranges::any_of(filters, [n](const ActiveFilter& filter) { return !filter.reads_pods && filter.Refuses(n); });
  if (entry.closed) return;
  entry.plain = profile.scores.empty() ? 1 : 0;
  for (const ActiveScore& score : scores)
    if (!score.reads_pods && !score.normalizer)
      entry.plain += score.weight * static_cast<int32_t>(score.state->Score(n));
  for (ByGroup::Normalized& one : by_group->normalized) {
    if (one.raw.size() <= kind) one.raw.resize(by_group->kinds.size());
    one.raw[kind] = scores[one.score].state->Score(n);
  }
  entry.shares = SharesOf(kind);
}

int32_t Ranking::Impl::SharesOf(NodeGroups::Kind kind) const {
  int64_t sum = 0;
  for (const ByGroup::Normalized& one : by_group->normalized) {
    const ActiveScore& score = scores[one.score];
    sum += score.weight * Normalizer::ShareOf(score.plugin->normalize(), one.raw[kind], one.extremes);
  }
  return static_cast<int32_t>(sum);
}

// Finds the extremes over the feasible kinds. True when totals changed by that.
bool Ranking::Impl::SettleKinds() {
  bool other = false;
  for (const NodeGroups::Kind kind : work.crossed) {
    ByGroup::Kind& entry = by_group->kinds[kind];
    other |= std::exchange(entry.counts, entry.feasible > 0) != entry.counts;
  }
  if (!other) return false;
  bool moved = false;
  for (ByGroup::Normalized& one : by_group->normalized) {
    const Normalize how = scores[one.score].plugin->normalize();
    Normalizer::Extremes now;
    bool any = false;
    for (size_t kind = 0; kind < by_group->kinds.size(); ++kind) {
      if (!by_group->kinds[kind].counts || !Normalizer::Counts(how, one.raw[kind])) continue;
      now.max = any ? std::max(now.max, one.raw[kind]) : one.raw[kind];
      now.min = any ? std::min(now.min, one.raw[kind]) : one.raw[kind];
      any = true;
    }
    moved |= now.max != one.extremes.max || now.min != one.extremes.min;
    one.extremes = now;
  }
  if (!moved) return false;
  work.shifts.assign(by_group->kinds.size(), 0);  // by how much the totals of each kind change
  for (NodeGroups::Kind kind = 0; kind < by_group->kinds.size(); ++kind) {
    ByGroup::Kind& entry = by_group->kinds[kind];
    if (!entry.asked || entry.closed) continue;
    const int32_t shares = SharesOf(kind);
    work.shifts[kind] = shares - std::exchange(entry.shares, shares);
  }
  if (std::ranges::all_of(work.shifts, [](int32_t by) { return by == 0; })) return false;
  BestNode& totals = by_group->totals;
  for (uint32_t g = 0; g < totals.size(); ++g)
    if (const int32_t total = totals.total(g); total != BestNode::kOut)
      totals.Put(g, total + work.shifts[by_group->groups->kind(NodeGroup(g))]);
  return true;
}

int64_t Ranking::Impl::ShareByGroup(size_t score, int64_t raw) const {
  const auto one = std::ranges::find(by_group->normalized, score, &ByGroup::Normalized::score);
  return Normalizer::ShareOf(scores[score].plugin->normalize(), raw, one->extremes);
}

// Returns the lowest slot among the nodes of all best groups.
NodeId Ranking::Impl::BestByGroup() {
  if (std::exchange(by_group->best_known, true)) return by_group->best;
  by_group->best = NodeId();
  by_group->totals.ForEachBest([this](size_t g) {
    const NodeId first = by_group->groups->First(NodeGroup(static_cast<uint32_t>(g)));
    by_group->best = std::min(by_group->best, first);  // an invalid id is above all others
  });
  return by_group->best;
}

size_t Ranking::Impl::FeasibleInGroups() const {
  size_t nodes = 0;
  for (uint32_t g = 0; g < by_group->totals.size(); ++g)
    if (by_group->totals.total(g) != BestNode::kOut) nodes += by_group->groups->nodes(NodeGroup(g));
  return nodes;
}

// Returns the refusing filter by group; O(groups · filters).
std::vector<RefusedBy> Ranking::Impl::RefusersOfGroups() const {
  const NodeGroups& groups = *by_group->groups;
  std::vector<RefusedBy> of_groups(groups.size(), kAbsent);
  for (uint32_t g = 0; g < groups.size(); ++g)
    if (const NodeId n = groups.First(NodeGroup(g))) of_groups[g] = FilterNode(n);
  return of_groups;
}

// Returns the refusing filter by slot; O(groups · filters + slots).
std::vector<RefusedBy> Ranking::Impl::RefusersByGroup() const {
  const NodeGroups& groups = *by_group->groups;
  const std::vector<RefusedBy> of_groups = RefusersOfGroups();
  std::vector<RefusedBy> refusers(snapshot.slots(), kAbsent);
  for (uint32_t n = 0; n < refusers.size(); ++n)
    if (const NodeGroup g = groups.Of(NodeId(n))) refusers[n] = of_groups[g.index()];
  return refusers;
}

}  // namespace tutti::framework
