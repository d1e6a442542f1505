// SPDX-License-Identifier: Apache-2.0
// ClassMemo: what other classes mean to one, worked out once for each. Classes come and go for as long as a cluster
// lives, so it begins anew when they have become many.
#pragma once

#include <absl/container/flat_hash_map.h>

#include "cluster/pod_class.h"

namespace tutti::plugins {

template <class T>
class ClassMemo {
 public:
  // make(other) at the first time. Valid until the next call.
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

  // In bytes. A T that points to anything says by memory() how much that is.
  size_t memory() const { return known_.capacity() * sizeof(typename decltype(known_)::value_type) + pointed_to_; }

 private:
  static constexpr size_t kMost = 4096;
  absl::flat_hash_map<model::ClassId, T> known_;
  size_t pointed_to_ = 0;  // by what is in known_
};

}  // namespace tutti::plugins
