// SPDX-License-Identifier: Apache-2.0
// What the core tells a dialect about one gang or queue, so that the dialect can say it in its own words.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/gang.h"
#include "observe/gang_state.h"

namespace tutti::dialects {

using observe::GangState;

// How far a gang has come with a queue that gives quota before there are pods (GangSpec::quota).
struct QuotaReport {
  std::optional<model::HeldQuota> has;  // what it was given; where `has->evicted`, it has to give it back
  // Why it has no quota: a reason's word as the queue's rule has it, and a sentence. Empty: it has quota, or has not
  // been looked at.
  std::string reason, message;
  bool lacks_queue = false;  // the queue that it names is not there, or lets nothing start
  // The same words where it has quota and asks for more. Empty: it does not, or was not looked at.
  std::string more_reason, more_message;
  // Why it has to leave: a word of the rule ("InClusterQueue"; "ClusterQueueStopped"; what it is barred by), a
  // sentence; and the uid of the gang that comes in its place; empty: there is none. They stay until it has quota
  // again.
  std::string evicted_reason, evicted_message, by_uid;
  int64_t evictions = 0;  // so far, in this process
  friend bool operator==(const QuotaReport&, const QuotaReport&) = default;
};

struct GangReport {
  const model::GangSpec* spec = nullptr;  // never null
  GangState state = GangState::kWaitingForMembers;
  std::string sentence;        // why it waits: the gang's own sentence; empty when it does not wait
  std::string nodes_sentence;  // "0/4 nodes are available: …", or empty
  // Members by what they are doing. total = pending + bound (not yet running) + running + succeeded + failed + deleting
  // (and not ended).
  int64_t total = 0, pending = 0, bound = 0, running = 0, succeeded = 0, failed = 0, deleting = 0;
  base::Millis now_wall_ms = 0;
  QuotaReport quota;  // of a gang with GangSpec::quota
  // For each role, how many members by node, of those that have a place (reserved or bound).
  std::map<std::string, std::map<std::string, int64_t>> nodes_by_role;
  // For each scheduling condition reason among pending members: how many ("Unschedulable": 3).
  std::map<std::string, int64_t> pending_reasons;
  friend bool operator==(const GangReport&, const GangReport&) = default;
};

// What a queue that gives quota before there are pods, or a queue of a namespace that leads to one, holds; of a cohort
// of such queues, its share.
struct SharingReport {
  struct Cell {
    std::string flavor, resource;
    int64_t nominal = 0, reserved = 0, used = 0;  // in the resource's units; `used`: by admitted gangs
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  std::string ns, name;  // `ns` empty: the queue itself
  bool is_cohort = false;
  // What it borrows of what it could borrow, in thousandths, by its weight; nullopt: queues do not share by that.
  std::optional<double> share;
  std::vector<Cell> cells;
  int64_t pending = 0, reserving = 0, admitted = 0;  // gangs
  base::Millis now_wall_ms = 0;
  friend bool operator==(const SharingReport&, const SharingReport&) = default;
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
