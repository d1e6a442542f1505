// SPDX-License-Identifier: Apache-2.0
// The two doors between the scheduler and a cluster. `kube/` and `sim/` implement them; nothing above knows which.
#pragma once

#include <vector>

#include "cluster/command.h"
#include "cluster/feed_event.h"
#include "model/object.h"

namespace tutti::cluster {

// Where a feed puts what it sees, and a writer its answers. Thread-safe.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Post(FeedEvent event) = 0;
};

// In: pods, nodes and the asked kinds, from a list and then a watch, for as long as it runs.
//
// Per object, events arrive in the order of the API server's resourceVersions; between kinds there is no order.
// A KindSynced follows the first complete list of each kind, and the first news that a kind is not served.
// After a relist only differences are posted.
class ClusterFeed {
 public:
  virtual ~ClusterFeed() = default;
  virtual void Start(std::vector<model::ObjectKind> kinds) = 0;
  // From now on these kinds too, each like those it was started with; of one that it has already, nothing happens. May
  // be called at any time after Start.
  virtual void Want(std::vector<model::ObjectKind> kinds) = 0;
};

// Out: all side effects. Submit does not block; the answer is posted to the sink.
class ClusterWriter {
 public:
  virtual ~ClusterWriter() = default;
  virtual void Submit(std::vector<Command> commands) = 0;
};

}  // namespace tutti::cluster
