// SPDX-License-Identifier: Apache-2.0
// NodeEntry: a node as planning reads it, with its texts interned.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cluster/pod_class.h"
#include "cluster/symbol_table.h"
#include "model/ids.h"
#include "model/node.h"

namespace tutti::cluster {

struct TaintEntry {
  model::Symbol key, value, effect;
  friend bool operator==(const TaintEntry&, const TaintEntry&) = default;
};

// A host port in use on a node.
struct PortEntry {
  int32_t port = 0;
  model::Symbol protocol, ip;
  friend auto operator<=>(const PortEntry&, const PortEntry&) = default;
};

// As planning reads them: sorted by key.
LabelEntries InternLabels(const model::StringMap& labels, SymbolTable& symbols);
// The value of label `key`, or an invalid Symbol.
model::Symbol FindLabel(const LabelEntries& labels, model::Symbol key);

struct NodeEntry {
  bool present = false;
  std::string name;
  LabelEntries labels;
  std::vector<TaintEntry> taints;
  std::vector<PortEntry> ports;               // one entry per occupying pod and port, sorted
  std::vector<const PodClass*> with_volumes;  // one entry per occupying pod whose class has spec->volumes
  std::shared_ptr<const model::Node> node;    // as last seen; never null while present
  uint64_t version = 0;                       // of all but the pods: changes with PutNode and DropNode

  // The value of label `key`, or an invalid Symbol.
  model::Symbol Label(model::Symbol key) const { return FindLabel(labels, key); }
  void MarkSymbols(SymbolTable::Used* used) const;
};

}  // namespace tutti::cluster
