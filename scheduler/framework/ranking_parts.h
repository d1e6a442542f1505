// SPDX-License-Identifier: Apache-2.0
// Ranking::Impl: the data of a ranking. Only the ranking's own sources include it.
#pragma once

#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/best_node.h"
#include "framework/cells.h"
#include "framework/node_groups.h"
#include "framework/normalizer.h"
#include "framework/ranking.h"
#include "framework/small_ints.h"

namespace tutti::framework {

// Sorts the list and removes repeated ids, so that data by slot is read in the order of memory. `size`: all slots are
// below it; `bits`: scratch memory.
template <typename Id>
void SortBySlot(size_t size, std::vector<Id>* ids, std::vector<uint64_t>* bits) {
  bits->assign((size + 63) / 64, 0);
  for (const Id id : *ids) (*bits)[id.index() / 64] |= uint64_t{1} << id.index() % 64;
  ids->clear();
  for (size_t word = 0; word < bits->size(); ++word)
    for (uint64_t left = (*bits)[word]; left != 0; left &= left - 1)
      ids->emplace_back(static_cast<uint32_t>(64 * word) + static_cast<uint32_t>(std::countr_zero(left)));
}

struct ActiveFilter {
  const Filter* plugin;
  std::unique_ptr<FilterState> state;
  bool follows;         // its answer about a node may change although the node does not
  bool reads_pods;      // its answer may change with the pods on the node
  bool parted = false;  // here only CheckOwn is asked; cells keep CheckShared

  bool Refuses(model::NodeId n) const { return (parted ? state->CheckOwn(n) : state->Check(n)) != Verdict::kFits; }
  void CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const;
  void CheckSome(RefusedBy mine, std::span<const model::NodeId> nodes, std::span<RefusedBy> refused_by) const;
};

struct ActiveScore {
  const Score* plugin;
  int32_t weight;
  std::unique_ptr<ScoreState> state;
  std::optional<Normalizer> normalizer;  // absent for Normalize::kNone
  bool reads_pods;
  bool named = false;  // its state added nodes to Dirty in this call
};

// The part of answers that nodes share by their values of some label keys. The totals by node leave out this score, and
// `refused_by` leaves out this filter's shared part: cells keep both.
struct Sharing {
  explicit Sharing(const BestNode& totals) : cells(totals) {}

  std::vector<model::Symbol> keys, filter_keys;  // sorted; of filter and score, of the filter
  Cells cells;                                   // of the nodes that no filter refuses without the shared part
  RefusedBy filter = kNobody;                    // the filter's index plus one
  std::optional<ActiveScore> score;
  size_t score_place = 0;  // its index in the profile
  // As of the last SettleCells(): cells that the filter does not close, their nodes, and the best node.
  std::vector<ScoreState::Alike> open;
  size_t feasible = 0;
  model::NodeId best;
  Normalizer::Extremes extremes;  // of the score
  Cells::Name name;               // scratch
};

// The data of a ranking by groups, in place of all data by node. For plugins that tell nodes apart by NodeFacts only.
struct ByGroup {
  ByGroup(std::shared_ptr<NodeGroups> which, int64_t most) : groups(std::move(which)), totals(most) {}

  const std::shared_ptr<NodeGroups> groups;
  uint64_t era = 0, seen = 0;  // how far the log of `groups` was read
  // The answers about a kind of nodes by plugins that do not read pods.
  struct Kind {
    bool asked = false, closed = false;
    bool counts = false;    // it counts for the extremes
    uint32_t feasible = 0;  // groups
    int32_t plain = 0;      // sum of the scores that are not normalised
    int32_t shares = 0;     // sum of the normalised ones, by the last extremes
  };
  std::vector<Kind> kinds;
  BestNode totals;  // by group; out if it is refused
  bool best_known = false;
  model::NodeId best;
  struct Normalized {
    size_t score;              // its index
    std::vector<int64_t> raw;  // by kind
    Normalizer::Extremes extremes;
  };
  std::vector<Normalized> normalized;

