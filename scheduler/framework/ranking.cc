// SPDX-License-Identifier: Apache-2.0
#include "framework/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/check.h"
#include "framework/best_node.h"
#include "framework/normalizer.h"

namespace tutti::framework {
namespace {

using model::NodeId;

struct ActiveFilter {
  const Filter* plugin;
  std::unique_ptr<FilterState> state;
  bool follows;  // its answer about a node may change though the node does not
};

struct ActiveScore {
  const Score* plugin;
  int32_t weight;
  std::unique_ptr<ScoreState> state;
  std::optional<Normalizer> normalizer;  // absent for Normalize::kNone
};

constexpr size_t kMostFilters = kExcluded - 1;
// Fewer nodes than this are asked about one by one.
constexpr size_t kFew = 4;

}  // namespace

struct Ranking::Impl {
  const Profile& profile;
  const cluster::PodClass& pod_class;
  const cluster::Snapshot& snapshot;

  std::vector<ActiveFilter> filters;
  std::vector<ActiveScore> scores;
  std::string class_refusal;  // empty: none
  const Filter* class_refuser = nullptr;
  std::optional<std::vector<std::string>> only_nodes;  // sorted; absent: any
  std::vector<const Filter*> narrowing;                // whose nodes those are
  State::Pods follows_pods = State::Pods::kNone;
  bool follows_nodes = false, follows_feasible = false;

  std::vector<RefusedBy> refused_by;
  std::array<size_t, 256> refusals{};  // how many slots each RefusedBy has
  BestNode best;
  std::vector<int32_t> rooms;  // empty until asked for
  int64_t total_room = 0;
  uint64_t seen_nodes = 0, seen_pods = 0, seen_namespaces = 0, seen_storage = 0;  // how far the snapshot was read
  uint64_t seen_version = 0;                                    // of nodes, when the feasible ones were last told
  std::vector<NodeId> changed;                                  // scratch
  std::vector<cluster::PodChange> pods;                         // scratch
  std::vector<char> marked;                                     // scratch; 0 between calls
  std::vector<NodeId> rescored;                                 // scratch: whose fixed scores others changed
  std::vector<RefusedBy> verdicts;                              // scratch
  std::vector<NodeId> asked;                                    // scratch
  std::vector<int64_t> raw;                                     // scratch
  // By slot: what the scores without normalisation add up to; kUnknown where they were not asked since it may have
  // changed.
  std::vector<int32_t> fixed;
  static constexpr int32_t kUnknown = std::numeric_limits<int32_t>::min();

  Impl(const Profile& p, const cluster::PodClass& c, const cluster::Snapshot& s)
      : profile(p), pod_class(c), snapshot(s) {
    Prepare();
  }
  ~Impl() {
    if (follows_pods == State::Pods::kAll) snapshot.UnfollowAllPods();
  }

