// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/volcano_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/quantity.h"

namespace tutti::queue {
namespace {

constexpr size_t kShownOfName = 253;

// Roots that share what there is: those of one dialect, but for those that have all of it alone.
std::vector<std::vector<QueueId>> RootsTogether(const QueueTree& tree) {
  std::vector<std::vector<QueueId>> groups;
  std::map<std::string_view, size_t> of_dialect;
  for (const QueueId root : tree.Roots()) {
    const model::QueueSpec& spec = tree.spec(root);
    const auto [at, first] =
        spec.alone ? std::pair(of_dialect.end(), true) : of_dialect.try_emplace(spec.dialect, groups.size());
    if (first)
      groups.push_back({root});
    else
      groups[at->second].push_back(root);
  }
  return groups;
}

}  // namespace

const VolcanoRules::Due& VolcanoRules::At(QueueId queue, CellId cell) const {
  static const Due none;
  if (queue.index() >= due_.size() || cell.index() >= due_[queue.index()].size()) return none;
  return due_[queue.index()][cell.index()];
}

void VolcanoRules::Renew(const model::ResourceList& total) {
  Cells& cells = tree_.cells();
  total_ = Ask(cells, total);
  shared_.clear();
  for (const auto& [cell, amount] : total_) shared_.push_back(cell);
  children_.assign(tree_.end(), {});
  for (size_t i = 0; i < tree_.end(); ++i) {
    const QueueId id(static_cast<uint32_t>(i));
    if (!tree_.in_use(id)) continue;
    children_[i] = tree_.Children(id);
    const model::QueueSpec& spec = tree_.spec(id);
    for (const model::ResourceList* list : {&spec.capability, &spec.deserved, &spec.guarantee})
      for (const auto& [resource, amount] : *list) shared_.push_back(cells.Find({}, resource));
  }
  std::ranges::sort(shared_);
  shared_.erase(std::unique(shared_.begin(), shared_.end()), shared_.end());
  const size_t columns = shared_.empty() ? 0 : shared_.back().index() + 1;
  due_.assign(tree_.end(), std::vector<Due>(columns));
  remarks_.assign(tree_.end(), {});
  used_.ClearLimits();
  for (const std::vector<QueueId>& roots : RootsTogether(tree_))
    for (const CellId cell : shared_) {
      const int64_t available = total_.Get(cell);
      for (const QueueId root : roots) SumGuarantees(root, cell);
      CutGuarantees(roots, cell, available);
      RenewCapability(roots, cell, available);
      RenewDeserved(roots, cell, available);
    }
}

void VolcanoRules::SumGuarantees(QueueId queue, CellId cell) {
  int64_t below = 0;
  for (const QueueId child : ChildrenOf(queue)) {
    SumGuarantees(child, cell);
    below = model::SaturatingAdd(below, At(child, cell).guarantee);
  }
  const bool sound = tree_.declared(queue) && ProblemOf(tree_.spec(queue)).empty();
  const int64_t own = sound ? tree_.spec(queue).guarantee.Get(tree_.cells().resource(cell)) : 0;
  At(queue, cell).guarantee = std::max({int64_t{0}, own, below});
}

// Cuts guarantees that exceed what is available. The first queues by name keep theirs, so that the others lose nothing
// else.
void VolcanoRules::CutGuarantees(const std::vector<QueueId>& siblings, CellId cell, int64_t available) {
  int64_t left = available;
  for (const QueueId queue : siblings) {
    Due& due = At(queue, cell);
    const int64_t asked = due.guarantee;
    due.guarantee = std::min(asked, left);
    left -= due.guarantee;
    CutGuarantees(ChildrenOf(queue), cell, due.guarantee);
    const std::string& resource = tree_.cells().resource(cell);
    if (due.guarantee < asked && tree_.spec(queue).guarantee.Get(resource) > due.guarantee)
      remarks_[queue.index()] = fmt::format(
          "queue \"{}\": guarantee of {} is {}, but only {} of it can be kept, for guarantees sum to more "
          "than there is; lower some",
          base::Cut(tree_.spec(queue).name, kShownOfName), resource, model::FormatAmount(resource, asked),
          model::FormatAmount(resource, due.guarantee));
  }
}

int64_t VolcanoRules::Cap(QueueId queue, CellId cell) const {
  const model::ResourceList& cap = tree_.spec(queue).capability;
  const std::string& resource = tree_.cells().resource(cell);
  return cap.Has(resource) ? cap.Get(resource) : kNoLimit;
}

void VolcanoRules::RenewCapability(const std::vector<QueueId>& siblings, CellId cell, int64_t available) {
  int64_t free = available;  // without guarantees, which sum to at most `available`
  for (const QueueId queue : siblings) free -= At(queue, cell).guarantee;
  for (const QueueId queue : siblings) {
    Due& due = At(queue, cell);
    due.real_capability = std::min(Cap(queue, cell), std::max(int64_t{0}, free) + due.guarantee);
    RenewCapability(ChildrenOf(queue), cell, due.real_capability);
  }
}

AdmitAnswer VolcanoRules::Admit(QueueId queue, const Ask& ask) const {
  AdmitAnswer answer;
  answer.problem = tree_.Problem(queue);
  for (QueueId at = queue; at.valid() && answer.problem.empty(); at = tree_.parent(at)) {
    if (!tree_.spec(at).open())
      answer.problem = fmt::format("queue \"{}\" is not open; it starts nothing until it is",
                                   base::Cut(tree_.spec(at).name, kShownOfName));
    for (const auto& [cell, amount] : ask)
      if (amount > used_.Headroom(at, cell))
        answer.shortages.push_back({at, cell, used_.Limit(at, cell), used_.Used(at, cell), amount});
  }
  return answer;
}

double VolcanoRules::Share(QueueId queue) const {
  double share = 0;
  bool any = false;
  for (const CellId cell : shared_) {
    const Due& due = At(queue, cell);
    if (!due.has_deserved) continue;
    any = true;
    const int64_t used = used_.Used(queue, cell);
    if (due.deserved > 0)
      share = std::max(share, static_cast<double>(used) / static_cast<double>(due.deserved));
    else if (used > 0)
      share = std::max(share, 1.0);
  }
  return any ? share : 1;
}

std::string VolcanoRules::Remark(QueueId queue) const {
  return queue.index() < remarks_.size() ? remarks_[queue.index()] : std::string();
}

bool VolcanoRules::MayDeal(QueueId taker, QueueId giver) const {
  const model::QueueSpec &takes = tree_.spec(taker), &gives = tree_.spec(giver);
  return taker != giver && takes.dialect == gives.dialect && gives.reclaimable && takes.open() &&
         tree_.Problem(taker).empty();
}

bool VolcanoRules::KeepsGuarantees(QueueId taker, QueueId giver, const Ask& given) const {
  for (QueueId at = giver; at.valid() && !tree_.IsOnPath(at, taker); at = tree_.parent(at))
    for (const CellId cell : shared_)
      if (const int64_t kept = At(at, cell).guarantee; kept > 0 && used_.Used(at, cell) - given.Get(cell) < kept)
        return false;
  return true;
}

}  // namespace tutti::queue
