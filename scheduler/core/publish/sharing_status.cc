// SPDX-License-Identifier: Apache-2.0
#include "core/publish/sharing_status.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tutti::core {

using base::Millis;

void SharingStatus::Publish() {
  for (const QueueName& queue : desk_.counts().TakeTouched()) due_.Mark(queue);
  for (const QueueName& queue : due_.Take(clock_.MonotonicMs())) Report(queue);
}

void SharingStatus::Report(const QueueName& queue) {
  dialects::Dialect* dialect = desk_.DialectOf(queue);
  if (!dialect) return;
  const ObjectKeeper::Subject subject{this, {std::string(dialect->name()), queue.first, queue.second}};
  if (keeper_.Writes(subject)) return;
  std::vector<cluster::DesiredObject> desired;
  dialect->DesireOfSharing(ReportOf(queue), keeper_, &desired);
  keeper_.Want(subject, cluster::Lane::kStatus, std::move(desired));
}

dialects::SharingReport SharingStatus::ReportOf(const QueueName& queue) const {
  dialects::SharingReport report;
  report.ns = queue.first;
  report.name = queue.second;
  report.now_wall_ms = clock_.WallMs();
  const QuotaCounts::Sums sums = desk_.counts().Of(queue);
  report.pending = sums.pending;
  report.reserving = sums.reserving;
  report.admitted = sums.admitted;
  const model::LeafQueueSpec* leaf = desk_.Leaf(queue);
  if (!leaf) return report;
  const auto of = [](const auto& amounts, const std::string& flavor, const std::string& resource) {
    const auto at = amounts.find({flavor, resource});
    return at == amounts.end() ? 0 : at->second;
  };
  for (const model::ResourceGroup& group : leaf->groups)
    for (const model::FlavorQuota& flavor : group.flavors)
      for (const auto& [resource, quota] : flavor.resources) {
        const int64_t reserved = of(sums.reserved, flavor.flavor, resource);
        const bool borrows = queue.first.empty() && !leaf->cohort.empty();
        report.cells.push_back({flavor.flavor, resource, quota.nominal, reserved,
                                of(sums.used, flavor.flavor, resource),
                                borrows ? std::max<int64_t>(0, reserved - quota.nominal) : 0});
      }
  if (queue.first.empty()) report.weighted_share = desk_.WeightedShare(queue.second);
  return report;
}

void SharingStatus::Restate(const ObjectKeeper::Subject& subject, Millis at_ms) {
  due_.MarkAt({subject.key.ns, subject.key.name}, at_ms);
}

}  // namespace tutti::core
