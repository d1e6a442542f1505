// SPDX-License-Identifier: Apache-2.0
// UnknownKeys: topology keys in terms that no node has, and that therefore concern no node. Users invent such keys, so
// only the key is kept. A state that skipped a term is made again when a node gets its key.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "cluster/snapshot.h"

namespace tutti::plugins {

class UnknownKeys {
 public:
  explicit UnknownKeys(const cluster::Snapshot& snapshot) : snapshot_(snapshot) {}

  // Tells whether some node has the key; otherwise it is remembered as unknown.
  bool Knows(model::Symbol key) {
    if (snapshot_.labels().HasKey(key)) return true;
    keys_.insert(key);
    return false;
  }
  // Tells whether a node has one of the keys now.
  bool Outdated() const {
    return std::ranges::any_of(keys_, [this](model::Symbol key) { return snapshot_.labels().HasKey(key); });
  }
  size_t memory() const { return keys_.capacity() * sizeof(model::Symbol); }  // in bytes

 private:
  const cluster::Snapshot& snapshot_;
  absl::flat_hash_set<model::Symbol> keys_;
};

}  // namespace tutti::plugins
