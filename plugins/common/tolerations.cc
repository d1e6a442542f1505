// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/tolerations.h"

#include <algorithm>

namespace tutti::plugins {

Tolerations::Tolerations(const std::vector<model::Toleration>& list, cluster::SymbolTable& symbols) {
  for (const model::Toleration& t : list) {
    const bool exists = t.op == "Exists";
    if (!exists && !t.op.empty() && t.op != "Equal") continue;
    Entry entry;
    if (!t.key.empty()) entry.key = symbols.Intern(t.key);
    if (!t.effect.empty()) entry.effect = symbols.Intern(t.effect);
    if (!exists) entry.value = symbols.Intern(t.value);
    entries_.push_back(entry);
  }
}

bool Tolerations::Tolerates(const cluster::TaintEntry& taint) const {
  const auto matches = [](model::Symbol wanted, model::Symbol has) { return !wanted || wanted == has; };
  return std::ranges::any_of(entries_, [&](const Entry& e) {
    return matches(e.effect, taint.effect) && matches(e.key, taint.key) && matches(e.value, taint.value);
  });
}

}  // namespace tutti::plugins
