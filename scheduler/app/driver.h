// SPDX-License-Identifier: Apache-2.0
// Driver: runs core::Scheduler on one thread from a mailbox that others fill, in real time.
//
// Thread safety: Run() on the thread that owns the scheduler; everything else from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/mailbox.h"
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
  // The records of now, or of a moment ago if the scheduler thread is busy for longer than a second.
  std::shared_ptr<const std::vector<observe::Decision>> Decisions();

 private:
  std::chrono::milliseconds Patience(const core::Scheduler& scheduler) const;
  void Cycle(core::Scheduler& scheduler, std::chrono::milliseconds patience);

  const base::Clock& clock_;
  base::Mailbox<cluster::FeedEvent> mailbox_;
  std::chrono::steady_clock::time_point next_cycle_;  // not before
  observe::Published<std::vector<observe::Decision>> decisions_;
  std::atomic<bool> stop_ = false, lost_ = false, synced_ = false, leading_ = false;
  std::atomic<base::Millis> last_cycle_ms_ = 0;
};

}  // namespace tutti::app
