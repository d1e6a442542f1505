// SPDX-License-Identifier: Apache-2.0
// ImageIndex: which nodes hold which container images. One thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>

#include "cluster/symbol_table.h"
#include "model/ids.h"
#include "model/node.h"

namespace tutti::cluster {

class ImageIndex {
 public:
  // Which nodes hold the image of this name, and its size in bytes there; null: none. Do not decide by its order.
  using Holders = absl::flat_hash_map<model::NodeId, int64_t>;
  const Holders* HoldersOf(model::Symbol name) const;
  // On no node is it larger; 0 where none holds it.
  int64_t LargestSize(model::Symbol name) const;

  // Null for `before`: the node comes; for `now`: it goes.
  void Changed(model::NodeId n, const model::Node* before, const model::Node* now, SymbolTable& symbols);
  void MarkSymbols(SymbolTable::Used* used) const;

 private:
  struct Entry {
    Holders holders;
    int64_t largest = 0;  // the largest size seen since a node first held it
  };
  absl::flat_hash_map<model::Symbol, Entry> images_;
};

}  // namespace tutti::cluster
