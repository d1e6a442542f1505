// SPDX-License-Identifier: Apache-2.0
// Observers: passes each call on to several observers.
#pragma once

#include <utility>
#include <vector>

#include "observe/decision.h"

namespace tutti::observe {

class Observers final : public Observer {
 public:
  // None is null; all outlive this.
  explicit Observers(std::vector<Observer*> watchers) : watchers_(std::move(watchers)) {}

  void OnAttempt(std::string_view profile, std::string_view result, int64_t members, double seconds) override {
    for (Observer* one : watchers_) one->OnAttempt(profile, result, members, seconds);
  }
  void OnBound(double waited_seconds, int64_t attempts) override {
    for (Observer* one : watchers_) one->OnBound(waited_seconds, attempts);
  }
  void OnWhole(double seconds, int64_t members) override {
    for (Observer* one : watchers_) one->OnWhole(seconds, members);
  }
  void OnUndone(int64_t members) override {
    for (Observer* one : watchers_) one->OnUndone(members);
  }
  void OnPreemption(int64_t victims) override {
    for (Observer* one : watchers_) one->OnPreemption(victims);
  }
  void OnFlushed(const model::GangKey& gang, bool placed) override {
    for (Observer* one : watchers_) one->OnFlushed(gang, placed);
  }
  void OnFilledUp() override {
    for (Observer* one : watchers_) one->OnFilledUp();
  }
  void OnHappening(const Happening& happening) override {
    for (Observer* one : watchers_) one->OnHappening(happening);
  }
  void OnQuota(const QuotaStep& step) override {
    for (Observer* one : watchers_) one->OnQuota(step);
  }
  void OnPodsReady(const PodsReady& ready) override {
    for (Observer* one : watchers_) one->OnPodsReady(ready);
  }
  void OnQuotaAttempts(const QuotaAttempts& attempts) override {
    for (Observer* one : watchers_) one->OnQuotaAttempts(attempts);
  }
  void OnQuotaQueue(const QuotaQueue& queue) override {
    for (Observer* one : watchers_) one->OnQuotaQueue(queue);
  }
  void OnCycle(double seconds, int64_t events, const Gauges& gauges) override {
    for (Observer* one : watchers_) one->OnCycle(seconds, events, gauges);
  }

 private:
  const std::vector<Observer*> watchers_;
};

}  // namespace tutti::observe
