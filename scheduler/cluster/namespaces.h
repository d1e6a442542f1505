// SPDX-License-Identifier: Apache-2.0
// Namespaces: their labels, for terms about pods that select namespaces. One thread.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <string_view>

#include "cluster/node_entry.h"

namespace tutti::cluster {

class Namespaces {
 public:
  // `symbols` must outlive this.
  explicit Namespaces(SymbolTable& symbols) : symbols_(symbols) {}

  // The labels of a namespace; null: not known. `version` changes with those that were asked for.
  const LabelEntries* LabelsOf(model::Symbol name) const;
  uint64_t version() const { return version_; }
  bool known() const { return version_ > 0; }

  // True when `version` changed: terms about pods may mean others now.
  bool Put(std::string_view name, const model::StringMap& labels);
  bool Drop(std::string_view name);
  void MarkSymbols(SymbolTable::Used* used) const;

 private:
  SymbolTable& symbols_;
  absl::flat_hash_map<model::Symbol, LabelEntries> labels_;
  mutable absl::flat_hash_set<model::Symbol> asked_for_;  // what a reader relies on is noted as it reads
  uint64_t version_ = 0;
};

}  // namespace tutti::cluster
