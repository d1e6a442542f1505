// SPDX-License-Identifier: Apache-2.0
// Driver: runs core::Scheduler on one thread from a mailbox that others fill, in real time.
//
// Thread safety: Run() on the thread that owns the scheduler; everything else from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/mailbox.h"
#include "base/mutex.h"
#include "cluster/ports.h"
#include "core/scheduler.h"
#include "observe/published.h"

namespace tutti::app {

class Driver final : public cluster::EventSink {
 public:
  explicit Driver(const base::Clock& clock) : clock_(clock) {}

  // Leadership{false} is Lose(): a lease that was won is lost, even if nobody got to lead on it.
  void Post(cluster::FeedEvent event) override;

  enum class Ending {
    kDrained,     // stopped; no bind was under way any more
    kUnfinished,  // stopped; some were, after `drain_ms`
    kLost,        // somebody else leads
  };
  // Cycles until Stop() or Lose(). After Stop() nothing is planned any more, and answers are waited for as long as the
  // scheduler is not quiet, `drain_ms` at most.
  Ending Run(core::Scheduler& scheduler, base::Millis drain_ms);

  void Stop();
  // Returns from Run at once: not a single further command may leave.
  void Lose();

  // For health and metrics pages.
  bool synced() const { return synced_; }
  bool leading() const { return leading_; }
  bool stopping() const { return stop_ || lost_; }
  // Since the last cycle began; how long the scheduler thread may be stuck.
  base::Millis SinceLastCycleMs() const { return clock_.MonotonicMs() - last_cycle_ms_; }
  // The records of now, or of the last time if the scheduler thread is too busy to make them in five seconds. Sorted,
  // of each gang one; of all, or of those in `ns` or called `name`, where that is not empty. What has changed since is
  // told by DecisionsAfter its sequence.
  observe::DecisionChanges Decisions(const std::string& ns = "", const std::string& name = "");
  // See Scheduler::DecisionsAfter. Tells some hundred changes at once, and none if the scheduler thread is too busy for
  // five seconds.
  std::optional<observe::DecisionChanges> DecisionsAfter(uint64_t sequence);
  // All pods of the cluster, likewise; null: none were ever made.
  std::shared_ptr<const core::Scheduler::PodList> Pods();

 private:
  std::chrono::milliseconds Patience(const core::Scheduler& scheduler) const;
  // Someone asked for something that is not made yet.
  bool Wanted() const;
  void Cycle(core::Scheduler& scheduler, std::chrono::milliseconds patience);
  // What somebody asked for and is made on the scheduler's thread, a part in each cycle.
  template <typename Records, typename Place>
  struct Collection {
    observe::Published<Records> shown;
    // Of the scheduler's thread: what is not complete; null: nothing.
    std::shared_ptr<Records> records;
    Place place{};
    uint64_t asked = 0;

    bool wanted() const { return records || shown.wanted() != 0; }
    // Goes on until `add` says that all is there, or the cycle has no more time.
    template <typename Add>
    void GoOn(Add add);
  };

  // One who asks for what has changed; both threads hold it, for the one may have waited long enough.
  struct Follower {
    uint64_t after = 0;
    std::promise<std::optional<observe::DecisionChanges>> told;
  };
  // Answers the follower that has waited longest.
  void TellFollower(const core::Scheduler& scheduler);

  const base::Clock& clock_;
  base::Mailbox<cluster::FeedEvent> mailbox_;
  std::chrono::steady_clock::time_point next_cycle_;  // not before
  struct DecisionList {
    uint64_t sequence = 0;  // of the last change before the first record was made
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
