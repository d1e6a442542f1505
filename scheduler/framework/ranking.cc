// SPDX-License-Identifier: Apache-2.0
#include "framework/ranking.h"

#include <algorithm>
#include <numeric>

#include "framework/ranking_parts.h"

namespace tutti::framework {

using model::NodeId;

std::shared_ptr<Ranking::Workspace> Ranking::MakeWorkspace() { return std::make_shared<Workspace>(); }

Ranking::Ranking(const Profile& profile, const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot,
                 std::shared_ptr<Workspace> workspace, Keep keep)
    : impl_(std::make_unique<Impl>(profile, pod_class, snapshot, std::move(workspace), keep)) {}
Ranking::~Ranking() = default;

const cluster::PodClass& Ranking::pod_class() const { return impl_->pod_class; }
void Ranking::Refresh() { impl_->Refresh(); }

bool Ranking::KeepGroups() {
  if (impl_->by_group || !impl_->may_group || !impl_->rooms.empty()) return false;
  NodeFacts facts;
  impl_->may_group = impl_->ReadFacts(&facts);  // asked before any data is dropped
  if (!impl_->may_group) return false;
  impl_->wants_groups = true;
  impl_->Prepare();
  return true;
}

Ranking::Needs Ranking::FreeNeeded() const {
  Needs needs;
  for (const ActiveFilter& filter : impl_->filters) {
    const size_t before = needs.amounts.size();
    filter.state->Needs(&needs.amounts);
    if (needs.amounts.size() > before) needs.wakes = needs.wakes | filter.plugin->WakesOn();
  }
  return needs;
}

bool Ranking::AloneForNow() const {
  return !impl_->class_refuser && !impl_->StorageChanged() && !impl_->Outdated() &&
         impl_->seen_pods == impl_->snapshot.pod_log().end(impl_->pod_log()) &&
         std::ranges::all_of(impl_->filters, [](const ActiveFilter& filter) { return filter.state->AloneForNow(); });
}

std::optional<int64_t> Ranking::RoomNow(NodeId n, Wake* wakes) const {
  if (!AloneForNow()) return std::nullopt;
  const RefusedBy by = impl_->FilterNode(n);
  if (by == kNobody) {
    int64_t room = kMostRoom;
    for (const ActiveFilter& filter : impl_->filters) room = std::min(room, filter.state->Room(n));
    return room;
  }
  if (by < impl_->filters.size() + 1)
    *wakes = *wakes | impl_->filters[by - 1].plugin->WakesOn();
  else
    *wakes = *wakes | Wake::kNodeAdded;
  return 0;
}

bool Ranking::RefusedForGood(NodeId n) const {
  if (!impl_->snapshot.present(n)) return true;
  const auto& only = impl_->only_nodes;
  if (only && !std::ranges::binary_search(*only, impl_->snapshot.node(n).name)) return true;
  return std::ranges::any_of(impl_->filters, [n](const ActiveFilter& filter) {
    return !filter.reads_pods && !filter.follows && filter.state->Check(n) != Verdict::kFits;
  });
}

NodeId Ranking::Best() const {
  if (impl_->by_group) return impl_->BestByGroup();
  return impl_->sharing ? impl_->sharing->best : impl_->best.Best();
}
bool Ranking::Feasible(NodeId n) const {
  return impl_->by_group ? impl_->TotalByGroup(n) != BestNode::kOut : impl_->RefusedNow(n) == kNobody;
}
size_t Ranking::feasible_count() const {
  if (impl_->by_group) return impl_->FeasibleInGroups();
  return impl_->sharing ? impl_->sharing->feasible : impl_->refusals[kNobody];
}
cluster::Takings Ranking::TakingsOn(NodeId n) const {
  cluster::Takings takings;
  for (const ActiveFilter& filter : impl_->filters) filter.state->Choose(n, &takings);
  return takings;
}
int64_t Ranking::Total(NodeId n) const {
  return impl_->by_group ? impl_->TotalByGroup(n) : impl_->best.total(n.index()) + impl_->SharedTotal(n);
}

std::span<const int32_t> Ranking::Rooms() {
  if (impl_->by_group) impl_->LeaveGroups();
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

size_t Ranking::memory() const {
  size_t bytes = sizeof(Impl) + impl_->refused_by.capacity() + impl_->still.memory() +
                 (impl_->moving.capacity() + impl_->rooms.capacity()) * sizeof(int32_t) + impl_->best.memory();
  for (const ActiveFilter& filter : impl_->filters) bytes += filter.state->memory();
  if (impl_->by_group) bytes += impl_->by_group->memory();
  if (impl_->sharing) bytes += impl_->sharing->cells.memory();
  if (impl_->sharing && impl_->sharing->score) bytes += impl_->sharing->score->state->memory();
  for (const ActiveScore& score : impl_->scores)
    bytes += score.state->memory() + (score.normalizer ? score.normalizer->memory() : 0);
  return bytes;
}

size_t Ranking::MemoryOf(const Workspace& workspace) {
  size_t bytes = 0;
  for (const auto& one : workspace.groups)
    if (const auto groups = one.lock()) bytes += groups->memory();
  return bytes;
}

}  // namespace tutti::framework
