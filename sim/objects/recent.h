// SPDX-License-Identifier: Apache-2.0
// sim/objects/recent.h - the last few values, the last one used first: what is made of a template is found again by the
// next object that comes of it, and no more is kept than a few templates take.
//
// One thread.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace tutti::sim {

template <class T>
class Recent {
 public:
  // The first of which `is` holds; null: none. Good until the next Put.
  template <class Is>
  T* Find(Is&& is) {
    const auto at = std::find_if(values_.begin(), values_.end(), is);
    if (at == values_.end()) return nullptr;
    std::rotate(values_.begin(), at, at + 1);
    return &values_.front();
  }
  T& Put(T value) {
    if (values_.size() == kMost) values_.pop_back();
    return *values_.insert(values_.begin(), std::move(value));
  }
  void Clear() { values_.clear(); }

 private:
  static constexpr size_t kMost = 8;
  std::vector<T> values_;
};

}  // namespace tutti::sim
