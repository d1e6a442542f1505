// SPDX-License-Identifier: Apache-2.0
#include "core/publish/sharing_status.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tutti::core {

using base::Millis;

namespace {

constexpr Millis kSharingReportEveryMs = 100;

}  // namespace

void SharingStatus::Publish() {
  for (const QueueName& queue : desk_.counts().TakeTouched()) dirty_.try_emplace(queue, 0);
  const Millis now = clock_.MonotonicMs();
  if (dirty_.empty() || now < next_ms_) return;
  std::vector<QueueName> due;
  std::erase_if(dirty_, [&](const auto& item) {
    if (item.second > now) return false;
    due.push_back(item.first);
    return true;
  });
  for (const QueueName& queue : due) Report(queue);
  next_ms_ = now + kSharingReportEveryMs;
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
  dirty_[{subject.key.ns, subject.key.name}] = at_ms;
}

std::optional<Millis> SharingStatus::DueAt() const {
  if (dirty_.empty()) return std::nullopt;
  const auto first = std::ranges::min_element(dirty_, {}, [](const auto& item) { return item.second; });
  return std::max(next_ms_, first->second);
}

}  // namespace tutti::core
