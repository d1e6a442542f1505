// SPDX-License-Identifier: Apache-2.0
// Strangers: pods that name a gang, and a scheduler that is not served here. They are no members; but a gang that waits
// for members says how many there are, for a schedulerName is easily forgotten in one template of several.
//
// It holds an entry for each pod of other schedulers' gangs, and none for pods that are in no gang. One thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/gang.h"
#include "model/ids.h"

namespace tutti::core {

class Strangers {
 public:
  struct Name {
    model::GangKey gang;
    std::string scheduler;
    bool head = false;  // the pod is a head
  };
  // Stores what the pod names now; nullopt: it is gone, has ended, or names no gang. Returns what it named before.
  std::optional<Name> Put(model::PodId pod, std::optional<Name> name);
  // Returns the first schedulers by name, and how many pods of the gang name each.
  std::vector<std::pair<std::string, int64_t>> Of(const model::GangKey& gang) const;
  // Returns the scheduler that a head of the gang names; empty: there is no such head.
  std::string OfHead(const model::GangKey& gang) const;

 private:
  struct Count {
    int64_t pods = 0, heads = 0;
  };
  std::unordered_map<uint32_t, Name> by_pod_;
  std::map<model::GangKey, std::map<std::string, Count>> counts_;  // by gang, then scheduler
};

}  // namespace tutti::core