  void Prepare();
  void Follow();
  void Narrow();
  void AskAll();
  void ScoreAll();
  void Ask(std::span<const NodeId> nodes, size_t themselves);
  RefusedBy FilterNode(NodeId n) const;
  RefusedBy FilterAgain(NodeId n) const;
  void FilterSome(std::span<const NodeId> nodes, size_t themselves);
  void Refuse(size_t slot, RefusedBy by);
  int32_t RoomAt(NodeId n) const;
  void MeasureRooms();
  void FixScores(std::span<const NodeId> nodes);
  bool Renormalize();
  bool StorageChanged() const { return seen_storage != snapshot.storage().version() && !pod_class.spec->volumes.empty(); }
  bool TellFeasible();
  bool TellChanges(Dirty* dirty);
  void Refresh();
  cluster::Snapshot::PodLog pod_log() const {
    return follows_pods == State::Pods::kAll ? cluster::Snapshot::PodLog::kAll : cluster::Snapshot::PodLog::kAffine;
  }
  template <typename Tell>
  void TellStates(Dirty* dirty, Tell tell);
};

template <typename Tell>
void Ranking::Impl::TellStates(Dirty* dirty, Tell tell) {
  for (ActiveFilter& filter : filters) tell(static_cast<State&>(*filter.state));
  for (ActiveScore& score : scores) {
    const size_t before = dirty ? dirty->nodes().size() : 0;
    tell(static_cast<State&>(*score.state));
    if (dirty && !score.normalizer)
      rescored.insert(rescored.end(), dirty->nodes().begin() + static_cast<ptrdiff_t>(before), dirty->nodes().end());
  }
}

void Ranking::Impl::Prepare() {
  filters.clear();
  scores.clear();
  class_refusal.clear();
  class_refuser = nullptr;
  for (const auto& plugin : profile.filters)
    if (auto state = plugin->PrepareFilter(pod_class, snapshot))
      filters.push_back({plugin.get(), std::move(state), false});
  for (ActiveFilter& filter : filters) filter.follows = filter.state->Follows();
  TUTTI_CHECK(filters.size() <= kMostFilters, "a profile has a few dozen filters at most");
  int64_t weights = 0;
  for (const WeightedScore& score : profile.scores) {
    weights += score.weight;
    auto state = score.plugin->PrepareScore(pod_class, snapshot);
    if (!state) continue;
    scores.push_back({score.plugin.get(), static_cast<int32_t>(score.weight), std::move(state), {}});
    if (score.plugin->normalize() != Normalize::kNone) scores.back().normalizer.emplace(score.plugin->normalize());
  }
  TUTTI_CHECK(weights <= kMostWeight, "the sum of score weights is checked where profiles are made");
  Follow();
  Narrow();
  AskAll();
}

void Ranking::Impl::Follow() {
  const State::Pods before = follows_pods;
  follows_pods = State::Pods::kNone;
  follows_nodes = follows_feasible = false;
  TellStates(nullptr, [this](const State& state) {
    follows_pods = std::max(follows_pods, state.FollowsPods());
    follows_nodes |= state.FollowsNodes();
  });
  for (const ActiveScore& score : scores) follows_feasible |= score.state->FollowsFeasible();
  if (follows_pods == State::Pods::kAll) snapshot.FollowAllPods();
  if (before == State::Pods::kAll) snapshot.UnfollowAllPods();
  seen_nodes = snapshot.log_end();
  seen_pods = snapshot.pod_log_end(pod_log());
  seen_namespaces = snapshot.namespaces_version();
  seen_storage = snapshot.storage().version();
}

// As upstream's PreFilter pass: the first refusal of the class wins, and node sets intersect.
void Ranking::Impl::Narrow() {
  only_nodes.reset();
  narrowing.clear();
  for (const ActiveFilter& filter : filters) {
    if (class_refusal = filter.state->RefusesClass(); !class_refusal.empty()) {
      class_refuser = filter.plugin;
      return;
    }
    const std::vector<std::string>* names = filter.state->OnlyNodes();
    if (!names) continue;
    narrowing.push_back(filter.plugin);
    if (!only_nodes) {
      only_nodes = *names;
    } else {
      std::vector<std::string> both;
      std::ranges::set_intersection(*only_nodes, *names, std::back_inserter(both));
      only_nodes = std::move(both);
    }
    if (!only_nodes->empty()) continue;
    std::string who;
    for (const Filter* plugin : narrowing) who += fmt::format("{}{}", who.empty() ? "" : " ", plugin->name());
    class_refusal = narrowing.size() == 1 ? fmt::format("node(s) didn't satisfy plugin {}", who)
                                          : fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously", who);
    class_refuser = filter.plugin;
    return;
  }
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
    for (size_t i = 0; i < filters.size(); ++i) filters[i].state->CheckAll(static_cast<RefusedBy>(i + 1), refused_by);
  }
  refusals.fill(0);
  for (const RefusedBy by : refused_by) ++refusals[by];
  if (!rooms.empty()) MeasureRooms();
  TellFeasible();
  ScoreAll();
}

// True when some score must be asked about all nodes again.
bool Ranking::Impl::TellFeasible() {
  bool anew = false;
  seen_version = snapshot.last_version();
  if (follows_feasible)
    for (ActiveScore& score : scores)
      if (score.state->FollowsFeasible()) anew |= score.state->FeasibleChanged(refused_by);
  return anew;
}

