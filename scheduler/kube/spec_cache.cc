// SPDX-License-Identifier: Apache-2.0
#include "kube/spec_cache.h"

#include <algorithm>

namespace tutti::kube {
namespace {

// The bytes of a key beside its text, and the bytes that a released spec still takes while a weak pointer to it exists.
constexpr size_t kOfKey = 128, kOfSpec = sizeof(model::PodSpec) + 128;

}  // namespace

SpecCache::Spec SpecCache::Find(const std::string& key) const {
  const auto at = by_key_.find(key);
  return at == by_key_.end() ? nullptr : at->second.lock();
}

SpecCache::Spec SpecCache::Intern(model::PodSpec spec) {
  const uint64_t hash = model::Hash(spec);
  for (auto [at, end] = by_hash_.equal_range(hash); at != end; ++at)
    if (Spec live = at->second.lock(); live && *live == spec) return live;
  Grow(kOfSpec);
  auto made = std::make_shared<const model::PodSpec>(std::move(spec));
  by_hash_.emplace(hash, made);
  return made;
}

SpecCache::Spec SpecCache::Put(const std::string& key, model::PodSpec spec) {
  Spec one = Intern(std::move(spec));
  Grow(kOfKey + key.size());
  by_key_.insert_or_assign(key, one);
  return one;
}

void SpecCache::Grow(size_t bytes) {
  if (bytes_ + bytes > sweep_at_) Sweep();
  bytes_ += bytes;
}

void SpecCache::Sweep() {
  std::unordered_map<const model::PodSpec*, const std::string*> shortest;
  for (const auto& [key, weak] : by_key_)
    if (const Spec live = weak.lock())
      if (const std::string*& known = shortest[live.get()]; !known || key.size() < known->size()) known = &key;
  bytes_ = 0;
  std::erase_if(by_key_, [&](const auto& item) {
    const Spec live = item.second.lock();
    if (!live || shortest[live.get()] != &item.first) return true;
    bytes_ += kOfKey + item.first.size();
    return false;
  });
  std::erase_if(by_hash_, [](const auto& item) { return item.second.expired(); });
  bytes_ += by_hash_.size() * kOfSpec;
  sweep_at_ = std::max(kFewBytes, 2 * bytes_);
}

}  // namespace tutti::kube
