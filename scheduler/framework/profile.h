// SPDX-License-Identifier: Apache-2.0
// Profile: the plugins that serve one schedulerName, in order, with their weights.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "framework/plugin.h"

namespace tutti::framework {

struct WeightedScore {
  std::shared_ptr<const Score> plugin;
  int64_t weight = 1;
};

// DefaultPreemption's arguments: on how many nodes victims are sought for one pod. Of the nodes that others' leaving
// could change, so many per cent, and at least so many.
struct PreemptionArgs {
  int32_t min_candidates_percent = 10, min_candidates = 100;
};

struct Profile {
  std::string scheduler_name;
  std::vector<std::shared_ptr<const Filter>> filters;  // the first refusal names the plugin
  std::vector<WeightedScore> scores;
  std::optional<PreemptionArgs> preemption;  // absent: no pod is evicted for another
  base::Millis volume_timeout_ms = 600'000;  // how long the volumes of a placed pod may take to be bound

  // Tells whether some plugin reads which Services and controllers select a pod.
  bool ReadsSelections() const {
    return std::ranges::any_of(filters, [](const auto& filter) { return filter->ReadsSelections(); }) ||
           std::ranges::any_of(scores, [](const WeightedScore& score) { return score.plugin->ReadsSelections(); });
  }
};

// Returns the profile that serves `scheduler_name`; null: none does.
inline const Profile* FindProfile(const std::vector<Profile>& profiles, std::string_view scheduler_name) {
  const auto at = std::ranges::find(profiles, scheduler_name, &Profile::scheduler_name);
  return at == profiles.end() ? nullptr : &*at;
}

}  // namespace tutti::framework
