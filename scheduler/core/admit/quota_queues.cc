// SPDX-License-Identifier: Apache-2.0
// QuotaDesk, the part about queues: as they are declared, and what they share.
#include <utility>

#include "core/admit/quota_desk.h"

namespace tutti::core {
namespace {

// 0: there is no such queue.
double ShareOf(const queue::ShareTree& shares, queue::QueueId id) {
  return id.valid() ? shares.Dominant(id).Weighted() : 0;
}

}  // namespace

void QuotaDesk::RenewQueues() {
  const std::set<Declared> declared = std::exchange(declared_, {});
  std::set<std::string> roots;
  AddRoots(declared, &roots);
  for (const Declared& each : declared) Renew(each);
  AddRoots(declared, &roots);
  // What one of a tree has, or lends, is part of what the others could borrow.
  const queue::ShareTree& shares = admission_.shares();
  for (const std::string& root : roots)
    if (const queue::QueueId id = shares.Cohort(root); id.valid())
      for (const queue::QueueId leaf : shares.LeavesBelow(id)) counts_.Touch({"", shares.name(leaf)});
}

void QuotaDesk::AddRoots(const std::set<Declared>& declared, std::set<std::string>* roots) const {
  const queue::ShareTree& shares = admission_.shares();
  for (const auto& [dialect, kind, ns, name] : declared) {
    if (kind != Declared::Kind::kLeaf && kind != Declared::Kind::kCohort) continue;
    const queue::QueueId id = kind == Declared::Kind::kLeaf ? shares.Leaf(name) : shares.Cohort(name);
    const queue::QueueId root = id.valid() ? shares.Root(id) : id;
    if (root.valid() && !shares.is_leaf(root)) roots->insert(shares.name(root));
  }
}

void QuotaDesk::Renew(const Declared& declared) {
  const dialects::Dialect& dialect = *declared.dialect;
  const QuotaCounts::QueueName queue{declared.ns, declared.name};
  switch (declared.kind) {
    case Declared::Kind::kFlavor:
      if (auto flavor = dialect.DescribeFlavor(declared.name)) return admission_.Put(*std::move(flavor));
      return admission_.DropFlavor(declared.name);
    case Declared::Kind::kCohort:
      touched_cohorts_.insert(declared.name);
      if (auto cohort = dialect.DescribeCohort(declared.name)) {
        dialect_of_cohort_[declared.name] = declared.dialect;
        admission_.Put(*std::move(cohort));
      } else {
        dialect_of_cohort_.erase(declared.name);
        admission_.DropCohort(declared.name);
      }
      return;
    case Declared::Kind::kLeaf:
      counts_.Touch(queue);
      if (auto leaf = dialect.DescribeLeaf(declared.name)) {
        dialect_of_[queue] = declared.dialect;
        return admission_.Put(*std::move(leaf));
      }
      dialect_of_.erase(queue);
      return admission_.DropLeaf(declared.name);
    case Declared::Kind::kLocal:
      if (auto local = dialect.DescribeLocal(declared.ns, declared.name)) {
        const bool admits = local->admits;
        dialect_of_[queue] = declared.dialect;
        counts_.Lead(queue, local->queue);
        return admission_.Put(*std::move(local), admits);
      }
      dialect_of_.erase(queue);
      counts_.Lead(queue, {});
      return admission_.DropLocal(declared.ns, declared.name);
  }
}

const model::LeafQueueSpec* QuotaDesk::Leaf(const QuotaCounts::QueueName& queue) const {
  const auto& [ns, name] = queue;
  const model::LocalQueueSpec* local = ns.empty() ? nullptr : admission_.local(ns, name);
  if (!ns.empty() && !local) return nullptr;
  const queue::QueueId leaf = admission_.shares().Leaf(local ? local->queue : name);
  return leaf.valid() ? &admission_.shares().leaf(leaf) : nullptr;
}

double QuotaDesk::WeightedShare(const std::string& leaf) const {
  return ShareOf(admission_.shares(), admission_.shares().Leaf(leaf));
}

double QuotaDesk::CohortShare(const std::string& cohort) const {
  return ShareOf(admission_.shares(), admission_.shares().Cohort(cohort));
}

dialects::Dialect* QuotaDesk::DialectOfCohort(const std::string& cohort) const {
  const auto at = dialect_of_cohort_.find(cohort);
  return at == dialect_of_cohort_.end() ? nullptr : at->second;
}

std::vector<std::pair<std::string, double>> QuotaDesk::SharesAbove(const std::string& leaf) const {
  std::vector<std::pair<std::string, double>> shares;
  const queue::ShareTree& tree = admission_.shares();
  queue::QueueId id = tree.Leaf(leaf);
  while (id.valid() && (id = tree.parent(id)).valid()) shares.emplace_back(tree.name(id), ShareOf(tree, id));
  return shares;
}

std::vector<std::string> QuotaDesk::LevelsOf(const model::HeldQuota::Role& role) const {
  for (const auto& [resource, name] : role.flavors)
    if (const auto flavor = admission_.flavors().find(name);
        flavor != admission_.flavors().end() && !flavor->second.levels.empty())
      return flavor->second.levels;
  return {};
}

}  // namespace tutti::core
