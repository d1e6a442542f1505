// SPDX-License-Identifier: Apache-2.0
#include "cluster/namespaces.h"

#include <utility>

namespace tutti::cluster {

using model::Symbol;

const LabelEntries* Namespaces::LabelsOf(Symbol name) const {
  asked_for_.insert(name);
  const auto at = labels_.find(name);
  return at == labels_.end() ? nullptr : &at->second;
}

bool Namespaces::Put(std::string_view name, const model::StringMap& labels) {
  const Symbol symbol = symbols_.Intern(name);
  const auto [at, fresh] = labels_.try_emplace(symbol);
  LabelEntries entries = InternLabels(labels, symbols_);
  if (!fresh && at->second == entries) return false;
  at->second = std::move(entries);
  const bool matters = asked_for_.contains(symbol) || !known();
  version_ += matters;
  return matters;
}

bool Namespaces::Drop(std::string_view name) {
  const Symbol symbol = symbols_.Intern(name);
  labels_.erase(symbol);
  const bool matters = asked_for_.erase(symbol) > 0;
  version_ += matters;
  return matters;
}

void Namespaces::MarkSymbols(SymbolTable::Used* used) const {
  for (const auto& [name, labels] : labels_) {
    used->Mark(name);
    used->Mark(labels);
  }
  for (const Symbol name : asked_for_) used->Mark(name);
}

}  // namespace tutti::cluster