void Ranking::Impl::ScoreAll() {
  const size_t slots = refused_by.size();
  std::vector<int32_t>& totals = best.totals();
  totals.assign(slots, profile.scores.empty() ? 1 : 0);
  fixed.assign(slots, kUnknown);
  raw.assign(slots, 0);
  for (ActiveScore& score : scores) {
    score.state->ScoreAll(refused_by, raw);
    if (score.normalizer) {
      score.normalizer->Assign(refused_by, raw);
      score.normalizer->Settle(refused_by);
      for (size_t slot = 0; slot < slots; ++slot)
        if (refused_by[slot] == kNobody)
          totals[slot] += score.weight * static_cast<int32_t>(score.normalizer->Share(score.normalizer->raw(slot)));
    } else {
      for (size_t slot = 0; slot < slots; ++slot)
        if (refused_by[slot] == kNobody) totals[slot] += score.weight * static_cast<int32_t>(raw[slot]);
    }
  }
  for (size_t slot = 0; slot < slots; ++slot)
    if (refused_by[slot] != kNobody) totals[slot] = BestNode::kOut;
  best.Rebuild();
}

RefusedBy Ranking::Impl::FilterNode(NodeId n) const {
  if (!snapshot.present(n)) return kAbsent;
  if (class_refuser) return kExcluded;
  if (only_nodes && !std::ranges::binary_search(*only_nodes, snapshot.node(n).name)) return kExcluded;
  for (size_t i = 0; i < filters.size(); ++i)
    if (filters[i].state->Check(n) != Verdict::kFits) return static_cast<RefusedBy>(i + 1);
  return kNobody;
}

int32_t Ranking::Impl::RoomAt(NodeId n) const {
  const RefusedBy by = refused_by[n.index()];
  if (by >= kExcluded) return 0;
  size_t asked = 0;  // filters whose Check is known to be kFits
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

void Ranking::Impl::Refuse(size_t slot, RefusedBy by) {
  --refusals[refused_by[slot]];
  ++refusals[by];
  refused_by[slot] = by;
}

// What the filters say of a node that did not change itself.
RefusedBy Ranking::Impl::FilterAgain(NodeId n) const {
  const RefusedBy by = refused_by[n.index()];
  if (by == kAbsent || by == kExcluded) return by;
  const auto refuses = [&](size_t i) { return filters[i].state->Check(n) != Verdict::kFits; };
  const size_t before = by == kNobody ? filters.size() : by - size_t{1};
  for (size_t i = 0; i < before; ++i)
    if (filters[i].follows && refuses(i)) return static_cast<RefusedBy>(i + 1);
  if (by == kNobody || !filters[before].follows) return by;
  for (size_t i = before; i < filters.size(); ++i)
    if (refuses(i)) return static_cast<RefusedBy>(i + 1);
  return kNobody;
}

// Into `verdicts`. The first `themselves` of the nodes changed themselves.
void Ranking::Impl::FilterSome(std::span<const NodeId> nodes, size_t themselves) {
  verdicts.assign(nodes.size(), kNobody);
  for (size_t i = themselves; i < nodes.size(); ++i) verdicts[i] = FilterAgain(nodes[i]);
  if (themselves < kFew || class_refuser || only_nodes) {
    for (size_t i = 0; i < themselves; ++i) verdicts[i] = FilterNode(nodes[i]);
    return;
  }
  const std::span<const NodeId> changed_ones = nodes.first(themselves);
  for (size_t i = 0; i < themselves; ++i)
    if (!snapshot.present(nodes[i])) verdicts[i] = kAbsent;
  for (size_t i = 0; i < filters.size(); ++i)
    filters[i].state->CheckSome(static_cast<RefusedBy>(i + 1), changed_ones, std::span(verdicts).first(themselves));
}

// Of those of `nodes` that are feasible and not known.
void Ranking::Impl::FixScores(std::span<const NodeId> nodes) {
  asked.clear();
  for (const NodeId n : nodes)
    if (refused_by[n.index()] == kNobody && fixed[n.index()] == kUnknown) {
      asked.push_back(n);
      fixed[n.index()] = profile.scores.empty() ? 1 : 0;
    }
  raw.resize(asked.size());
  for (const ActiveScore& score : scores) {
    if (score.normalizer) continue;
    score.state->ScoreSome(asked, raw);
    for (size_t i = 0; i < asked.size(); ++i) fixed[asked[i].index()] += score.weight * static_cast<int32_t>(raw[i]);
  }
}

// Asks again about `nodes`, which are distinct; the first `themselves` of them changed themselves.
void Ranking::Impl::Ask(std::span<const NodeId> nodes, size_t themselves) {
  bool flipped = seen_version != snapshot.last_version();  // a feasible node may be another now: relabelled, say
  FilterSome(nodes, themselves);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t slot = nodes[i].index();
    const bool was_feasible = refused_by[slot] == kNobody;
    if (was_feasible)
      for (ActiveScore& score : scores)
        if (score.normalizer) score.normalizer->Erase(slot);
    Refuse(slot, verdicts[i]);
    if (!rooms.empty()) {
      total_room -= rooms[slot];
      total_room += rooms[slot] = RoomAt(nodes[i]);
    }
    flipped |= was_feasible != (verdicts[i] == kNobody);
    if (i < themselves) fixed[slot] = kUnknown;
  }
  if (flipped && TellFeasible()) {
    ScoreAll();
    return;
  }
  FixScores(nodes);
  asked.clear();
  for (const NodeId n : nodes)
    if (refused_by[n.index()] == kNobody) asked.push_back(n);
  raw.resize(asked.size());
  for (ActiveScore& score : scores) {
    if (!score.normalizer) continue;
    score.state->ScoreSome(asked, raw);
    for (size_t i = 0; i < asked.size(); ++i) score.normalizer->Insert(asked[i].index(), raw[i], refused_by.size());
  }
  // The changed ones are out while the others are normalised anew.
  bool renormalized = false;
  const bool any_normalizer =
      std::ranges::any_of(scores, [](const ActiveScore& s) { return s.normalizer.has_value(); });
  if (any_normalizer) {
    for (const NodeId n : nodes) best.totals()[n.index()] = BestNode::kOut;
    renormalized = Renormalize();
  }
  // Few: each climbs its own way up. Many: all rounds are played again, once.
  const bool many = renormalized || nodes.size() > refused_by.size() / 64;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t slot = nodes[i].index();
    int32_t total = BestNode::kOut;
    if (refused_by[slot] == kNobody) {
      total = fixed[slot];
      for (const ActiveScore& score : scores)
        if (score.normalizer)
          total += score.weight * static_cast<int32_t>(score.normalizer->Share(score.normalizer->raw(slot)));
    }
    best.totals()[slot] = total;
  }
  if (many)
    best.Rebuild();
  else
    for (const NodeId n : nodes) best.Replay(n.index());
}