  // Returns the bytes held, without `groups`.
  size_t memory() const {
    size_t bytes = totals.memory() + kinds.capacity() * sizeof(Kind);
    for (const Normalized& one : normalized) bytes += one.raw.capacity() * sizeof one.raw[0];
    return bytes;
  }
};

struct Ranking::Workspace {
  // The groupings that some ranking uses, one for each set of facts.
  std::vector<std::weak_ptr<NodeGroups>> groups;
  std::vector<NodeGroup> of_groups, open_groups;
  std::vector<NodeGroups::Kind> crossed;
  std::vector<model::NodeId> changed;
  std::vector<cluster::PodChange> pods;
  // The nodes that the states added on changes: for all filters except the one that shares, for that one, and for each
  // score. Those of the score that shares are not read.
  Dirty by_filters, by_parted, unread;
  std::vector<Dirty> by_scores;
  std::vector<char> marked;  // 0 between calls
  std::vector<uint64_t> bits;
  std::vector<RefusedBy> verdicts, again;
  std::vector<size_t> places;
  std::vector<model::NodeId> moved, redone, rescored, returned, asked;
  std::vector<ActiveScore*> uneven;
  std::vector<int64_t> raw;
  std::vector<int32_t> sums, shifts;
};

struct Ranking::Impl {
  const Profile& profile;
  const cluster::PodClass& pod_class;
  const cluster::Snapshot& snapshot;

  std::vector<ActiveFilter> filters;
  std::vector<ActiveScore> scores;
  std::string class_refusal;  // empty: none
  const Filter* class_refuser = nullptr;
  std::optional<std::vector<std::string>> only_nodes;  // sorted; absent: any
  std::vector<const Filter*> narrowing;                // the filters that named `only_nodes`
  State::Pods follows_pods = State::Pods::kNone;
  cluster::PodLog::Following following;  // while that is kAll
  bool follows_nodes = false, follows_feasible = false;

  std::vector<RefusedBy> refused_by;
  std::array<size_t, 256> refusals{};  // number of slots by RefusedBy
  BestNode best;                       // its rounds are not kept while there is `sharing`
  std::optional<Sharing> sharing;
  bool may_share = true, may_part = true;  // false after sharing, or a filter's part in it, did not pay
  std::optional<ByGroup> by_group;         // if set, there is no data by node
  bool wants_groups = false, may_group = true;
  std::vector<int32_t> rooms;  // empty until asked for
  int64_t total_room = 0;
  // How far each log or version of the snapshot was read.
  uint64_t seen_nodes = 0, seen_pods = 0, seen_namespaces = 0, seen_storage = 0, seen_keys = 0;
  uint64_t seen_version = 0;  // of nodes, at the last FeasibleChanged()
  uint64_t seen_objects = 0;  // of nodes, when they were read last
  // By slot, the sum of the scores without normalisation: `still` of those that pods on the node do not change,
  // `moving` of the others. `moving` is kept only if pods on other nodes can change the answers about a node. Many
  // nodes then become feasible or not without a change of their own, and keeping the sum is cheaper than asking again.
  // `moving` is kUnknown if any score, normalised or not, may have changed since it was asked.
  SmallInts still;
  bool keeps_moving = false;
  std::vector<int32_t> moving;
  static constexpr int32_t kUnknown = std::numeric_limits<int32_t>::min();
  bool normalizes_pods = false;  // a normalised score depends on the pods on the node
  const std::shared_ptr<Workspace> workspace;
  Workspace& work = *workspace;

  Impl(const Profile& p, const cluster::PodClass& c, const cluster::Snapshot& s, std::shared_ptr<Workspace> w,
       Keep keep)
      : profile(p),
        pod_class(c),
        snapshot(s),
        best(MostTotal(p)),
        wants_groups(keep == Keep::kGroups),
        workspace(std::move(w)) {
    Prepare();
  }

  // -- ranking_prepare.cc --
  static int64_t MostTotal(const Profile& profile);
  void Prepare();
  void PrepareFilters();
  void Follow();
  bool Narrow(const ActiveFilter& filter);
  void AskAll();
  void ScoreAll();
  bool TellFeasible();
  void MeasureRooms();
  int32_t RoomAt(model::NodeId n) const;
  RefusedBy FilterNode(model::NodeId n) const;

  // -- ranking_explain.cc --
  NodeVerdict ExplainLeftOut() const;  // of every node, by the class; or of those that are not among only_nodes

  // -- ranking_sharing.cc --
  void PrepareSharing();
  void Share();
  bool Closed(model::NodeId n) const;
  RefusedBy RefusedNow(model::NodeId n) const;  // including the shared part
  bool MayRefuse(size_t filter) const;
  int64_t SharedTotal(model::NodeId n) const;  // what the shared score adds
  void PutIntoCell(model::NodeId n);
  void FillCells();
  bool SharingPays();
  void SettleCells();
  void FindExtremes();

