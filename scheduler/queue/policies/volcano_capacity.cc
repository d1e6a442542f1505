// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/volcano_capacity.h"

#include <algorithm>
#include <iterator>

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

bool VolcanoCapacity::DeservesSome(QueueId queue, Amounts amounts) const {
  return std::ranges::any_of(amounts, [&](const CellAmount& a) { return At(queue, a.cell).has_deserved; });
}

bool VolcanoCapacity::HasMore(QueueId queue, Amounts amounts) const {
  return std::ranges::any_of(amounts, [&](const CellAmount& a) {
    return At(queue, a.cell).has_deserved && used_.Used(queue, a.cell) > Deserved(queue, a.cell);
  });
}

// The queue, or an ancestor on one of the levels above it, would stay within its deserved amount in some cell, and in
// each where it must(queue, cell).
bool VolcanoCapacity::StaysWithin(QueueId taker, const Ask& ask, const auto& must) const {
  int level = 0;
  for (QueueId at = taker; at.valid() && level <= ancestor_levels_; at = tree_.parent(at), ++level) {
    if (level > 0 && !tree_.parent(at).valid()) return false;
    const auto within = [&](const CellAmount& a) {
      return model::SaturatingAdd(used_.Used(at, a.cell), a.amount) <= Deserved(at, a.cell);
    };
    const auto in_order = [&](const CellAmount& a) { return within(a) || !must(at, a.cell); };
    if (std::ranges::any_of(ask, within) && std::ranges::all_of(ask, in_order)) return true;
  }
  return false;
}

bool VolcanoCapacity::MayTake(QueueId taker, const Ask& ask) const {
  return StaysWithin(taker, ask, [](QueueId, CellId) { return false; });
}

bool VolcanoCapacity::MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const {
  if (!MayDeal(taker, giver)) return false;
  // A giver that is within what it deserves of one resource may take in its turn. So the taker has to stay within what
  // it deserves of all that it is given, or they would take the same from each other without end.
  const bool takes_back = std::ranges::any_of(given, [&](const CellAmount& a) {
    return At(giver, a.cell).has_deserved && used_.Used(giver, a.cell) <= Deserved(giver, a.cell);
  });
  const auto must = [&](QueueId at, CellId cell) {
    return takes_back && given.Get(cell) > 0 && (At(at, cell).has_deserved || At(giver, cell).has_deserved);
  };
  if (!StaysWithin(taker, ask, must)) return false;
  for (QueueId at = taker; at.valid() && !tree_.IsOnPath(at, giver); at = tree_.parent(at))
    for (const auto& [cell, amount] : ask)
      if (amount > used_.Headroom(at, cell)) return false;
  std::vector<CellAmount> useful;  // of what is given, what the taker asks for
  std::ranges::copy_if(given, std::back_inserter(useful), [&](const CellAmount& a) { return ask.Get(a.cell) > 0; });
  if (useful.empty()) return false;
  if (!KeepsGuarantees(taker, giver, given)) return false;
  int level = 0;
  for (QueueId at = giver; at.valid() && level <= ancestor_levels_; at = tree_.parent(at), ++level) {
    const bool top = level > 0 && !tree_.parent(at).valid();
    if (top) break;
    if (level > 0 && tree_.IsOnPath(at, taker))  // at a common ancestor: one side must deserve some of it
      return DeservesSome(giver, useful) || DeservesSome(taker, Amounts(ask.begin(), ask.end()));
    if (DeservesSome(at, useful) && !HasMore(at, useful)) return false;
  }
  return true;
}

}  // namespace tutti::queue
