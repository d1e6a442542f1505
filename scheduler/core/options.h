// SPDX-License-Identifier: Apache-2.0
// Options: what the core is told once, when it is made.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/extenders.h"
#include "framework/profile.h"

namespace tutti::core {

// podMaxInUnschedulablePodsDuration of kube-scheduler.
inline constexpr base::Millis kFlushAfterMs = 300'000;

struct Options {
  // One per schedulerName served; pods of other names are counted where they run and otherwise left alone.
  std::vector<framework::Profile> profiles;

  // A gang that is half bound is completed within this time, or undone (kRepair), or left as it is (kKeep).
  enum class Policy { kRepair, kKeep } policy = Policy::kRepair;
  base::Millis repair_timeout_ms = 60'000;
  // The time that one bind may take; without an answer it is sent again then, and its room stays held.
  base::Millis bind_timeout_ms = 10'000;
  // A node that refused a member's bind is tried again for it after the first, then twice as long each time, until a
  // bind of its gang is accepted.
  base::Millis pod_initial_backoff_ms = 1'000, pod_max_backoff_ms = 10'000;
  // What has waited for so long is tried again though nothing has happened that it waits for; 0: never. A gang that is
  // placed by that alone should have been woken before.
  base::Millis flush_after_ms = 0;
  // The PodScheduled reason of a gang that waits only for quota.
  std::string quota_reason = "Unschedulable";
  // Asked in this order about the pods that they are interested in.
  std::vector<cluster::Extender> extenders;
  // Figures in a waiting gang's reason are so old at most, while fewer than 200 gangs wait; else five times that.
  base::Millis figures_ms = 1'000;
  // Bound on the memory of rankings.
  size_t ranking_bytes = size_t{256} << 20;
};

}  // namespace tutti::core
