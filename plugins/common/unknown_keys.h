// SPDX-License-Identifier: Apache-2.0
// UnknownKeys: the topology keys of terms that no node has, which therefore concern no node. Users make them up, so
// nothing but the key is kept of them, and who passed one over begins anew once a node has it.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "cluster/snapshot.h"

namespace tutti::plugins {

class UnknownKeys {
 public:
  explicit UnknownKeys(const cluster::Snapshot& snapshot) : snapshot_(snapshot) {}

  // Some node has it; else it is one of these from now on.
  bool Knows(model::Symbol key) {
    if (snapshot_.HasKey(key)) return true;
    keys_.insert(key);
    return false;
  }
  // A node has one of them now.
  bool Outdated() const {
    return std::ranges::any_of(keys_, [this](model::Symbol key) { return snapshot_.HasKey(key); });
  }
  size_t memory() const { return keys_.capacity() * sizeof(model::Symbol); }  // in bytes

 private:
  const cluster::Snapshot& snapshot_;
  absl::flat_hash_set<model::Symbol> keys_;
};

}  // namespace tutti::plugins