  // Returns the normalised score.
  int64_t Share(size_t score, int64_t raw) const {
    if (!scores[score].normalizer) return raw;
    return by_group ? ShareByGroup(score, raw) : scores[score].normalizer->Share(raw);
  }
  // Returns the first filter that refuses each node, by slot.
  std::vector<RefusedBy> Refusers() const;

  // -- ranking_groups.cc --
  bool ReadFacts(NodeFacts* facts) const;
  bool PrepareGroups();
  std::shared_ptr<NodeGroups> FindGroups(const NodeFacts& facts);
  void LeaveGroups();
  void RefreshGroups();
  bool TellOfGroups(bool* told);
  void AskAllGroups();
  void AskGroups(std::span<const NodeGroup> groups);
  void AskKind(NodeGroups::Kind kind, model::NodeId n);
  void TakeOutGroups(std::span<const NodeGroup> groups);
  void JudgeGroups();
  bool SettleKinds();
  int32_t SharesOf(NodeGroups::Kind kind) const;
  int64_t ShareByGroup(size_t score, int64_t raw) const;
  model::NodeId BestByGroup();
  size_t FeasibleInGroups() const;
  std::vector<RefusedBy> RefusersOfGroups() const;
  std::vector<RefusedBy> RefusersByGroup() const;
  // Returns the total of the node's group; BestNode::kOut if it is in none.
  int32_t TotalByGroup(model::NodeId n) const {
    const NodeGroup g = by_group->groups->Of(n);
    return g ? by_group->totals.total(g.index()) : BestNode::kOut;
  }

  // -- ranking_refresh.cc --
  // The nodes to ask about again, each once: first those whose object changed, then those whose pods changed, then
  // those that states added. `work.marked` has bits for each node.
  static constexpr char kObject = 1, kPods = 2, kFilter = 4, kScore = 8;
  struct Changes {
    std::span<const model::NodeId> nodes;
    size_t objects = 0, themselves = 0;  // number of the first kind; of the first two
    bool told = false;                   // some state got a change
  };
  void Refresh();
  bool TellChanges(Changes* changes);
  bool TellPods(Changes* changes);
  void MarkChanged();
  bool MarkNamed();
  void Grow();
  void Ask(const Changes& changes);
  void FilterSome(const Changes& changes);
  void FilterNamed(const Changes& changes);
  RefusedBy FilterAgain(model::NodeId n, bool pods) const;
  void Sort(model::NodeId n, RefusedBy verdict);
  void Refuse(model::NodeId n, RefusedBy by);
  void Move(std::span<const model::NodeId> nodes, int32_t even);
  bool Rescore(bool some_left);
  int32_t FindUneven();
  void SumPlain(std::span<const model::NodeId> nodes);
  int32_t SumUneven(model::NodeId n) const;
  bool Known(model::NodeId n) const { return keeps_moving && moving[n.index()] != kUnknown; }
  bool Renormalize();

  bool StorageChanged() const {
    return seen_storage != snapshot.storage().version() && !pod_class.spec->volumes.empty();
  }
  bool Outdated() const;
  bool BeginsAnew() const;
  cluster::PodLog::Of pod_log() const {
    return follows_pods == State::Pods::kAll ? cluster::PodLog::Of::kAll : cluster::PodLog::Of::kAffine;
  }
  // Calls tell(state, dirty) for each state.
  template <typename Tell>
  void TellStates(Changes* changes, Tell tell);
};

template <typename Tell>
void Ranking::Impl::TellStates(Changes* changes, Tell tell) {
  if (!std::exchange(changes->told, true)) {
    for (Dirty* dirty : {&work.by_filters, &work.by_parted, &work.unread}) dirty->Clear();
    if (work.by_scores.size() < scores.size()) work.by_scores.resize(scores.size());
    for (Dirty& dirty : work.by_scores) dirty.Clear();
  }
  for (ActiveFilter& filter : filters)
    tell(static_cast<State&>(*filter.state), filter.parted ? work.by_parted : work.by_filters);
  if (sharing && sharing->score) tell(static_cast<State&>(*sharing->score->state), work.unread);
  for (size_t i = 0; i < scores.size(); ++i) tell(static_cast<State&>(*scores[i].state), work.by_scores[i]);
}

}  // namespace tutti::framework
