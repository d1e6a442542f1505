// SPDX-License-Identifier: Apache-2.0
#include "app/driver.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

namespace tutti::app {
namespace {

using std::chrono::milliseconds;

// The longest time between two cycles, so that health and gauges stay current without events.
constexpr base::Millis kLongestSleepMs = 5'000;
// The least time between the starts of two cycles. Under a flood of events a cycle then takes many of them: a gang's
// status is computed once for all members that were just bound. The first event after a quiet moment does not wait.
constexpr milliseconds kCycleSpacing{2};

bool Leads(const cluster::FeedEvent& event) {
  const auto* leadership = std::get_if<cluster::Leadership>(&event);
  return leadership != nullptr && leadership->leading;
}

}  // namespace

void Driver::Post(cluster::FeedEvent event) {
  if (const auto* leadership = std::get_if<cluster::Leadership>(&event)) {
    // The lease is lost: another leader may already use the room that the core believes to be reserved.
    if (!leadership->leading && !stop_) Lose();
  }
  mailbox_.Post(std::move(event));
}

milliseconds Driver::Patience(const core::Scheduler& scheduler) const {
  if (views_.wanted()) return milliseconds(0);
  const auto deadline = scheduler.NextDeadline();
  const base::Millis wait = deadline ? *deadline - clock_.MonotonicMs() : kLongestSleepMs;
  return milliseconds(std::clamp<base::Millis>(wait, 0, kLongestSleepMs));
}

void Driver::Cycle(core::Scheduler& scheduler, milliseconds patience) {
  std::this_thread::sleep_until(next_cycle_);
  std::vector<cluster::FeedEvent> events = mailbox_.TakeAll(patience);
  if (lost_) return;
  if (stop_) std::erase_if(events, Leads);  // a late Leadership event must not start to lead
  next_cycle_ = std::chrono::steady_clock::now() + kCycleSpacing;
  last_cycle_ms_ = clock_.MonotonicMs();
  scheduler.RunOnce(events);
  const bool synced = scheduler.synced();
  if (!synced) unsynced_.Publish(std::make_shared<const std::string>(scheduler.WhyNotSynced()));
  synced_ = synced;
  leading_ = scheduler.leading();
  views_.Serve(scheduler);
}

std::string Driver::WhyNotSynced() const {
  if (synced_) return "";
  const auto said = unsynced_.Latest();
  return said ? *said : "nothing is listed yet";
}

Driver::Ending Driver::Run(core::Scheduler& scheduler, base::Millis drain_ms) {
  const Ending ending = RunToEnd(scheduler, drain_ms);
  views_.Close();
  return ending;
}

Driver::Ending Driver::RunToEnd(core::Scheduler& scheduler, base::Millis drain_ms) {
  last_cycle_ms_ = clock_.MonotonicMs();
  while (!stop_ && !lost_) Cycle(scheduler, Patience(scheduler));
  if (lost_) return Ending::kLost;
  Post(cluster::Leadership{.leading = false});
  const base::Millis until = clock_.MonotonicMs() + drain_ms;
  do {
    Cycle(scheduler, milliseconds(std::clamp<base::Millis>(until - clock_.MonotonicMs(), 0, 100)));
  } while (!lost_ && !scheduler.quiet() && clock_.MonotonicMs() < until);
  if (lost_) return Ending::kLost;
  return scheduler.quiet() ? Ending::kDrained : Ending::kUnfinished;
}

void Driver::Stop() {
  stop_ = true;
  mailbox_.Wake();
}

void Driver::Lose() {
  lost_ = true;
  mailbox_.Wake();
}

}  // namespace tutti::app
