// SPDX-License-Identifier: Apache-2.0
#include "kube/spec_cache.h"

#include <algorithm>

namespace tutti::kube {

SpecCache::Spec SpecCache::Find(const std::string& key) {
  const auto at = by_key_.find(key);
  return at == by_key_.end() ? nullptr : at->second;
}

SpecCache::Spec SpecCache::Intern(model::PodSpec spec) {
  auto& same_hash = by_hash_[model::Hash(spec)];
  for (const auto& candidate : same_hash)
    if (Spec live = candidate.lock(); live && *live == spec) return live;
  std::erase_if(same_hash, [](const auto& weak) { return weak.expired(); });
  auto made = std::make_shared<const model::PodSpec>(std::move(spec));
  same_hash.push_back(made);
  return made;
}

SpecCache::Spec SpecCache::Put(const std::string& key, model::PodSpec spec) {
  if (by_key_.size() >= drop_at_) DropUnused();
  return by_key_.emplace(key, Intern(std::move(spec))).first->second;
}

void SpecCache::DropUnused() {
  std::unordered_map<const model::PodSpec*, long> keys_of;
  for (const auto& [key, spec] : by_key_) ++keys_of[spec.get()];
  std::erase_if(by_key_, [&](const auto& item) { return item.second.use_count() <= keys_of[item.second.get()]; });
  std::erase_if(by_hash_, [](auto& item) {
    return std::ranges::all_of(item.second, [](const auto& weak) { return weak.expired(); });
  });
  drop_at_ = std::max<size_t>(1024, 2 * by_key_.size());
}

}  // namespace tutti::kube
