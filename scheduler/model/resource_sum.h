// SPDX-License-Identifier: Apache-2.0
// ResourceSum: what many pods ask for together, by resource. It is exact, however much that is, so that what is taken
// away leaves what was there before; what a reader sees of it stops at the largest int64.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "model/resource_list.h"

namespace tutti::model {

class ResourceSum {
 public:
  void Add(const ResourceList& amounts);
  void Add(const ResourceSum& other);
  void Subtract(const ResourceList& amounts);  // CHECKs that no sum falls below zero

  // 0 when absent; the largest int64 stands for more.
  int64_t Get(std::string_view name) const;
  ResourceList Seen() const;  // all that are not zero
  bool empty() const { return sums_.empty(); }

 private:
  // Of more pods than there can be, each of the largest amount there is.
  __extension__ using Wide = __int128;
  void Shift(std::string_view name, Wide by);

  std::map<std::string, Wide, std::less<>> sums_;  // without zeros
};

}  // namespace tutti::model
