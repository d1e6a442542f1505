// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/volcano_capacity.h"

#include <algorithm>

#include "model/quantity.h"

namespace tutti::queue {

void VolcanoCapacity::RenewDeserved(const std::vector<QueueId>& siblings, CellId cell, int64_t /*available*/) {
  const std::string& resource = tree_.cells().resource(cell);
  for (const QueueId queue : siblings) {
    RenewDeserved(ChildrenOf(queue), cell, 0);
    Due& due = At(queue, cell);
    const model::ResourceList& said = tree_.spec(queue).deserved;
    int64_t deserved = said.Get(resource);
    due.has_deserved = said.Has(resource) || due.guarantee > 0;
    if (!said.Has(resource))  // a queue without a value deserves the sum of those below it
      for (const QueueId child : ChildrenOf(queue)) {
        deserved = model::SaturatingAdd(deserved, Deserved(child, cell));
        due.has_deserved = due.has_deserved || At(child, cell).has_deserved;
      }
    due.deserved = std::max(std::min(deserved, due.real_capability), due.guarantee);
    used_.SetLimit(queue, cell, due.real_capability);
  }
}

bool VolcanoCapacity::DeservesSome(QueueId queue, const Ask& amounts) const {
  return std::ranges::any_of(amounts, [&](const CellAmount& a) { return At(queue, a.cell).has_deserved; });
}

bool VolcanoCapacity::HasMore(QueueId queue, const Ask& amounts) const {
  return std::ranges::any_of(amounts, [&](const CellAmount& a) {
    return At(queue, a.cell).has_deserved && used_.Used(queue, a.cell) > Deserved(queue, a.cell);
  });
}

// The queue, or an ancestor on one of the levels above it, would stay within its deserved amount in some cell.
bool VolcanoCapacity::MayTake(QueueId taker, const Ask& ask) const {
  int level = 0;
  for (QueueId at = taker; at.valid() && level <= ancestor_levels_; at = tree_.parent(at), ++level) {
    if (level > 0 && !tree_.parent(at).valid()) return false;
    const bool within = std::ranges::any_of(ask, [&](const CellAmount& a) {
      return model::SaturatingAdd(used_.Used(at, a.cell), a.amount) <= Deserved(at, a.cell);
    });
    if (within) return true;
  }
  return false;
}

bool VolcanoCapacity::MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const {
  if (!MayDeal(taker, giver) || !MayTake(taker, ask)) return false;
  for (QueueId at = taker; at.valid() && !tree_.IsOnPath(at, giver); at = tree_.parent(at))
    for (const auto& [cell, amount] : ask)
      if (amount > used_.Headroom(at, cell)) return false;
  if (std::ranges::none_of(ask, [&](const CellAmount& asked) { return given.Get(asked.cell) > 0; })) return false;
  if (!KeepsGuarantees(taker, giver, given)) return false;
  int level = 0;
  for (QueueId at = giver; at.valid() && level <= ancestor_levels_; at = tree_.parent(at), ++level) {
    const bool top = level > 0 && !tree_.parent(at).valid();
    if (top) break;
    if (level > 0 && tree_.IsOnPath(at, taker))  // at a common ancestor: one side must deserve some of it
      return DeservesSome(giver, given) || DeservesSome(taker, ask);
    if (DeservesSome(at, given) && !HasMore(at, given)) return false;
  }
  return true;
}

}  // namespace tutti::queue
