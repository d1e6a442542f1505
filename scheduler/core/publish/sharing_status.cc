// SPDX-License-Identifier: Apache-2.0
#include "core/publish/sharing_status.h"

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
  if (!dialect) {
    if (queue.first.empty()) announcer_.Queue({queue.second, observe::Observer::QuotaQueue::State::kGone});
    return;
  }
  const ObjectKeeper::Subject subject{this, {std::string(dialect->name()), queue.first, queue.second}};
  if (keeper_.AwaitsReply(subject)) return;
  const dialects::SharingReport report = ReportOf(queue);
  if (queue.first.empty()) Announce(report);
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
  const model::LeafQueueSpec* leaf = desk_.Leaf(queue);
  if (!leaf) return report;
  for (const model::ResourceGroup& group : leaf->groups)
    for (const model::FlavorQuota& flavor : group.flavors)
      for (const auto& [resource, quota] : flavor.resources)
        report.cells.push_back({flavor.flavor, resource, quota.nominal,
                                QuotaCounts::AmountOf(sums.reserved, {flavor.flavor, resource}),
                                QuotaCounts::AmountOf(sums.used, {flavor.flavor, resource})});
  return report;
}

// Whatever could start has started when a pass is over. So in a line that others pass, all stand aside; and in a strict
// one, the first is tried again and again.
void SharingStatus::Announce(const dialects::SharingReport& report) const {
  const model::LeafQueueSpec* leaf = desk_.Leaf({"", report.name});
  if (!leaf) return;
  using Queue = observe::Observer::QuotaQueue;
  const bool stopped = leaf->stop != model::StopPolicy::kNone;
  const bool strict = !stopped && leaf->strategy == model::QueueingStrategy::kStrictFifo;
  Queue queue{.name = report.name, .state = stopped ? Queue::State::kStopped : Queue::State::kActive};
  (strict ? queue.ready : queue.aside) = report.pending;
  queue.reserving = report.reserving;
  queue.admitted = report.admitted;
  for (const auto& cell : report.cells)
    queue.cells.push_back({cell.flavor, cell.resource, cell.nominal, cell.reserved, cell.used});
  announcer_.Queue(queue);
}

void SharingStatus::Restate(const ObjectKeeper::Subject& subject, Millis at_ms) {
  due_.MarkAt({subject.key.ns, subject.key.name}, at_ms);
}

}  // namespace tutti::core
