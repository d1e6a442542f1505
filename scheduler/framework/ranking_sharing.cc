// SPDX-License-Identifier: Apache-2.0
// The part of an answer that nodes share (State::Shares), which a ranking does not ask for node by node.
#include <algorithm>

#include "framework/ranking_parts.h"

namespace tutti::framework {

using model::NodeId;

namespace {

// Returns the most cells for which sharing still saves work.
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

// Chooses what is shared: one score and one filter at most. REQUIRES: filters and scores are prepared, and there is no
// `sharing`.
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
  // A score that follows the feasible nodes would not learn which cells are closed.
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

// Whether the filter refuses some node, or may refuse one by a closed cell before a later filter does.
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

// Puts the node into its cell, after its total or its shared values changed.
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

// Checks that sharing still saves work. False: the ranking must be made again, and shares less.
bool Ranking::Impl::SharingPays() {
  // Nodes of a closed cell must not count for the extremes of other scores, but a normalizer cannot leave them out.
  const auto uneven = [](const ActiveScore& score) { return score.normalizer && !score.normalizer->flat(); };
  if (sharing->filter != kNobody && std::ranges::any_of(scores, uneven)) return may_part = false;
  const size_t most = MostCells(best.size());
  if (sharing->cells.size() <= most) return true;
  FillCells();  // drops empty cells
  return may_share = sharing->cells.size() <= most / 2;
}

// Finds the open cells, and the best node of each.
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
