// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/strangers.h"

#include <fmt/format.h>

#include <utility>

#include "dialects/wording.h"

namespace tutti::core {

std::optional<Strangers::Name> Strangers::Put(model::PodId pod, std::optional<Name> name) {
  std::optional<Name> before;
  if (const auto known = by_pod_.extract(pod.value)) {
    before = std::move(known.mapped());
    const auto gang = counts_.find(before->gang);
    if (--gang->second[before->scheduler] == 0) gang->second.erase(before->scheduler);
    if (gang->second.empty()) counts_.erase(gang);
  }
  if (name) {
    ++counts_[name->gang][name->scheduler];
    by_pod_.emplace(pod.value, *std::move(name));
  }
  return before;
}

std::string Strangers::Sentence(const model::GangKey& gang) const {
  std::string text;
  const auto at = counts_.find(gang);
  if (at == counts_.end()) return text;
  size_t shown = 0;
  for (const auto& [scheduler, pods] : at->second)
    if (shown++ < 4) text += fmt::format("; {} more name{} {}", pods, pods == 1 ? "s" : "", dialects::Named(scheduler));
  return text;
}

}  // namespace tutti::core
