// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/assignment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/quantity.h"

namespace tutti::queue {
namespace {

void Unique(std::vector<CellId>& cells) {
  std::ranges::sort(cells);
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
}

}  // namespace

std::string WordOf(WaitReason reason) {
  switch (reason) {
    case WaitReason::kNone: return "";
    case WaitReason::kTopologyPlacementFailed: return "TopologyPlacementFailed";
    case WaitReason::kWaitingForQuota: return "WaitingForQuota";
    case WaitReason::kExceedsMaxQuota: return "ExceedsMaxQuota";
    case WaitReason::kNoMatchingFlavor: return "NoMatchingFlavor";
    case WaitReason::kWaitingForPreemptedWorkloads: return "WaitingForPreemptedWorkloads";
    case WaitReason::kMisconfigured:
    case WaitReason::kNoQueue: return "Misconfigured";
    case WaitReason::kSuspended: return "Suspended";
    case WaitReason::kPendingEvaluation: return "PendingEvaluation";
  }
  return "";
}

void AddTo(CellAmounts& amounts, CellId cell, int64_t amount) {
  const auto at = std::ranges::lower_bound(amounts, cell, {}, &CellAmount::cell);
  if (at != amounts.end() && at->cell == cell)
    at->amount = model::SaturatingAdd(at->amount, amount);
  else
    amounts.insert(at, {cell, amount});
}

int64_t AmountOf(const CellAmounts& amounts, CellId cell) {
  const auto at = std::ranges::lower_bound(amounts, cell, {}, &CellAmount::cell);
  return at != amounts.end() && at->cell == cell ? at->amount : 0;
}

bool LeavesFlavors(const FlavorProgress& progress) {
  return std::ranges::any_of(progress, [](const auto& role) {
    return std::ranges::any_of(role, [](const auto& tried) { return tried.second >= 0; });
  });
}

bool HasGoneRound(const FlavorProgress& before, const FlavorProgress& now) {
  bool any = false;
  for (size_t i = 0; i < std::min(before.size(), now.size()); ++i)
    for (const auto& [resource, tried] : before[i]) {
      const auto at = now[i].find(resource);
      if (tried < 0) continue;
      if (at != now[i].end() && at->second >= 0) return false;
      any = true;
    }
  return any;
}

Fit RoleAssignment::fit() const {
  if (obstacles.empty()) return Fit::kNow;
  if (picks.empty()) return Fit::kNone;
  Fit worst = Fit::kNow;
  for (const auto& [resource, pick] : picks) worst = std::min(worst, pick.fit);
  return worst;
}

Fit Assignment::fit() const {
  if (roles.empty()) return Fit::kNone;
  Fit worst = Fit::kNow;
  for (const RoleAssignment& role : roles) worst = std::min(worst, role.fit());
  return worst == Fit::kNow && deferred ? Fit::kDeferred : worst;
}

std::string Assignment::Message() const {
  std::string message;
  for (const RoleAssignment& role : roles) {
    if (role.obstacles.empty()) continue;
    std::vector<std::string> obstacles = role.obstacles;
    std::ranges::sort(obstacles);
    message += fmt::format("{}couldn't assign flavors to pod set {}: {}", message.empty() ? "" : "; ", role.name,
                           fmt::join(obstacles, ", "));
  }
  return message;
}

FlavorProgress Assignment::Progress() const {
  FlavorProgress progress;
  for (const RoleAssignment& role : roles) {
    auto& of_role = progress.emplace_back();
    for (const auto& [resource, pick] : role.picks) of_role[resource] = pick.tried;
  }
  return progress;
}

std::vector<CellId> Assignment::CellsToPreempt() const {
  std::vector<CellId> cells;
  for (const RoleAssignment& role : roles)
    for (const auto& [resource, pick] : role.picks)
      if (pick.fit == Fit::kPreempt) cells.push_back(pick.cell);
  Unique(cells);
  return cells;
}

std::vector<CellId> Assignment::Cells() const {
  std::vector<CellId> cells;
  for (const auto& [cell, amount] : total) cells.push_back(cell);
  return cells;
}

std::vector<CellId> Assignment::ShortCells() const {
  std::vector<CellId> cells;
  for (const RoleAssignment& role : roles) cells.insert(cells.end(), role.short_cells.begin(), role.short_cells.end());
  Unique(cells);
  return cells;
}

}  // namespace tutti::queue
