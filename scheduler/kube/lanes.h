// SPDX-License-Identifier: Apache-2.0
// Lanes: the order in which waiting commands leave. The most worthy lane first; but a lane whose oldest has waited too
// long is given a share of the places, so that no flood of binds starves it: of statuses and Events, each of which
// costs the API server as much as a bind, every thirty-second and every sixty-fourth. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "cluster/command.h"

namespace tutti::kube {

class Lanes {
 public:
  static constexpr base::Millis kAgedAfterMs = 4'000;
  static constexpr std::array<int, 4> kAgedShare = {1, 2, 32, 64};  // one place in so many

  void Push(cluster::Lane lane, uint64_t job, base::Millis now_ms);
  // The next to leave; nothing when all lanes are empty.
  std::optional<uint64_t> Pop(base::Millis now_ms);
  size_t size() const;
  size_t size(cluster::Lane lane) const { return lanes_[static_cast<size_t>(lane)].waiting.size(); }

 private:
  struct Waiting {
    uint64_t job;
    base::Millis since_ms;
  };
  struct Lane {
    std::deque<Waiting> waiting;
    int passed_over = 0;  // places given to others since its oldest became too old
  };
  std::array<Lane, 4> lanes_;
};

}  // namespace tutti::kube
