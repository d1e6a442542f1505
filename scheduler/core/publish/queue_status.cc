// SPDX-License-Identifier: Apache-2.0
#include "core/publish/queue_status.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::core {

using base::Millis;

void QueueStatus::Mark(const queue::QueueKey& key) {
  if (!key.name.empty()) due_.Mark(key);
}

void QueueStatus::MarkPath(const queue::QueueKey& key) {
  Mark(key);
  for (const queue::QueueKey& above : queues_.Path(key)) Mark(above);
}

void QueueStatus::Publish() {
  if (const std::vector<queue::QueueKey> due = due_.Take(clock_.MonotonicMs()); !due.empty()) Report(due);
}

std::vector<std::string_view> QueueStatus::ResourcesOfNodes() const {
  const cluster::Snapshot& nodes = state_.snapshot();
  std::vector<std::string_view> names;
  for (uint32_t r = 0; r < nodes.resources().size(); ++r)
    if (const model::ResourceId column(r); nodes.Exists(column)) names.push_back(nodes.resources().Text(column));
  return names;
}

model::ResourceList QueueStatus::Allocated(const queue::QueueKey& key, std::vector<std::string_view> names) const {
  std::ranges::copy(queues_.Limited(key), std::back_inserter(names));
  model::ResourceList allocated;
  for (const std::string_view name : names)
    if (const int64_t used = queues_.Used(key, name); used > 0) allocated.Set(name, used);
  return allocated;
}

dialects::Dialect* QueueStatus::DialectOf(const queue::QueueKey& key) const {
  const auto at = std::ranges::find(dialects_, key.dialect, [](const auto& dialect) { return dialect->name(); });
  return at == dialects_.end() ? nullptr : at->get();
}

void QueueStatus::Report(const std::vector<queue::QueueKey>& queues) {
  const std::vector<std::string_view> of_nodes = ResourcesOfNodes();
  for (const queue::QueueKey& key : queues) {
    const model::QueueSpec* spec = queues_.Find(key);
    dialects::Dialect* dialect = DialectOf(key);
    const ObjectKeeper::Subject subject{this, {key.dialect, "", key.name}};
    if (!spec || !dialect || keeper_.AwaitsReply(subject)) continue;
    if (dialect->blind()) {
      due_.MarkLater(key, clock_.MonotonicMs());
      continue;
    }
    dialects::QueueReport report;
    report.spec = spec;
    report.allocated = Allocated(key, of_nodes);
    report.now_wall_ms = clock_.WallMs();
    const GangCounts counts = tallies_.OfQueue(key);
    report.pending = counts.pending;
    report.starting = counts.starting;
    report.incomplete = counts.incomplete;
    report.running = counts.running;
    report.finished = counts.finished;
    std::vector<cluster::DesiredObject> desired;
    dialect->DesireOfQueue(report, keeper_, &desired);
    keeper_.Want(subject, cluster::Lane::kStatus, std::move(desired));
  }
}

void QueueStatus::Restate(const ObjectKeeper::Subject& subject, Millis at_ms) {
  due_.MarkAt({subject.key.dialect, subject.key.name}, at_ms);
}

}  // namespace tutti::core
