// SPDX-License-Identifier: Apache-2.0
#include "core/publish/refused_pods.h"

#include <algorithm>

namespace tutti::core {

// There are some twenty plugins; what comes after 64 shares the last bit.
uint64_t RefusedPods::Bit(std::string_view plugin) {
  auto at = std::ranges::find(plugins_, plugin);
  if (at == plugins_.end() && plugins_.size() < 64) at = plugins_.emplace(plugins_.end(), plugin);
  const auto place = std::min<ptrdiff_t>(at - plugins_.begin(), 63);
  return uint64_t{1} << place;
}

RefusedPods::Id RefusedPods::Of(std::string_view profile, const Refusal& refusal) {
  uint64_t plugins = 0;
  for (const std::string_view plugin : refusal.plugins) plugins |= Bit(plugin);
  if (refusal.state() == GangState::kWaitingForQueue) plugins = Bit("Queue");
  if (refusal.state() == GangState::kWaitingForMembers || refusal.state() == GangState::kInvalid)
    plugins = Bit("GangScheduling");
  if (plugins == 0) return 0;
  const auto [at, made] = ids_.try_emplace({std::string(profile), plugins}, counts_.size() + 1);
  if (made) {
    observe::Observer::RefusedPods count{std::string(profile), {}, 0};
    for (size_t bit = 0; bit < plugins_.size(); ++bit)
      if (plugins >> bit & 1) count.plugins.push_back(plugins_[bit]);
    std::ranges::sort(count.plugins);
    counts_.push_back(std::move(count));
  }
  return at->second;
}

void RefusedPods::Add(Id id, int64_t pods) {
  if (id == 0 || pods == 0) return;
  counts_[id - 1].pods += pods;
  changed_ = true;
}

const std::vector<observe::Observer::RefusedPods>* RefusedPods::Changed() {
  return std::exchange(changed_, false) ? &counts_ : nullptr;
}

}  // namespace tutti::core
