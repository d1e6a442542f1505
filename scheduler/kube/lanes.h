// SPDX-License-Identifier: Apache-2.0
// Lanes: the order in which waiting commands leave. The most worthy lane first; but while something less worthy has waited too long,
// every eighth place goes to what has waited longest behind it, so that no flood of binds starves a status. One thread.
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
  static constexpr base::Millis kAgedAfterMs = 3'000;
  static constexpr int kAgedShare = 8;

  void Push(cluster::Lane lane, uint64_t job, base::Millis now_ms);
  // The next to leave; nothing when all lanes are empty.
  std::optional<uint64_t> Pop(base::Millis now_ms);
  size_t size() const;
  size_t size(cluster::Lane lane) const { return lanes_[static_cast<size_t>(lane)].size(); }

 private:
  struct Waiting {
    uint64_t job;
    base::Millis since_ms;
  };
  std::array<std::deque<Waiting>, 3> lanes_;
  int since_aged_ = 0;  // places given since an aged one got its own
};

}  // namespace tutti::kube
