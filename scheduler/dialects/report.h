// SPDX-License-Identifier: Apache-2.0
// What the engine tells a dialect about one gang or queue, so that the dialect can say it in its own words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/gang.h"
#include "observe/gang_state.h"

namespace tutti::dialects {

using observe::GangState;

struct GangReport {
  const model::GangSpec* spec = nullptr;  // never null
  GangState state = GangState::kWaitingForMembers;
  std::string sentence;        // why it waits: the gang's own sentence; empty when it does not wait
  std::string nodes_sentence;  // "0/4 nodes are available: …", or empty
  // Members by what they are doing. total = pending + bound (not yet running) + running + succeeded + failed + deleting
  // (and not ended).
  int64_t total = 0, pending = 0, bound = 0, running = 0, succeeded = 0, failed = 0, deleting = 0;
  base::Millis now_wall_ms = 0;
  // For each scheduling condition reason among pending members: how many ("Unschedulable": 3).
  std::map<std::string, int64_t> pending_reasons;
  friend bool operator==(const GangReport&, const GangReport&) = default;
};

struct QueueReport {
  const model::QueueSpec* spec = nullptr;  // never null
  // By bound and reserved members, with "pods"; of what some node has or the queue caps, for pods name others without
  // end.
  model::ResourceList allocated;
  // Gangs by state, for counters: those that it lets in and that are not whole are starting, or, if some members run,
  // incomplete.
  int64_t pending = 0, starting = 0, incomplete = 0, running = 0, finished = 0;
  base::Millis now_wall_ms = 0;
};

}  // namespace tutti::dialects
