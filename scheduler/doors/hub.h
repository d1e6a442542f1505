// SPDX-License-Identifier: Apache-2.0
// Hub: keeps a copy of all Decisions while they are read, and the last changes, so that many readers cost the
// scheduler's thread what one costs.
//
// One thread of its own follows the scheduler. Without readers for a while it lets the copy go. Thread-safe.
//
// Invariants
//   (1) the readers of a batch have seen all changes up to its sequence number, if they had seen those before it;
//   (2) kMostKept changes, and kMostBytes of them, are kept at most; only the last batch may be larger. A reader that
//   is further behind has to list again.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "doors/source.h"
#include "doors/table.h"

namespace tutti::doors {

class Hub {
 public:
  static constexpr size_t kMostKept = 16'384;
  static constexpr size_t kMostBytes = 64 << 20;

  // A WatchGangsResponse without a sequence, as JSON and as protobuf's bytes.
  struct Printed {
    std::string json, bytes;
    size_t size() const { return json.size() + bytes.size(); }
  };
  // A gang that changed, or is gone. Its members are not kept, as no watch tells them.
  struct Change {
    model::GangKey gang;
    bool gone = false;
    Printed all;  // for a reader that sees all namespaces
    // For other readers; empty: the same.
    Printed narrow = {};
    const Printed& ToReader(bool sees_all) const { return sees_all || narrow.json.empty() ? all : narrow; }
  };
  struct Batch {
    uint64_t sequence = 0;  // of its last change
    std::deque<Change> changes;
    size_t bytes = 0;
  };
  using Batches = std::vector<std::shared_ptr<const Batch>>;

  // `source` outlives this. `most_bytes`: see invariant (2).
  explicit Hub(Source& source, size_t most_bytes = kMostBytes);
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

  void Run();
  void Relist();
  // Takes up what has changed, not more often than ten times a second. False: changes are missing.
  bool Follow();
  // Adds the batch, and drops the oldest ones as long as there is too much.
  void Keep(std::shared_ptr<const Batch> batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LetGo() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until there is a copy. False: none came.
  bool AwaitCopy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Source& source_;
  const size_t most_bytes_;
  base::Mutex mutex_;
  base::Condition changed_;  // for readers
  base::Condition asked_;    // for the thread
  std::map<model::GangKey, std::shared_ptr<const observe::Decision>, observe::GangsByName> gangs_
      ABSL_GUARDED_BY(mutex_);
  bool has_copy_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;  // of the copy
  uint64_t from_ ABSL_GUARDED_BY(mutex_) = 0;      // changes after this one are kept
  size_t kept_ ABSL_GUARDED_BY(mutex_) = 0, kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::shared_ptr<const Batch>> batches_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const Table> table_ ABSL_GUARDED_BY(mutex_);  // of `sequence_`; null: to be made
  Instant table_until_ ABSL_GUARDED_BY(mutex_){};               // where it rises, it is made again by then
  Instant last_read_ ABSL_GUARDED_BY(mutex_){};
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;    // the copy
  uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;  // lists that the scheduler did not make
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Instant next_follow_{};  // the hub's thread only
  std::thread thread_;
};

}  // namespace tutti::doors
