// SPDX-License-Identifier: Apache-2.0
// Driver: runs core::Scheduler on one thread, in real time. Other threads fill its mailbox.
//
// Thread safety: Run() is called on the thread that owns the scheduler, everything else on any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "app/views.h"
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
  // Says which kinds are not listed yet; empty: it is synced.
  std::string WhyNotSynced() const;
  bool leading() const { return leading_; }
  bool stopping() const { return stop_ || lost_; }
  // Returns the time since the last cycle began: for so long the scheduler's thread may have been stuck.
  base::Millis SinceLastCycleMs() const { return clock_.MonotonicMs() - last_cycle_ms_; }
  // What the scheduler knows, for other threads.
  Views& views() { return views_; }

 private:
  std::chrono::milliseconds Patience(const core::Scheduler& scheduler) const;
  Ending RunToEnd(core::Scheduler& scheduler, base::Millis drain_ms);
  void Cycle(core::Scheduler& scheduler, std::chrono::milliseconds patience);

  const base::Clock& clock_;
  cluster::EventMailbox mailbox_;
  std::chrono::steady_clock::time_point next_cycle_;  // not before
  observe::Published<std::string> unsynced_;
  Views views_{[this] { mailbox_.Wake(); }};
  std::atomic<bool> stop_ = false, lost_ = false, synced_ = false, leading_ = false;
  std::atomic<base::Millis> last_cycle_ms_ = 0;
};

}  // namespace tutti::app