// Totals change; the rounds above them are the caller's to rebuild when it returns true.
bool Ranking::Impl::Renormalize() {
  bool moved = false;
  std::vector<int32_t>& totals = best.totals();
  for (ActiveScore& score : scores) {
    if (!score.normalizer || !score.normalizer->Settle(refused_by)) continue;
    moved = true;
    // Neighbours mostly share one of few raw scores, and the divisions would be all the cost.
    struct Shift {
      int64_t raw = 0;
      int32_t by = 0;
      bool known = false;
    };
    std::array<Shift, 64> shifts{};
    for (size_t slot = 0; slot < totals.size(); ++slot) {
      if (totals[slot] == BestNode::kOut) continue;
      const int64_t raw = score.normalizer->raw(slot);
      Shift& shift = shifts[static_cast<uint64_t>(raw) % shifts.size()];
      if (!shift.known || shift.raw != raw)
        shift = {raw,
                 score.weight * static_cast<int32_t>(score.normalizer->Share(raw) - score.normalizer->OldShare(raw)),
                 true};
      totals[slot] += shift.by;
    }
  }
  return moved;
}

// Tells the states what happened. False when they must be prepared anew.
bool Ranking::Impl::TellChanges(Dirty* dirty) {
  if (seen_namespaces != snapshot.namespaces_version() && follows_pods != State::Pods::kNone) return false;
  if (StorageChanged() || !snapshot.ReadLog(seen_nodes, &changed)) return false;
  seen_nodes = snapshot.log_end();
  if (marked.size() < snapshot.slots()) marked.resize(snapshot.slots());
  std::erase_if(changed, [this](NodeId n) { return std::exchange(marked[n.index()], 1); });
  if (follows_nodes && !changed.empty())
    TellStates(dirty, [&](State& state) {
      if (state.FollowsNodes()) state.NodesChanged(changed, *dirty);
    });
  if (follows_pods == State::Pods::kNone || seen_pods == snapshot.pod_log_end(pod_log())) return true;
  pods.clear();
  if (!snapshot.ReadPodLog(pod_log(), seen_pods, &pods)) return false;
  seen_pods = snapshot.pod_log_end(pod_log());
  for (const cluster::PodChange& pod : pods)
    TellStates(dirty, [&](State& state) {
      const State::Pods follows = state.FollowsPods();
      if (follows == State::Pods::kAll || (follows == State::Pods::kAffine && pod.pod_class->affine()))
        state.PodChanged(*pod.pod_class, pod.node, pod.by, *dirty);
    });
  return true;
}

