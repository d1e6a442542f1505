// SPDX-License-Identifier: Apache-2.0
// Driver: runs core::Scheduler on one thread, in real time. Other threads fill its mailbox.
//
// Thread safety: Run() is called on the thread that owns the scheduler, everything else on any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "cluster/event_mailbox.h"
#include "cluster/ports.h"
#include "core/scheduler.h"
#include "observe/published.h"

namespace tutti::app {

class Driver final : public cluster::EventSink {
 public:
  explicit Driver(const base::Clock& clock) : clock_(clock) {}

  // Adds `event` to the mailbox. Leadership{false} acts as Lose(), unless Stop() was called. It does so even if this
  // process has not begun to lead.
  void Post(cluster::FeedEvent event) override;

  enum class Ending {
    kDrained,     // stopped, and no bind is under way
    kUnfinished,  // stopped, and after `drain_ms` a bind is still under way
    kLost,        // the lease is lost
  };
  // Runs cycles until Stop() or Lose(). After Stop() it plans nothing more, and waits for answers until the scheduler
  // is quiet, `drain_ms` at most.
  Ending Run(core::Scheduler& scheduler, base::Millis drain_ms);

  void Stop();
  // Makes Run return at once, without a further command.
  void Lose();

  // The state for health and metrics pages.
  bool synced() const { return synced_; }
  bool leading() const { return leading_; }
  bool stopping() const { return stop_ || lost_; }
  // Returns the time since the last cycle began: for so long the scheduler's thread may have been stuck.
  base::Millis SinceLastCycleMs() const { return clock_.MonotonicMs() - last_cycle_ms_; }
  // Returns one current record for each gang, sorted. `ns` and `name`, where not empty, restrict the gangs. If the
  // scheduler's thread does not make the records within five seconds, it returns the previous ones. DecisionsAfter
  // tells what has changed after their sequence.
  observe::DecisionChanges Decisions(const std::string& ns = "", const std::string& name = "");
  // See Scheduler::DecisionsAfter. Looks at some hundred changes at once, and at none if the scheduler's thread is too
  // busy for five seconds. `ns` and `name` restrict the gangs as above.
  std::optional<observe::DecisionChanges> DecisionsAfter(uint64_t sequence, const std::string& ns = "",
                                                         const std::string& name = "");
  // Returns all pods of the cluster in the same way; null if no list was ever made.
  std::shared_ptr<const core::Scheduler::PodList> Pods();

 private:
  std::chrono::milliseconds Patience(const core::Scheduler& scheduler) const;
  // Whether a reader waits for a list or for changes. The next cycle then begins at once.
  bool Wanted() const;
  void Cycle(core::Scheduler& scheduler, std::chrono::milliseconds patience);
  // A list that a reader asked for. The scheduler's thread makes it, a part in each cycle.
  template <typename Records, typename Place>
  struct Collection {
    observe::Published<Records> shown;
    // The list while it is incomplete; null: none is being made. The scheduler's thread only.
    std::shared_ptr<Records> records;
    Place place{};
    uint64_t asked = 0;

    bool wanted() const { return records || shown.wanted() != 0; }
    // Adds to the list until `add` says that it is complete, or the cycle has no more time.
    template <typename Add>
    void GoOn(Add add);
  };

  // A reader's question for what has changed. Its thread and the scheduler's both hold it, because the reader may give
  // up while the answer is made.
  struct Follower {
    uint64_t after = 0;
    std::promise<std::optional<observe::DecisionChanges>> told;
  };
  // Answers the follower that has waited longest.
  void TellFollower(const core::Scheduler& scheduler);

  const base::Clock& clock_;
  cluster::EventMailbox mailbox_;
  std::chrono::steady_clock::time_point next_cycle_;  // not before
  struct DecisionList {
    std::optional<uint64_t> sequence;  // of the last change before the list was begun
    std::deque<observe::Decision> records;
  };
  Collection<DecisionList, core::Scheduler::DecisionsPlace> decisions_;
  Collection<core::Scheduler::PodList, uint32_t> pods_;
  mutable base::Mutex followers_mutex_;
  std::deque<std::shared_ptr<Follower>> followers_ ABSL_GUARDED_BY(followers_mutex_);
  std::atomic<bool> stop_ = false, lost_ = false, synced_ = false, leading_ = false;
  std::atomic<base::Millis> last_cycle_ms_ = 0;
};

}  // namespace tutti::app
