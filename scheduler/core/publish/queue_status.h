// SPDX-License-Identifier: Apache-2.0
// QueueStatus: tells queues' objects what they hold and how many gangs wait, start and run. A queue that changed is
// reported, ten times a second at most; while a write for it is on its way it is not.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cluster/state.h"
#include "core/admit/queues.h"
#include "core/publish/due_reports.h"
#include "core/publish/object_keeper.h"
#include "core/publish/tallies.h"
#include "dialects/dialect.h"

namespace tutti::core {

class QueueStatus final : public ObjectKeeper::Owner {
 public:
  QueueStatus(const cluster::ClusterState& state, const dialects::DialectList& dialects, const Queues& queues,
              const Tallies& tallies, ObjectKeeper& keeper, const base::Clock& clock)
      : state_(state), dialects_(dialects), queues_(queues), tallies_(tallies), keeper_(keeper), clock_(clock) {}

  // Marks the queue to be reported. Does nothing for a key without a name.
  void Mark(const queue::QueueKey& key);
  // Marks the queue and all above it, because what the queue holds counts there too.
  void MarkPath(const queue::QueueKey& key);
  // Reports the marked queues, if it is time.
  void Publish();
  // Returns when Publish has something to do (monotonic); nullopt: no queue is marked.
  std::optional<base::Millis> DueAt() const { return due_.DueAt(); }

  void Restate(const ObjectKeeper::Subject& subject, base::Millis at_ms) override;

 private:
  void Report(const std::vector<queue::QueueKey>& queues);
  // Returns the queue's dialect; null: there is none of this name.
  dialects::Dialect* DialectOf(const queue::QueueKey& key) const;
  std::vector<std::string_view> ResourcesOfNodes() const;
  // Returns what the queue holds of these, and of what it or a queue above caps.
  model::ResourceList Allocated(const queue::QueueKey& key, std::vector<std::string_view> names) const;

  const cluster::ClusterState& state_;
  const dialects::DialectList& dialects_;
  const Queues& queues_;
  const Tallies& tallies_;
  ObjectKeeper& keeper_;
  const base::Clock& clock_;
  DueReports<queue::QueueKey> due_;
};

}  // namespace tutti::core
