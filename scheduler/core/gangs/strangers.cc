// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/strangers.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

std::vector<std::pair<std::string, int64_t>> Strangers::Of(const model::GangKey& gang) const {
  constexpr ptrdiff_t kShown = 4;
  const auto at = counts_.find(gang);
  if (at == counts_.end()) return {};
  const auto& counts = at->second;
  return {counts.begin(), std::next(counts.begin(), std::min(std::ssize(counts), kShown))};
}

}  // namespace tutti::core
