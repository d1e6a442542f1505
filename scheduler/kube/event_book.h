// SPDX-License-Identifier: Apache-2.0
// EventBook: which Events have been written, so that a repeat becomes a count on the one that is there.
//
// A repeat is the same reason, note and type about the same object by the same controller within kForgetAfterMs. The
// first is created, the second turns it into a series at once, later ones are counted and written every kQuietMs.
// One thread.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "cluster/command.h"

namespace tutti::kube {

struct EventRecord {
  std::string name, ns;
  base::Millis first_wall_ms = 0, last_wall_ms = 0;
  base::Millis seen_ms = 0;         // monotonic
  base::Millis last_write_ms = -1;  // monotonic; -1: never
  int count = 0;
  int written_count = 0;    // as the API server has it; 0: not created yet
  bool on_its_way = false;  // a job for it is waiting or in flight
};

class EventBook {
 public:
  static constexpr base::Millis kForgetAfterMs = 6 * 60'000;
  static constexpr base::Millis kQuietMs = 30'000;
  static constexpr size_t kMost = 4096;

  // Counts `event`, and returns its record.
  std::shared_ptr<EventRecord> Note(const cluster::EmitEvent& event, base::Millis now_ms, base::Millis wall_ms);

 private:
  void Forget(base::Millis now_ms);

  struct Noted {
    std::string key;
    std::shared_ptr<EventRecord> record;
  };
  std::unordered_map<std::string, std::shared_ptr<EventRecord>> records_;
  std::deque<Noted> by_age_;  // of the first occurrence
  uint64_t last_name_ = 0;
};

}  // namespace tutti::kube
