// SPDX-License-Identifier: Apache-2.0
// Bounds: how many members of a demand there is room for at most, each class for itself, as the nodes are now.
//
// O(nodes) for each class, once. Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "core/place/problem.h"
#include "core/place/rankings.h"

namespace tutti::core {

class Bounds {
 public:
  // `problem` and `rankings` outlive it. REQUIRES: nothing is placed or taken back while it is used.
  Bounds(const Problem& problem, Rankings& rankings);

  // Returns a bound for all members of the demand's kinds, also those that demands before it ask for.
  int64_t Most(const Demand& demand);

 private:
  int64_t RoomFor(const std::shared_ptr<const cluster::PodClass>& pod_class);

  const Problem& problem_;
  Rankings& rankings_;
  std::vector<const cluster::PodClass*> classes_;  // of all kinds, by id
  absl::flat_hash_map<const cluster::PodClass*, int64_t> room_of_;
};

}  // namespace tutti::core
