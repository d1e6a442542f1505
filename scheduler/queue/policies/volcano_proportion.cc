// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/volcano_proportion.h"

#include <algorithm>

#include "model/quantity.h"
#include "queue/policies/water_fill.h"

namespace tutti::queue {

// Returns what the queue claims. A queue that can start no gang claims only what it has.
int64_t VolcanoProportion::Request(QueueId queue, CellId cell) const {
  const int64_t used = used_.Used(queue, cell);
  const model::QueueSpec& spec = tree_.spec(queue);
  return ProblemOf(spec).empty() && spec.open() ? model::SaturatingAdd(used, pending_.Used(queue, cell)) : used;
}

void VolcanoProportion::RenewDeserved(const std::vector<QueueId>& siblings, CellId cell, int64_t available) {
  std::vector<Claim> claims;
  for (const QueueId queue : siblings) {
    const Due& due = At(queue, cell);
    const int64_t weight = ProblemOf(tree_.spec(queue)).empty() ? tree_.spec(queue).weight : 1;
    claims.push_back({weight, due.guarantee, std::min(due.real_capability, Request(queue, cell))});
  }
  const std::vector<int64_t> deserved = WaterFill(available, claims);
  int64_t guarantees = 0;
  for (const QueueId queue : siblings) guarantees = model::SaturatingAdd(guarantees, At(queue, cell).guarantee);
  for (size_t i = 0; i < siblings.size(); ++i) {
    const QueueId queue = siblings[i];
    Due& due = At(queue, cell);
    due.deserved = deserved[i];
    due.has_deserved = due.deserved > 0 || Request(queue, cell) > 0;
    int64_t limit = Cap(queue, cell);
    if (limit_ == Limit::kDeserved) {
      const bool shares = due.deserved < claims[i].most && due.deserved < available;
      if (shares)
        limit = due.deserved;
      else if (guarantees > due.guarantee)
        limit = due.real_capability;
    }
    used_.SetLimit(queue, cell, limit);
    int64_t own = Request(queue, cell);  // of its own gangs, which are not those of a queue below it
    for (const QueueId child : ChildrenOf(queue)) own = model::SaturatingSub(own, Request(child, cell));
    RenewDeserved(ChildrenOf(queue), cell,
                  std::max(int64_t{0}, model::SaturatingSub(due.deserved, std::max<int64_t>(own, 0))));
  }
}

bool VolcanoProportion::MayTake(QueueId taker, const Ask& ask) const {
  return std::ranges::all_of(ask, [&](const CellAmount& a) {
    return model::SaturatingAdd(used_.Used(taker, a.cell), a.amount) <= Deserved(taker, a.cell);
  });
}

bool VolcanoProportion::MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const {
  if (!MayDeal(taker, giver) || !KeepsGuarantees(taker, giver, given)) return false;
  for (QueueId at = taker; at.valid() && !tree_.IsOnPath(at, giver); at = tree_.parent(at))
    for (const auto& [cell, amount] : ask)
      if (model::SaturatingAdd(used_.Used(at, cell), amount) > Deserved(at, cell)) return false;
  return std::ranges::any_of(ask, [&](const CellAmount& asked) {
    return given.Get(asked.cell) > 0 && used_.Used(giver, asked.cell) > Deserved(giver, asked.cell);
  });
}

}  // namespace tutti::queue
