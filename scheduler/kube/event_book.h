// SPDX-License-Identifier: Apache-2.0
// EventBook: remembers the Events that were written, so that a repeat raises the count of the existing one.
//
// A repeat has the same reason, note, type, object and controller as an Event within kForgetAfterMs. The first Event is
// created. The second turns it into a series at once. Later ones are counted, and the count is written every kQuietMs.
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
  int written_count = 0;    // the count in the API server; 0: not created yet
  bool on_its_way = false;  // a job that writes it waits or is in flight
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
