// SPDX-License-Identifier: Apache-2.0
// Lanes: the order in which waiting commands are sent. The most important lane is first. A lane whose oldest command
// waited too long gets a share of the places, so that a flood of binds cannot starve it. One thread.
//
// An Event costs the API server as much CPU as a bind (1.2 to 2 ms with etcd's), and a PATCH of a custom resource three
// times that (4 ms). So these shares are small.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "cluster/command.h"

namespace tutti::kube {

// Whether no gang's start waits for commands of this lane.
inline bool InBackground(cluster::Lane lane) { return lane >= cluster::Lane::kStatus; }

class Lanes {
 public:
  static constexpr base::Millis kAgedAfterMs = 4'000;
  static constexpr std::array<int, 7> kAgedShare = {1, 2, 2, 4, 32, 64, 128};  // a share of 1/N of the places

  void Push(cluster::Lane lane, uint64_t job, base::Millis now_ms);
  // Takes out the next command. Takes one of the background only if it has waited since `background_since_ms` or
  // longer. Nothing when there is none.
  std::optional<uint64_t> Pop(base::Millis now_ms, base::Millis background_since_ms);
  // Returns since when the oldest command of the background waits; nothing when none does.
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
    int passed_over = 0;  // places that other lanes got since its oldest waited too long
  };
  std::array<Lane, kAgedShare.size()> lanes_;
};

}  // namespace tutti::kube
