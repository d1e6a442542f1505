// SPDX-License-Identifier: Apache-2.0
// What a ranking need not ask node by node: the part of an answer that nodes have in common (State::Shares).
#include <algorithm>

#include "framework/ranking_parts.h"

namespace tutti::framework {

using model::NodeId;

namespace {

// More cells than this would cost more than what they save.
size_t MostCells(size_t slots) { return 64 + slots / 16; }

void AddKeys(std::vector<model::Symbol> more, std::vector<model::Symbol>* keys) {
  keys->insert(keys->end(), more.begin(), more.end());
  std::ranges::sort(*keys);
  keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
}

}  // namespace

void ActiveFilter::CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const {
  if (!parted) return state->CheckAll(mine, refused_by);
  for (uint32_t n = 0; n < refused_by.size(); ++n)
    if (refused_by[n] == kNobody && Refuses(NodeId(n))) refused_by[n] = mine;
}

void ActiveFilter::CheckSome(RefusedBy mine, std::span<const NodeId> nodes, std::span<RefusedBy> refused_by) const {
  if (!parted) return state->CheckSome(mine, nodes, refused_by);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (refused_by[i] == kNobody && Refuses(nodes[i])) refused_by[i] = mine;
}

// One score and one filter at most. REQUIRES: filters and scores are prepared, and nothing is shared.
void Ranking::Impl::PrepareSharing() {
  if (!may_share || class_refuser) return;
  std::vector<model::Symbol> keys;
  const auto shares = [&keys](const auto& one) {
    keys.clear();
    return one.state->Shares(&keys);
  };
  if (const auto score = std::ranges::find_if(scores, shares); score != scores.end()) {
    Share();
    AddKeys(keys, &sharing->keys);
    sharing->score_place = static_cast<size_t>(score - scores.begin());
    sharing->score.emplace(std::move(*score));
    scores.erase(score);
  }
  if (!may_part) return;
  // A score that must know which nodes are feasible is not told of cells that are closed.
  if (std::ranges::any_of(scores, [](const ActiveScore& score) { return score.state->FollowsFeasible(); })) return;
  if (const auto filter = std::ranges::find_if(filters, shares); filter != filters.end()) {
    Share();
    AddKeys(keys, &sharing->keys);
    filter->parted = true;
    sharing->filter = static_cast<RefusedBy>(filter - filters.begin() + 1);
    sharing->filter_keys = keys;
  }
}

void Ranking::Impl::Share() {
  if (!sharing) sharing.emplace(best);
}

bool Ranking::Impl::Closed(NodeId n) const {
  return sharing && sharing->filter != kNobody &&
         filters[sharing->filter - size_t{1}].state->CheckShared(n) != Verdict::kFits;
}

RefusedBy Ranking::Impl::RefusedNow(NodeId n) const {
  const RefusedBy by = refused_by[n.index()];
  const bool asked = by == kNobody || (by < kExcluded && sharing && by > sharing->filter);
  return asked && Closed(n) ? sharing->filter : by;
}

std::vector<RefusedBy> Ranking::Impl::Refusers() const {
  if (by_group) return RefusersByGroup();
  std::vector<RefusedBy> refusers(refused_by.size());
  for (uint32_t n = 0; n < refusers.size(); ++n) refusers[n] = RefusedNow(NodeId(n));
  return refusers;
}

// The filter refuses some node; or, where it closes cells, may do so before a later one does.
bool Ranking::Impl::MayRefuse(size_t filter) const {
  if (refusals[filter + 1] > 0) return true;
  if (!filters[filter].parted) return false;
  const auto later = std::span(refusals).subspan(filter + 2, filters.size() - filter - 1);
  return refusals[kNobody] != sharing->feasible || std::ranges::any_of(later, [](size_t nodes) { return nodes > 0; });
}

int64_t Ranking::Impl::SharedTotal(NodeId n) const {
  if (!sharing || !sharing->score) return 0;
  const ActiveScore& score = *sharing->score;
  return score.weight * Normalizer::ShareOf(score.plugin->normalize(), score.state->Score(n), sharing->extremes);
}

// After its total changed, or what puts it into a cell.
void Ranking::Impl::PutIntoCell(NodeId n) {
  if (best.total(n.index()) == BestNode::kOut) return sharing->cells.TakeOut(n);
  Cells::Name& name = sharing->name;
  name.clear();
  for (const model::Symbol key : sharing->keys) name.push_back(snapshot.node(n).Label(key).value);
  if (sharing->score) name.push_back(sharing->score->state->Own(n));
  sharing->cells.Put(n, name);
}

void Ranking::Impl::FillCells() {
  sharing->cells.Clear();
  for (uint32_t n = 0; n < best.size(); ++n) PutIntoCell(NodeId(n));
}

// False when the ranking must be made anew, with less that is shared.
bool Ranking::Impl::SharingPays() {
  // Nodes of a closed cell do not count for the extremes of other scores, and no normalizer could leave them out.
  const auto uneven = [](const ActiveScore& score) { return score.normalizer && !score.normalizer->flat(); };
  if (sharing->filter != kNobody && std::ranges::any_of(scores, uneven)) return may_part = false;
  const size_t most = MostCells(best.size());
  if (sharing->cells.size() <= most) return true;
  FillCells();  // those that are empty go
  return may_share = sharing->cells.size() <= most / 2;
}

// The best of each open cell, by what the cells are now.
void Ranking::Impl::SettleCells() {
  if (!SharingPays()) return Prepare();
  std::vector<ScoreState::Alike>& open = sharing->open;
  open.clear();
  sharing->feasible = 0;
  for (size_t cell = 0; cell < sharing->cells.size(); ++cell) {
    const NodeId n = sharing->cells.Best(cell);
    if (!n || Closed(n)) continue;
    open.push_back({n, sharing->cells.nodes(cell)});
    sharing->feasible += open.back().nodes;
  }
  if (sharing->score) FindExtremes();
  sharing->best = NodeId();
  int64_t highest = 0;
  for (const ScoreState::Alike& cell : open) {
    const int64_t total = best.total(cell.best.index()) + SharedTotal(cell.best);
    if (sharing->best && (total < highest || (total == highest && sharing->best < cell.best))) continue;
    sharing->best = cell.best;
    highest = total;
  }
}

void Ranking::Impl::FindExtremes() {
  const ActiveScore& score = *sharing->score;
  if (score.state->FollowsFeasible()) score.state->FeasibleChanged(sharing->open);
  Normalizer::Extremes& extremes = sharing->extremes;
  extremes = {};
  bool any = false;
  for (const ScoreState::Alike& cell : sharing->open) {
    const int64_t raw = score.state->Score(cell.best);
    if (!Normalizer::Counts(score.plugin->normalize(), raw)) continue;
    extremes = any ? Normalizer::Extremes{std::max(extremes.max, raw), std::min(extremes.min, raw)}
                   : Normalizer::Extremes{raw, raw};
    any = true;
  }
}

}  // namespace tutti::framework
