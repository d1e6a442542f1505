// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/strangers.h"

#include <algorithm>
#include <utility>

namespace tutti::core {

std::optional<Strangers::Name> Strangers::Put(model::PodId pod, std::optional<Name> name) {
  std::optional<Name> before;
  if (const auto known = by_pod_.extract(pod.value)) {
    before = std::move(known.mapped());
    const auto gang = counts_.find(before->gang);
    Count& count = gang->second[before->scheduler];
    count.heads -= before->head;
    if (--count.pods == 0) gang->second.erase(before->scheduler);
    if (gang->second.empty()) counts_.erase(gang);
  }
  if (name) {
    Count& count = counts_[name->gang][name->scheduler];
    ++count.pods;
    count.heads += name->head;
    by_pod_.emplace(pod.value, *std::move(name));
  }
  return before;
}

std::vector<std::pair<std::string, int64_t>> Strangers::Of(const model::GangKey& gang) const {
  constexpr ptrdiff_t kShown = 4;
  const auto at = counts_.find(gang);
  if (at == counts_.end()) return {};
  std::vector<std::pair<std::string, int64_t>> shown;
  for (const auto& [scheduler, count] : at->second)
    if (std::ssize(shown) < kShown) shown.emplace_back(scheduler, count.pods);
  return shown;
}

std::string Strangers::OfHead(const model::GangKey& gang) const {
  const auto at = counts_.find(gang);
  if (at == counts_.end()) return {};
  const auto head = std::ranges::find_if(at->second, [](const auto& item) { return item.second.heads > 0; });
  return head == at->second.end() ? std::string() : head->first;
}

}  // namespace tutti::core
