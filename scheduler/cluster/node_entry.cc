// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_entry.h"

#include <algorithm>

namespace tutti::cluster {

using model::Symbol;

LabelEntries InternLabels(const model::StringMap& labels, SymbolTable& symbols) {
  LabelEntries entries;
  for (const auto& [key, value] : labels) entries.emplace_back(symbols.Intern(key), symbols.Intern(value));
  std::sort(entries.begin(), entries.end());
  return entries;
}

Symbol FindLabel(const LabelEntries& labels, Symbol key) {
  const auto at =
      std::lower_bound(labels.begin(), labels.end(), key, [](const auto& item, Symbol k) { return item.first < k; });
  return at != labels.end() && at->first == key ? at->second : Symbol();
}

void NodeEntry::MarkSymbols(SymbolTable::Used* used) const {
  used->Mark(labels);
  for (const TaintEntry& taint : taints) {
    used->Mark(taint.key);
    used->Mark(taint.value);
    used->Mark(taint.effect);
  }
  for (const PortEntry& port : ports) {
    used->Mark(port.protocol);
    used->Mark(port.ip);
  }
}

}  // namespace tutti::cluster
