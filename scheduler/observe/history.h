// SPDX-License-Identifier: Apache-2.0
// History: the last events of all gangs, and of each gang by itself.
//
// Memory is bounded: the event that happened last the longest ago is dropped first, and one gang has kMostOfGang at
// most. Equal steps of a gang in a row are one event that counts them, such as a wait for the same reason, or binds.
//
// Thread safety: the scheduler's thread adds events; any thread reads.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "observe/decision.h"

namespace tutti::observe {

struct HistoryEvent {
  base::Millis at_ms = 0;    // wall time; of the first, if there were several
  base::Millis last_ms = 0;  // of the last
  std::string_view step;     // "waits", "bound", "started", "undone", "evicted", "gone", "quota-reserved", ...
  int64_t times = 1;         // in a row
  std::string reason, message, pod, node, queue;  // of the last
  int64_t members = 0;
  double seconds = 0;                // started: since all of its minimum existed
  std::optional<model::GangKey> by;  // quota-evicted: the gang that comes in its place
};

class History final : public Observer {
 public:
  static constexpr size_t kKept = 32'768;  // events; some 10 MB
  static constexpr size_t kMostOfGang = 256;

  // `clock` outlives this.
  explicit History(const base::Clock& clock, size_t kept = kKept)
      : clock_(clock), kept_(kept), whole_from_ms_(clock.WallMs()) {}

  void OnHappening(const Happening& happening) override;
  void OnQuota(const QuotaStep& step) override;

  struct OfGang {
    model::GangKey gang;
    std::vector<HistoryEvent> events;  // the oldest first
  };
  struct Found {
    base::Millis whole_from_ms = 0;  // wall time; no later event is missing
    std::vector<OfGang> gangs;       // by dialect
  };
  // Returns the events of the gangs of this namespace and name; of any dialect if `dialect` is empty.
  Found Of(const std::string& ns, const std::string& name, const std::string& dialect) const;

 private:
  struct Record;
  using Records = std::map<model::GangKey, Record, GangsByName>;
  using Order = std::list<Records::iterator>;
  struct Kept {
    HistoryEvent event;
    Order::iterator place;
  };
  struct Record {
    std::deque<Kept> events;         // the oldest first, and never none
    base::Millis whole_from_ms = 0;  // no later event of this gang is missing; 0: none was dropped for it alone
  };

  void Add(const model::GangKey& gang, HistoryEvent event);
  // Drops the gang's first event.
  void DropFirst(Records::iterator of, base::Millis* whole_from_ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const base::Clock& clock_;
  const size_t kept_;
  mutable base::Mutex mutex_;
  base::Millis whole_from_ms_ ABSL_GUARDED_BY(mutex_);
  Records records_ ABSL_GUARDED_BY(mutex_);
  Order order_ ABSL_GUARDED_BY(mutex_);  // the gang of each event, by when it happened last
};

}  // namespace tutti::observe
