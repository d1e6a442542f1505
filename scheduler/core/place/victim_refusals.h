// SPDX-License-Identifier: Apache-2.0
// VictimRefusals: for which shapes of gangs it is proven that no victims would help, and until when. Gangs of one shape
// and priority cost one search for victims, however many there are. Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/place/evictable.h"
#include "model/ids.h"

namespace tutti::core {

class VictimRefusals {
 public:
  VictimRefusals(Evictable& evictable, const base::Clock& clock) : evictable_(evictable), clock_(clock) {}

  // Drops all proofs, because changes may have been missed.
  void ReadAnew();
  // Tells whether it is proven that no victims would help. REQUIRES: nothing is speculated.
  bool Holds(const std::string& shape, int32_t priority);
  // Stores that this was proven for the gang just now.
  void Keep(const std::string& shape, int32_t priority, model::GangId gang);
  // Removes the proofs that may no longer hold, and returns the gang of each. What happened since the last call costs
  // what the touched nodes hold.
  std::vector<model::GangId> TakeDoubtful();

  bool empty() const { return proofs_.empty(); }

 private:
  using Key = std::pair<std::string, int32_t>;
  struct Proof {
    uint64_t made = 0;  // Evictable::now
    model::GangId gang;
  };
  static constexpr size_t kMostProofs = 4096;
  // No proof is believed for longer, as Evictable may not have seen all that happened.
  static constexpr base::Millis kAnewMs = 60'000;

  Evictable& evictable_;
  const base::Clock& clock_;
  base::Millis anew_ms_ = 0;  // monotonic; when all was last read again
  absl::flat_hash_map<Key, Proof> proofs_;
};

}  // namespace tutti::core
