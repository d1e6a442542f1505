// SPDX-License-Identifier: Apache-2.0
// Hub: keeps a copy of all Decisions while they are read, and the last changes, so that many readers cost the
// scheduler's thread what one costs.
//
// One thread of its own follows the scheduler. Without readers for a while it lets the copy go. Thread-safe.
//
// Invariants
//   (1) the readers of a batch have seen all changes up to its sequence number, if they had seen those before it;
//   (2) kMostKept changes are kept at most; a reader that is further behind has to list again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "doors/source.h"

namespace tutti::doors {

// One gang of a Table.
struct Row {
  std::shared_ptr<const observe::Decision> decision;  // never null
  // Among those that wait in its queue, by priority and then age; 0: it does not wait.
  int32_t position = 0, line = 0;
};

// All gangs as of some change, by namespace, name and dialect.
struct Table {
  uint64_t sequence = 0;
  std::vector<Row> rows;

  // The rows [first, second) of the namespace, or of one name in it.
  std::pair<size_t, size_t> RangeOf(const std::string& ns, const std::string& name = "") const;
};

// Returns the queue in which the gang stands in line.
std::string QueueOf(const observe::Decision& decision);
// Whether it stands there.
bool StandsInLine(const observe::Decision& decision);

class Hub {
 public:
  static constexpr size_t kMostKept = 16'384;

  // A gang that changed, or is gone.
  class Change {
   public:
    Change(model::GangKey gang, std::shared_ptr<const observe::Decision> decision)
        : gang_(std::move(gang)), decision_(std::move(decision)) {}
    const model::GangKey& gang() const { return gang_; }
    const std::shared_ptr<const observe::Decision>& decision() const { return decision_; }  // null: it is gone
    // Returns the WatchGangsResponse as JSON, without a sequence. It is made once for all readers.
    const std::string& Json() const;

   private:
    const model::GangKey gang_;
    const std::shared_ptr<const observe::Decision> decision_;
    mutable std::once_flag printed_;
    mutable std::string json_;
  };
  struct Batch {
    uint64_t sequence = 0;  // of its last change
    std::deque<Change> changes;
  };
  using Batches = std::vector<std::shared_ptr<const Batch>>;

  // `source` outlives this.
  explicit Hub(Source& source);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // Returns all gangs as they are now, or a little earlier. Null: the scheduler does not answer for some seconds.
  std::shared_ptr<const Table> List();
  // Returns the batches that follow this sequence number; none: nothing came within `patience`. nullopt: they are not
  // kept, and the reader has to list again.
  std::optional<Batches> After(uint64_t sequence, std::chrono::milliseconds patience);

 private:
  using Instant = std::chrono::steady_clock::time_point;
  // By namespace and name first, as tables are.
  struct ByName {
    bool operator()(const model::GangKey& a, const model::GangKey& b) const;
  };

  void Run();
  void Relist();
  // Takes up what has changed. False: changes are missing.
  bool Follow();
  void LetGo() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until there is a copy. False: none came.
  bool AwaitCopy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Source& source_;
  base::Mutex mutex_;
  base::Condition changed_;  // for readers
  base::Condition asked_;    // for the thread
  std::map<model::GangKey, std::shared_ptr<const observe::Decision>, ByName> gangs_ ABSL_GUARDED_BY(mutex_);
  bool has_copy_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;  // of the copy
  uint64_t from_ ABSL_GUARDED_BY(mutex_) = 0;      // changes after this one are kept
  size_t kept_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::shared_ptr<const Batch>> batches_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const Table> table_ ABSL_GUARDED_BY(mutex_);  // of `sequence_`; null: to be made
  Instant last_read_ ABSL_GUARDED_BY(mutex_){};
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;  // the copy
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tutti::doors
