// SPDX-License-Identifier: Apache-2.0
// RisingFit: finds the first gang, by priority and then age, that needs at most a budget, also where priorities change
// with time. One thread.
//
// It is a FirstFit for each slope. So a question costs as many of these as there are slopes, and mostly there is one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "model/gang_rank.h"
#include "model/ids.h"
#include "queue/first_fit.h"

namespace tutti::queue {

class RisingFit {
 public:
  // Adds the gang, or changes its rank and need.
  void Put(model::GangId gang, const model::GangRank& rank, int64_t need);
  // Removes the gang, if it is there.
  void Erase(model::GangId gang);
  // Returns the first gang at the instant (wall time) whose need is at most `budget`.
  std::optional<model::GangId> First(int64_t budget, base::Millis now_ms) const;

  bool empty() const { return level_.empty() && rising_.empty(); }
  // Returns the least need of all gangs. REQUIRES: there are gangs.
  int64_t least_need() const;

 private:
  FirstFit level_;                      // of slope 0
  std::map<int32_t, FirstFit> rising_;  // by slope; none is empty
};

}  // namespace tutti::queue
