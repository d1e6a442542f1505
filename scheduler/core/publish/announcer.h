// SPDX-License-Identifier: Apache-2.0
// Announcer: tells the observer (metrics, the log) what happened to a gang. Does nothing if there is no observer.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/gangs/gang_book.h"
#include "observe/decision.h"

namespace tutti::core {

class Announcer {
 public:
  using Step = observe::Observer::Step;
  using Instant = std::chrono::steady_clock::time_point;

  Announcer(observe::Observer* observer, const cluster::ClusterState& state, const GangBook& book,
            const base::Clock& clock)
      : observer_(observer), state_(state), book_(book), clock_(clock) {}

  // Reports a step of the gang. `member` and `node`: the member and the node that the step concerns, if any.
  void Happened(const Gang& gang, Step step, std::string_view why = {}, const Member* member = nullptr,
                std::string_view node = {}) const;
  // Reports one search for `members` members that began at `started`.
  void Attempted(const Gang& gang, std::string_view result, int64_t members, Instant started) const;
  void Bound(const Gang& gang, const Member& member, const std::string& node) const;
  void Whole(const Gang& gang) const;
  // Reports that the pod, which may be of no gang, is evicted.
  void Evicted(model::PodId pod, std::string_view why) const;
  // Reports that so many members are evicted.
  void Undone(const Gang& gang, int64_t members, const std::string& why) const;

  // Reports what happened to the gang in a queue that gives quota before there are pods; `by`: see QuotaStep, null:
  // none.
  void Quota(const Gang& gang, observe::Observer::QuotaStep::Kind kind, std::string_view queue,
             std::string_view reason = {}, const Gang* by = nullptr, std::string_view by_queue = {}) const;
  // Reports that the gang's pods are ready. REQUIRES: it has quota.
  void Ready(const Gang& gang, std::string_view queue) const;
  // Reports how often the first of such queues were tried, since `started`: see Observer.
  void QuotaAttempts(int64_t fruitful, int64_t fruitless, Instant started) const;
  // Reports how a queue that gives quota before there are pods stands now.
  void Queue(const observe::Observer::QuotaQueue& queue) const {
    if (observer_) observer_->OnQuotaQueue(queue);
  }
  // Reports that victims were sought, and so many chosen.
  void Preempted(size_t victims) const {
    if (observer_) observer_->OnPreemption(static_cast<int64_t>(victims));
  }

  // Reports that the gang had waited for long and was tried again though nothing had happened. `placed`: it got nodes.
  void Flushed(const Gang& gang, bool placed) const {
    if (observer_) observer_->OnFlushed(gang.key, placed);
  }

  // Returns the real time, for metrics alone: no decision reads it.
  static Instant Now() { return std::chrono::steady_clock::now(); }

 private:
  observe::Observer* const observer_;
  const cluster::ClusterState& state_;
  const GangBook& book_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
