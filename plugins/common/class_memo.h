// SPDX-License-Identifier: Apache-2.0
// ClassMemo: remembers what other classes mean to one class, computed once for each. Classes come and go, so it forgets
// all of them when they have become many.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "cluster/pod_class.h"

namespace tutti::plugins {

template <class T>
class ClassMemo {
 public:
  // Returns the memo of `other`; the first time it calls make(other). The result is valid until the next call.
  template <class Make>
  const T& Of(const cluster::PodClass& other, Make make) {
    if (const auto known = known_.find(other.id); known != known_.end()) return known->second;
    if (known_.size() >= kMost) {
      known_.clear();
      pointed_to_ = 0;
    }
    const T& made = known_.try_emplace(other.id, make(other)).first->second;
    if constexpr (requires { made.memory(); }) pointed_to_ += made.memory();
    return made;
  }

  // Returns the bytes held. A T that points to other memory has memory(), which returns its size.
  size_t memory() const { return known_.capacity() * sizeof(typename decltype(known_)::value_type) + pointed_to_; }

 private:
  static constexpr size_t kMost = 4096;
  absl::flat_hash_map<model::ClassId, T> known_;
  size_t pointed_to_ = 0;  // bytes that the values in known_ point to
};

}  // namespace tutti::plugins
