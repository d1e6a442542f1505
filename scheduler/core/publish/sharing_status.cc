// SPDX-License-Identifier: Apache-2.0
#include "core/publish/sharing_status.h"

#include <utility>
#include <vector>

namespace tutti::core {

using base::Millis;

namespace {

// Calls tell(cell, quota) for each flavor and resource of which the queue has a quota.
template <class Tell>
void ForEachCell(const model::LeafQueueSpec& leaf, Tell tell) {
  for (const model::ResourceGroup& group : leaf.groups)
    for (const model::FlavorQuota& flavor : group.flavors)
      for (const auto& [resource, quota] : flavor.resources) tell(QuotaCounts::CellName(flavor.flavor, resource), quota);
}

}  // namespace

void SharingStatus::Publish() {
  for (const QueueName& queue : desk_.counts().TakeTouched()) due_.Mark(queue);
  for (const QueueName& queue : due_.Take(clock_.MonotonicMs())) Report(queue);
}

void SharingStatus::Report(const QueueName& queue) {
  dialects::Dialect* dialect = desk_.DialectOf(queue);
  if (!dialect) {
    announcer_.Queue({.ns = queue.first, .name = queue.second, .state = observe::Observer::QuotaQueue::State::kGone});
    return;
  }
  if (dialect->blind()) return due_.MarkLater(queue, clock_.MonotonicMs());
  const ObjectKeeper::Subject subject{this, {std::string(dialect->name()), queue.first, queue.second}};
  if (keeper_.AwaitsReply(subject)) return;
  const dialects::SharingReport report = ReportOf(queue);
  Announce(queue, report);
  if (queue.first.empty()) cohorts_.MarkAround(queue.second);
  std::vector<cluster::DesiredObject> desired;
  dialect->DesireOfSharing(report, keeper_, &desired);
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
  if (queue.first.empty() && desk_.SharesFairly()) report.share = desk_.WeightedShare(queue.second);
  const model::LeafQueueSpec* leaf = desk_.Leaf(queue);
  if (!leaf) return report;
  ForEachCell(*leaf, [&](const QuotaCounts::CellName& cell, const model::CellQuota& quota) {
    report.cells.push_back({cell.first, cell.second, quota.nominal, QuotaCounts::AmountOf(sums.reserved, cell),
                            QuotaCounts::AmountOf(sums.used, cell)});
  });
  return report;
}

// Whatever could start has started when a pass is over. So in a line that others pass, all stand aside; and in a strict
// one, the first is tried again and again.
void SharingStatus::Announce(const QueueName& name, const dialects::SharingReport& report) const {
  using Queue = observe::Observer::QuotaQueue;
  const model::LeafQueueSpec* leaf = desk_.Leaf(name);
  const model::LocalQueueSpec* local = desk_.Local(name);
  if (!leaf && !local) return;
  const bool stopped = !leaf || leaf->stop != model::StopPolicy::kNone ||
                       (local && (local->stop != model::StopPolicy::kNone || !local->admits));
  const bool strict = !stopped && leaf->strategy == model::QueueingStrategy::kStrictFifo;
  Queue queue{.ns = name.first, .name = name.second, .state = stopped ? Queue::State::kStopped : Queue::State::kActive};
  (strict ? queue.ready : queue.aside) = report.pending;
  queue.reserving = report.reserving;
  queue.admitted = report.admitted;
  if (leaf)
    ForEachCell(*leaf, [&](const QuotaCounts::CellName&, const model::CellQuota& quota) {
      const auto& cell = report.cells[queue.cells.size()];
      queue.cells.push_back({cell.flavor, cell.resource, quota.nominal, quota.borrowing_limit.value_or(0),
                             quota.lending_limit.value_or(0), cell.reserved, cell.used});
    });
  if (!local) {
    queue.share = desk_.WeightedShare(name.second);
    queue.cohorts = desk_.SharesAbove(name.second);
  }
  announcer_.Queue(queue);
}

void SharingStatus::Restate(const ObjectKeeper::Subject& subject, Millis at_ms) {
  due_.MarkAt({subject.key.ns, subject.key.name}, at_ms);
}

}  // namespace tutti::core