void Ranking::Impl::Refresh() {
  if (seen_nodes == snapshot.log_end() && seen_namespaces == snapshot.namespaces_version() && !StorageChanged()) return;
  changed.clear();
  rescored.clear();
  Dirty dirty;
  if (!TellChanges(&dirty)) {
    std::ranges::fill(marked, 0);
    Prepare();
    return;
  }
  if (snapshot.slots() > refused_by.size()) {
    refusals[kAbsent] += snapshot.slots() - refused_by.size();
    refused_by.resize(snapshot.slots(), kAbsent);
    if (!rooms.empty()) rooms.resize(snapshot.slots());
    fixed.resize(snapshot.slots(), kUnknown);
    best.Grow(snapshot.slots());
  }
  if (dirty.everything()) {
    std::ranges::fill(marked, 0);
    AskAll();
    return;
  }
  for (const NodeId n : rescored) fixed[n.index()] = kUnknown;
  const size_t themselves = changed.size();
  for (const NodeId n : dirty.nodes())
    if (!std::exchange(marked[n.index()], 1)) changed.push_back(n);
  for (const NodeId n : changed) marked[n.index()] = 0;
  Ask(changed, themselves);
}

Ranking::Ranking(const Profile& profile, const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot)
    : impl_(std::make_unique<Impl>(profile, pod_class, snapshot)) {}
Ranking::~Ranking() = default;

const cluster::PodClass& Ranking::pod_class() const { return impl_->pod_class; }
void Ranking::Refresh() { impl_->Refresh(); }

bool Ranking::MayAdmit(NodeId n) const {
  const bool alone =
      !impl_->class_refuser && !impl_->StorageChanged() && impl_->seen_pods == impl_->snapshot.pod_log_end(impl_->pod_log()) &&
      std::ranges::all_of(impl_->filters, [](const ActiveFilter& filter) { return filter.state->AloneForNow(); });
  return !alone || impl_->FilterNode(n) == kNobody;
}

NodeId Ranking::Best() const { return impl_->best.Best(); }
bool Ranking::Feasible(NodeId n) const { return impl_->refused_by[n.index()] == kNobody; }
size_t Ranking::feasible_count() const { return impl_->refusals[kNobody]; }
std::vector<cluster::VolumePick> Ranking::Picks(NodeId n) const {
  std::vector<cluster::VolumePick> picks;
  for (const ActiveFilter& filter : impl_->filters) filter.state->Choose(n, &picks);
  return picks;
}
int64_t Ranking::Total(NodeId n) const { return impl_->best.total(n.index()); }

std::span<const int32_t> Ranking::Rooms() {
  if (impl_->rooms.size() != impl_->refused_by.size()) impl_->MeasureRooms();
  return impl_->rooms;
}
int64_t Ranking::total_room() const { return impl_->total_room; }

int64_t Ranking::Most(std::span<const int32_t> room, std::span<const cluster::PodClass* const> others) const {
  int64_t most = std::accumulate(room.begin(), room.end(), int64_t{0});
  for (const ActiveFilter& filter : impl_->filters)
    if (filter.state->reach() != FilterState::Reach::kNode) most = std::min(most, filter.state->Most(room, others));
  return most;
}

FilterState::Reach Ranking::reach() const {
  FilterState::Reach farthest = FilterState::Reach::kNode;
  for (const ActiveFilter& filter : impl_->filters) farthest = std::max(farthest, filter.state->reach());
  return farthest;
}

