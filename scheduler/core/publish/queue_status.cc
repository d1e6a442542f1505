// SPDX-License-Identifier: Apache-2.0
#include "core/publish/queue_status.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace tutti::core {

using base::Millis;

namespace {

constexpr Millis kQueueReportEveryMs = 100, kQueueReportAgainMs = 5'000, kQueueDeadlineMs = 60'000;

}  // namespace

void QueueStatus::Mark(const queue::QueueKey& key, dialects::Dialect* dialect) {
  if (!key.name.empty()) dirty_[key].dialect = dialect;
}

void QueueStatus::MarkPath(const queue::QueueKey& key, dialects::Dialect* dialect) {
  if (key.name.empty()) return;
  Mark(key, dialect);
  for (const queue::QueueKey& above : quota_.Path(key)) Mark(above, dialect);
}

void QueueStatus::Publish() {
  const Millis now = clock_.MonotonicMs();
  if (dirty_.empty() || now < next_ms_) return;
  std::map<queue::QueueKey, dialects::Dialect*> due;
  std::erase_if(dirty_, [&](const auto& item) {
    const auto& [key, queue] = item;
    return queue.not_before_ms <= now && due.emplace(key, queue.dialect).second;
  });
  Report(due);
  next_ms_ = now + kQueueReportEveryMs;
}

std::vector<std::string_view> QueueStatus::ResourcesOfNodes() const {
  const cluster::Snapshot& nodes = state_.snapshot();
  std::vector<std::string_view> names;
  for (uint32_t r = 0; r < nodes.columns(); ++r)
    if (const model::ResourceId column(r); nodes.Exists(column)) names.push_back(nodes.ResourceName(column));
  return names;
}

model::ResourceList QueueStatus::Allocated(const queue::QueueKey& key, std::vector<std::string_view> names) const {
  std::ranges::copy(quota_.Capped(key), std::back_inserter(names));
  model::ResourceList allocated;
  for (const std::string_view name : names)
    if (const int64_t used = quota_.Used(key, name); used > 0) allocated.Set(name, used);
  return allocated;
}

void QueueStatus::Report(const std::map<queue::QueueKey, dialects::Dialect*>& queues) {
  const std::vector<std::string_view> of_nodes = ResourcesOfNodes();
  for (const auto& [key, dialect] : queues) {
    const model::QueueSpec* spec = quota_.Find(key);
    if (!spec || writes_.contains(key)) continue;
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
    std::vector<cluster::CommandBody> writes;
    dialect->ReportQueue(report, &writes);
    for (cluster::CommandBody& write : writes) {
      outbox_.Send(Outbox::For::kStatus, cluster::Lane::kStatus, clock_.MonotonicMs() + kQueueDeadlineMs,
                   std::move(write), [this, key, dialect](const cluster::Answer& reply) {
                     OnReply(key, dialect, reply.outcome == cluster::Outcome::kDone);
                   });
      ++writes_[key].count;
    }
  }
}

void QueueStatus::OnReply(const queue::QueueKey& key, dialects::Dialect* dialect, bool done) {
  Writes& writes = writes_[key];
  if (!done) dialect->QueueReportLost(key.name);
  writes.failed = writes.failed || !done;
  if (--writes.count > 0) return;
  dirty_[key] = {dialect, writes.failed ? clock_.MonotonicMs() + kQueueReportAgainMs : 0};
  writes_.erase(key);
}

}  // namespace tutti::core
