// SPDX-License-Identifier: Apache-2.0
// Profile: the plugins that serve one schedulerName, in order, with their weights.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/plugin.h"

namespace tutti::framework {

struct WeightedScore {
  std::shared_ptr<const Score> plugin;
  int64_t weight = 1;
};

struct Profile {
  std::string scheduler_name;
  std::vector<std::shared_ptr<const Filter>> filters;  // the first refusal names the plugin
  std::vector<WeightedScore> scores;
};

}  // namespace tutti::framework
