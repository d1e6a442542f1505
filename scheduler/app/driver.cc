// SPDX-License-Identifier: Apache-2.0
#include "app/driver.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace tutti::app {
namespace {

using std::chrono::milliseconds;

// The longest time between two cycles, so that health and gauges stay current without events.
constexpr base::Millis kLongestSleepMs = 5'000;
constexpr milliseconds kDecisionsPatience{5'000};
// Changes that are told in one cycle; some two milliseconds.
constexpr size_t kChangesAtOnce = 256;
// The most that collecting records may add to one cycle.
constexpr milliseconds kCollectAtOnce{2};
// The least time between the starts of two cycles. Under a flood of events a cycle then takes many of them: a gang's
// status is computed once for all members that were just bound. The first event after a quiet moment does not wait.
constexpr milliseconds kCycleSpacing{2};

bool Leads(const cluster::FeedEvent& event) {
  const auto* leadership = std::get_if<cluster::Leadership>(&event);
  return leadership != nullptr && leadership->leading;
}

// Whether the gang is in `ns` and called `name`; an empty one does not restrict it.
bool IsMeant(const model::GangKey& gang, const std::string& ns, const std::string& name) {
  return (ns.empty() || gang.ns == ns) && (name.empty() || gang.name == name);
}

}  // namespace

void Driver::Post(cluster::FeedEvent event) {
  if (const auto* leadership = std::get_if<cluster::Leadership>(&event)) {
    // The lease is lost: another leader may already use the room that the core believes to be reserved.
    if (!leadership->leading && !stop_) Lose();
  }
  mailbox_.Post(std::move(event));
}

bool Driver::Wanted() const {
  if (decisions_.wanted() || pods_.wanted()) return true;
  const base::MutexLock lock(followers_mutex_);
  return !followers_.empty();
}

milliseconds Driver::Patience(const core::Scheduler& scheduler) const {
  if (Wanted()) return milliseconds(0);
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
  if (stop_) std::erase_if(events, Leads);  // a late Leadership event must not start to lead
  next_cycle_ = std::chrono::steady_clock::now() + kCycleSpacing;
  last_cycle_ms_ = clock_.MonotonicMs();
  scheduler.RunOnce(events);
  synced_ = scheduler.synced();
  leading_ = scheduler.leading();
  decisions_.GoOn([&](auto* place, DecisionList* list) {
    if (!list->sequence) list->sequence = scheduler.decision_sequence();
    return scheduler.AddDecisions(place, &list->records);
  });
  pods_.GoOn([&](auto* place, auto* pods) { return scheduler.AddPods(place, pods); });
  TellFollower(scheduler);
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

void Driver::TellFollower(const core::Scheduler& scheduler) {
  std::shared_ptr<Follower> follower;
  {
    const base::MutexLock lock(followers_mutex_);
    if (followers_.empty()) return;
    follower = std::move(followers_.front());
    followers_.pop_front();
  }
  follower->told.set_value(scheduler.DecisionsAfter(follower->after, kChangesAtOnce));
}

std::optional<observe::DecisionChanges> Driver::DecisionsAfter(uint64_t sequence, const std::string& ns,
                                                               const std::string& name) {
  const auto follower = std::make_shared<Follower>();
  follower->after = sequence;
  {
    const base::MutexLock lock(followers_mutex_);
    followers_.push_back(follower);
  }
  mailbox_.Wake();
  auto told = follower->told.get_future();
  if (told.wait_for(kDecisionsPatience) != std::future_status::ready) {
    const base::MutexLock lock(followers_mutex_);
    std::erase(followers_, follower);
    return observe::DecisionChanges{.sequence = sequence};
  }
  std::optional<observe::DecisionChanges> changes = told.get();
  if (!changes) return std::nullopt;
  std::erase_if(changes->decisions, [&](const observe::Decision& one) { return !IsMeant(one.gang, ns, name); });
  std::erase_if(changes->gone, [&](const model::GangKey& gang) { return !IsMeant(gang, ns, name); });
  return changes;
}

observe::DecisionChanges Driver::Decisions(const std::string& ns, const std::string& name) {
  const auto all = decisions_.shown.Fresh(kDecisionsPatience, [this] { mailbox_.Wake(); });
  if (!all) return {};
  std::vector<const observe::Decision*> found;
  for (const observe::Decision& one : all->records)
    if (IsMeant(one.gang, ns, name)) found.push_back(&one);
  std::ranges::stable_sort(found, {}, [](const observe::Decision* one) -> const model::GangKey& { return one->gang; });
  observe::DecisionChanges list{.sequence = all->sequence.value_or(0)};
  for (size_t i = 0; i < found.size(); ++i)  // of those about one gang, the last
    if (i + 1 == found.size() || found[i]->gang != found[i + 1]->gang) list.decisions.push_back(*found[i]);
  return list;
}

}  // namespace tutti::app
