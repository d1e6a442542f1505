// SPDX-License-Identifier: Apache-2.0
// sim/controllers/free_volumes.h - the volumes that are not claimed, by class and size, so that a claim's is found
// without a look at all of them.
//
// One thread: the store's owner.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "sim/store/store.h"

namespace tutti::sim {

class FreeVolumes {
 public:
  // As it is now: true if it is free.
  bool Put(const Json& volume);
  void Remove(const std::string& name);
  // The smallest that is of the claim's class, large enough and of its modes; of two of one size the first by name.
  Object SmallestFor(const Store& store, const Json& claim) const;

 private:
  using Place = std::pair<int64_t, std::string>;  // size, name
  std::map<std::string, std::set<Place>> by_class_;
  std::map<std::string, std::pair<std::string, Place>> known_;  // by name: class and place
};

}  // namespace tutti::sim
