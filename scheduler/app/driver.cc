// SPDX-License-Identifier: Apache-2.0
#include "app/driver.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace tutti::app {
namespace {

using std::chrono::milliseconds;

// Between cycles without an event: often enough that health and gauges are never old.
constexpr base::Millis kLongestSleepMs = 5'000;
constexpr milliseconds kDecisionsPatience{5'000};
// What collecting them may add to a cycle.
constexpr milliseconds kCollectAtOnce{2};
// A cycle begins no sooner after the one before, so that a flood of events is taken in handfuls: what is said of a gang
// is worked out once for all of its members that were just bound. The first event after a quiet moment waits for
// nothing.
constexpr milliseconds kCycleSpacing{2};

bool Leads(const cluster::FeedEvent& event) {
  const auto* leadership = std::get_if<cluster::Leadership>(&event);
  return leadership != nullptr && leadership->leading;
}

}  // namespace

void Driver::Post(cluster::FeedEvent event) {
  if (const auto* leadership = std::get_if<cluster::Leadership>(&event)) {
    // A lease that ran out: what the core believes is reserved may be somebody else's by now.
    if (!leadership->leading && !stop_) Lose();
  }
  std::string key = cluster::CoalesceKey(event);
  if (key.empty()) {
    mailbox_.Put(std::move(event));
  } else {
    mailbox_.PutKeyed(std::move(key), std::move(event));
  }
}

milliseconds Driver::Patience(const core::Scheduler& scheduler) const {
  if (decisions_.wanted() || pods_.wanted()) return milliseconds(0);
  const auto deadline = scheduler.NextDeadline();
  const base::Millis wait = deadline ? *deadline - clock_.MonotonicMs() : kLongestSleepMs;
  return milliseconds(std::clamp<base::Millis>(wait, 0, kLongestSleepMs));
}

template <typename Records, typename Place>
template <typename Add>
void Driver::Collection<Records, Place>::GoOn(Add add) {
  if (!records) {
    asked = shown.wanted();
    if (asked == 0) return;
    records = std::make_shared<Records>();
    place = {};
  }
  const auto until = std::chrono::steady_clock::now() + kCollectAtOnce;
  while (!add(&place, records.get()))
    if (std::chrono::steady_clock::now() >= until) return;
  shown.Publish(std::move(records), asked);
}

void Driver::Cycle(core::Scheduler& scheduler, milliseconds patience) {
  std::this_thread::sleep_until(next_cycle_);
  std::vector<cluster::FeedEvent> events = mailbox_.TakeAll(patience);
  if (lost_) return;
  if (stop_) std::erase_if(events, Leads);  // what comes too late would lead after all
  next_cycle_ = std::chrono::steady_clock::now() + kCycleSpacing;
  last_cycle_ms_ = clock_.MonotonicMs();
  scheduler.RunOnce(events);
  synced_ = scheduler.synced();
  leading_ = scheduler.leading();
  decisions_.GoOn([&](auto* place, auto* records) { return scheduler.AddDecisions(place, records); });
  pods_.GoOn([&](auto* place, auto* pods) { return scheduler.AddPods(place, pods); });
}

Driver::Ending Driver::Run(core::Scheduler& scheduler, base::Millis drain_ms) {
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

std::shared_ptr<const core::Scheduler::PodList> Driver::Pods() {
  return pods_.shown.Fresh(kDecisionsPatience, [this] { mailbox_.Wake(); });
}

std::vector<observe::Decision> Driver::Decisions(const std::string& ns, const std::string& name) {
  const auto all = decisions_.shown.Fresh(kDecisionsPatience, [this] { mailbox_.Wake(); });
  if (!all) return {};
  std::vector<const observe::Decision*> found;
  for (const observe::Decision& one : *all)
    if ((ns.empty() || one.gang.ns == ns) && (name.empty() || one.gang.name == name)) found.push_back(&one);
  std::ranges::stable_sort(found, {}, [](const observe::Decision* one) -> const model::GangKey& { return one->gang; });
  std::vector<observe::Decision> decisions;
  for (size_t i = 0; i < found.size(); ++i)  // of those about one gang, the last
    if (i + 1 == found.size() || found[i]->gang != found[i + 1]->gang) decisions.push_back(*found[i]);
  return decisions;
}

}  // namespace tutti::app
