// SPDX-License-Identifier: Apache-2.0
// How much is read of a list of terms, constraints, ports or volumes in a pod's spec. Of longer ones nothing is looked
// at (plugins/common/size_limits.h), and an empty term, which is two bytes in an object, is up to two hundred in
// memory.
#pragma once

#include <cstddef>
#include <vector>

namespace tutti::model {

inline constexpr size_t kMostRead = 257;

template <typename T>
bool Full(const std::vector<T>& list) {
  return list.size() >= kMostRead;
}

template <typename T>
void Cut(std::vector<T>* list) {
  if (Full(*list)) list->resize(kMostRead);
}

}  // namespace tutti::model
