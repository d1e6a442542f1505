// SPDX-License-Identifier: Apache-2.0
// Cluster: answers the questions of the services Cluster and Queues, as far as the caller may see. Thread-safe.
#pragma once

#include <tutti/v1/cluster.pb.h>
#include <tutti/v1/queues.pb.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "doors/gangs.h"

namespace tutti::doors {

class Cluster {
 public:
  // Both outlive this.
  Cluster(Source& source, Gangs& gangs) : source_(source), gangs_(gangs) {}

  DoorResult<v1::ListNodesResponse> ListNodes(const v1::ListNodesRequest& request, Sight& sight);
  DoorResult<v1::ListQueuesResponse> ListQueues(const v1::ListQueuesRequest& request, Sight& sight);
  // All queues, and all gangs.
  struct Lines {
    std::shared_ptr<const Table> gangs;
    std::shared_ptr<const QueueViews> queues;
  };
  // Failure: kUnavailable, this process does not lead, or is too busy.
  DoorResult<Lines> AllLines();
  // Returns the metrics of queues; empty: this process does not lead, or is too busy. `now_ms`: wall time.
  std::string QueueMetrics(base::Millis now_ms);

 private:
  // Readers that ask at about the same time share one list.
  template <typename T>
  struct Shared {
    std::shared_ptr<const T> list;
    std::chrono::steady_clock::time_point made{};
  };
  template <typename T, typename Make>
  std::shared_ptr<const T> Recent(Shared<T>* shared, Make make);

  Source& source_;
  Gangs& gangs_;
  base::Mutex mutex_;
  Shared<Nodes> nodes_ ABSL_GUARDED_BY(mutex_);
  Shared<QueueViews> queues_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tutti::doors
