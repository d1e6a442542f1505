// SPDX-License-Identifier: Apache-2.0
// Lanes: the order in which waiting commands leave. The most worthy lane first; but a lane whose oldest has waited too
// long is given a share of the places, so that no flood of binds starves it. One thread.
//
// An Event costs the API server as much as a bind, and a PATCH of a custom resource three times that (4 ms of CPU,
// etcd's included, against 1.2 to 2): hence the small shares.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "cluster/command.h"

namespace tutti::kube {

// What nobody's start waits for.
inline bool InBackground(cluster::Lane lane) { return lane >= cluster::Lane::kStatus; }

class Lanes {
 public:
  static constexpr base::Millis kAgedAfterMs = 4'000;
  static constexpr std::array<int, 5> kAgedShare = {1, 2, 32, 64, 128};  // one place in so many

  void Push(cluster::Lane lane, uint64_t job, base::Millis now_ms);
  // The next to leave, of the background only what has waited since `background_since_ms`; nothing when there is none.
  std::optional<uint64_t> Pop(base::Millis now_ms, base::Millis background_since_ms);
  // Since when the background waits; nothing when it does not.
  std::optional<base::Millis> BackgroundSince() const;
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
  std::array<Lane, kAgedShare.size()> lanes_;
};

}  // namespace tutti::kube
