// SPDX-License-Identifier: Apache-2.0
// QueueSpec: what has been declared about a queue, a node of a quota tree, whatever the ecosystem it was declared in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "model/resource_list.h"

namespace tutti::model {

enum class QueueState {
  kOpen,
  kClosing,  // starts nothing; it still has gangs
  kClosed,   // starts nothing
};

struct QueueSpec {
  std::string dialect, name;
  std::string parent;       // empty for a root
  ResourceList capability;  // hard cap per listed resource; unlisted ones are not capped
  ResourceList deserved;    // what it may take back from others, per listed resource
  ResourceList guarantee;   // what no other queue may use, even while it is idle
  int64_t weight = 1;       // its part of what its siblings share
  int32_t priority = 0;     // a queue of a higher one comes first, whatever the shares
  bool alone = false;       // of a root: all there is is its own, and no other root has a part in that
  bool reclaimable = true;  // other queues may take back what it has above its due
  // Other queues take back nothing of a gang that has run for less; nullopt: the configured time.
  std::optional<base::Millis> min_runtime_ms;
  QueueState state = QueueState::kOpen;
  std::string problem;  // why it cannot be used, naming the field; its gangs wait with it

  bool open() const { return state == QueueState::kOpen; }
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

}  // namespace tutti::model
