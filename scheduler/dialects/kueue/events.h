// SPDX-License-Identifier: Apache-2.0
// The Events about jobs and Workloads, with Kueue's reasons, sentences and reporters. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "dialects/dialect.h"
#include "dialects/kueue/workloads.h"

namespace tutti::dialects::kueue {

struct Announced {
  const Entry& entry;
  const GangReport& before;  // its instant is 0 the first time
  const GangReport& now;
  std::string eviction;              // the sentence about it, where it has to leave
  const Entry* preemptor = nullptr;  // the gang that comes in its place; null: none
  bool old_words = false;            // DialectSettings::kueue_0_8
};

void AnnounceSteps(const Announced& announced, std::vector<ObjectEvent>* out);

}  // namespace tutti::dialects::kueue
