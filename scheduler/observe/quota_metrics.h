// SPDX-License-Identifier: Apache-2.0
// QuotaMetrics: what /metrics has of queues that give quota before there are pods, of the queues of namespaces that lead
// to them, and of their cohorts, under the names that dashboards of Kueue ask for.
//
// The scheduler's thread only.
#pragma once

#include <prometheus/registry.h>

#include <memory>

#include "observe/decision.h"

namespace tutti::observe {

class QuotaMetrics {
 public:
  // Adds its families to the registry, which must outlive this.
  explicit QuotaMetrics(prometheus::Registry& registry);
  ~QuotaMetrics();

  void Count(const Observer::QuotaStep& step);
  void Count(const Observer::PodsReady& ready);
  void Count(const Observer::QuotaAttempts& attempts);
  // Shows the queue as it stands; a queue that is gone is not shown any more.
  void Show(const Observer::QuotaQueue& queue);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace tutti::observe
