// SPDX-License-Identifier: Apache-2.0
// VictimRefusals: for which shapes of gangs it is proven that no victims would help, and until when. Gangs of one shape
// and priority cost one search for victims, however many there are. Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/place/evictable.h"

namespace tutti::core {

class VictimRefusals {
 public:
  VictimRefusals(Evictable& evictable, const base::Clock& clock) : evictable_(evictable), clock_(clock) {}

  // Has all nodes read again, because changes may have been missed.
  void ReadAnew();
  // Tells whether it is proven that no victims would help. REQUIRES: nothing is speculated.
  bool Holds(const std::string& shape, int32_t priority);
  // Tells whether some pod of a priority below this might go, and does not leave already. Without one nothing that
  // others give up makes a difference to victims. REQUIRES: nothing is speculated.
  bool AnyMightGo(int32_t below);
  // Stores that this was proven just now for gangs of this shape and priority.
  void Keep(const std::string& shape, int32_t priority);
  // Removes the proofs that may no longer hold, and returns of which priorities they were. What happened since the last
  // call costs what the touched nodes hold, and a look at each priority.
  std::vector<int32_t> TakeDoubtful();

 private:
  struct Proof {
    uint64_t made = 0;         // Evictable::now
    base::Millis made_ms = 0;  // monotonic
  };
  // The proofs of one priority. None of them was made before `oldest`.
  struct Level {
    uint64_t oldest = 0;
    absl::flat_hash_map<std::string, Proof> proofs;  // by shape
  };
  static constexpr size_t kMostProofs = 4096;  // of one priority
  static constexpr size_t kMostLevels = 1024;
  // No proof is believed for longer, as Evictable may not have seen all that happened.
  static constexpr base::Millis kAnewMs = 60'000;

  Evictable& evictable_;
  const base::Clock& clock_;
  base::Millis anew_ms_ = 0;  // monotonic; when all was last read again
  std::map<int32_t, Level> levels_;
};

}  // namespace tutti::core
