// SPDX-License-Identifier: Apache-2.0
// RefusedPods: how many pods wait, by profile and by the plugins that refused them. A gang keeps the id of its reason
// with its count, so that what it added can be taken back.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/gangs/gang.h"
#include "observe/decision.h"

namespace tutti::core {

class RefusedPods {
 public:
  using Id = uint32_t;  // 0: no reason's

  // Returns the id of (profile, plugins that refused). What is refused before any node is asked has a name too:
  // "Queue", and kube-scheduler's "GangScheduling" where members lack.
  Id Of(std::string_view profile, const Refusal& refusal);
  void Add(Id id, int64_t pods);
  // Returns what changed since the last call; null: nothing.
  const std::vector<observe::Observer::RefusedPods>* Changed();

 private:
  uint64_t Bit(std::string_view plugin);

  std::vector<std::string> plugins_;  // by bit
  absl::flat_hash_map<std::pair<std::string, uint64_t>, Id> ids_;
  std::vector<observe::Observer::RefusedPods> counts_;  // by id, less one
  bool changed_ = false;
};

}  // namespace tutti::core