std::vector<model::Symbol> Ranking::ExcludedBy(const cluster::PodClass& other) {
  std::vector<model::Symbol> keys;
  for (const ActiveFilter& filter : impl_->filters) filter.state->ExcludedBy(other, &keys);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::vector<model::Symbol> Ranking::Gathers() const {
  std::vector<model::Symbol> keys;
  for (const ActiveFilter& filter : impl_->filters) filter.state->Gathers(&keys);
  return keys;
}

NodeVerdict Ranking::Explain(NodeId n) const {
  NodeVerdict result;
  const RefusedBy by = impl_->refused_by[n.index()];
  if (by == kNobody) return result;
  if (impl_->class_refuser) return {Verdict::kNever, impl_->class_refuser->name(), {impl_->class_refusal}};
  if (by == kExcluded) {
    std::vector<std::string_view> names;
    for (const Filter* plugin : impl_->narrowing) names.push_back(plugin->name());
    std::ranges::sort(names);
    return {
        Verdict::kNever, names.front(), {fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(names, " "))}};
  }
  const ActiveFilter& filter = impl_->filters[by - 1];
  result.verdict = filter.state->Check(n);
  result.plugin = filter.plugin->name();
  filter.state->Explain(n, &result.reasons);
  return result;
}

Refusals Ranking::Explain() const {
  Refusals refusals{.nodes = impl_->snapshot.node_count(), .reasons = {}, .of_class = impl_->class_refusal};
  if (impl_->class_refuser) return refusals;
  std::map<std::string, size_t> count;
  for (size_t i = 0; i < impl_->filters.size(); ++i)
    if (impl_->refusals[i + 1] > 0)
      impl_->filters[i].state->ExplainAll(static_cast<RefusedBy>(i + 1), impl_->refused_by, &count);
  if (impl_->refusals[kExcluded] > 0)
    for (uint32_t n = 0; n < impl_->refused_by.size(); ++n)
      if (impl_->refused_by[n] == kExcluded)
        for (std::string& reason : Explain(NodeId(n)).reasons) ++count[std::move(reason)];
  for (const auto& [reason, nodes] : count) refusals.reasons.emplace_back(reason, nodes);
  std::ranges::sort(refusals.reasons, {},
                    [](const auto& item) { return fmt::format("{} {}", item.second, item.first); });
  return refusals;
}

std::string Refusals::Sentence() const {
  if (nodes == 0) return "no nodes available to schedule pods";
  std::string list = of_class;
  for (const auto& [reason, count] : reasons) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, reason);
  return list.empty() ? fmt::format("0/{} nodes are available:", nodes)
                      : fmt::format("0/{} nodes are available: {}.", nodes, list);
}

Wake Ranking::WakesOn() const {
  if (impl_->class_refuser) return impl_->class_refuser->WakesOn();
  Wake wakes = Wake::kNodeAdded;
  for (size_t i = 0; i < impl_->filters.size(); ++i)
    if (impl_->refusals[i + 1] > 0 || impl_->snapshot.node_count() == 0)
      wakes = wakes | impl_->filters[i].plugin->WakesOn();
  if (impl_->refusals[kExcluded] > 0)
    for (const Filter* plugin : impl_->narrowing) wakes = wakes | plugin->WakesOn();
  return wakes;
}

std::vector<NodeScore> Ranking::Scores(NodeId n) const {
  std::vector<NodeScore> list;
  for (const ActiveScore& score : impl_->scores) {
    const int64_t raw = score.state->Score(n);
    const int64_t normalized = score.normalizer ? score.normalizer->Share(raw) : raw;
    const bool scored = !score.normalizer || score.plugin->normalize() != Normalize::kSpread || raw != kNoScore;
    list.push_back({score.plugin->name(), scored ? raw : 0, normalized, normalized * score.weight});
  }
  return list;
}

size_t Ranking::memory() const {
  size_t bytes = sizeof(Impl) + (2 + sizeof(int32_t)) * impl_->refused_by.capacity() +
                 impl_->rooms.capacity() * sizeof(int32_t) + impl_->best.memory();
  for (const ActiveScore& score : impl_->scores)
    if (score.normalizer) bytes += score.normalizer->memory();
  return bytes;
}

}  // namespace tutti::framework
