// SPDX-License-Identifier: Apache-2.0
// RetrySchedule: which of the searches that were cut off is repeated next, and when.
//
// Such a search has cost a hundredth of a second, and it is not known what would help it: any event might. So one of
// them is repeated every 200 ms, a twentieth of the thread's time, and each of them a second after it was made. Next is
// the one that was made longest ago, whichever gang is ahead in the line: five that are due again after a second would
// else leave no turn to any other. So with n that wait, each has a turn within n times 200 ms. One thread.
#pragma once

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "model/ids.h"

namespace tutti::core {

class RetrySchedule {
 public:
  // Takes the gang's turn. Returns true if its search may be repeated now, and it does not wait any more; false: it
  // waits for its turn. `made_ms`: when the search was made of which the result may not hold any more.
  bool Take(model::GangId id, base::Millis made_ms, base::Millis now_ms);
  // Notes that a search for the gang was cut off now. Where that was its turn, the next one's comes later; a gang that
  // is new in the line, or changed, takes none from others.
  void OnCutOff(model::GangId id, base::Millis now_ms);
  // Takes the gang out, if it waits.
  void Leave(model::GangId id);

  // Returns when the next gang has its turn; nullopt: no search waits.
  std::optional<base::Millis> DueAt() const;
  // Returns the gang that has it. It waits on until it Takes or Leaves. REQUIRES: some gang waits.
  model::GangId Next() const { return by_age_.begin()->second; }
  size_t size() const { return by_age_.size(); }

 private:
  base::Millis free_ms_ = 0;  // no turn comes before
  model::GangId taken_;       // the gang that had the last one, and was not cut off since
  absl::btree_set<std::pair<base::Millis, model::GangId>> by_age_;
  absl::flat_hash_map<model::GangId, base::Millis> made_ms_;  // of those
};

}  // namespace tutti::core
