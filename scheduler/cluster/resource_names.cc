// SPDX-License-Identifier: Apache-2.0
#include "cluster/resource_names.h"

#include <algorithm>
#include <utility>

#include "model/resource_list.h"

namespace tutti::cluster {

using model::ResourceId;

ResourceNames::ResourceNames() {
  for (const std::string_view name : {model::kCpu, model::kMemory, model::kEphemeralStorage, model::kPods})
    Column(name);
}

ResourceNames::Named& ResourceNames::Find(std::string_view resource) {
  if (const auto known = by_text_.find(resource); known != by_text_.end()) return known->second;
  ResourceId id(static_cast<uint32_t>(texts_.size()));
  if (free_.empty()) {
    texts_.emplace_back(resource);
  } else {
    id = free_.back();
    free_.pop_back();
    texts_[id.index()] = resource;
  }
  return by_text_.emplace(texts_[id.index()], Named{id}).first->second;
}

ResourceId ResourceNames::Column(std::string_view resource) {
  Named& named = Find(resource);
  named.stays = true;
  return named.id;
}

ResourceId ResourceNames::Known(std::string_view resource) const {
  const auto known = by_text_.find(resource);
  return known == by_text_.end() ? ResourceId() : known->second.id;
}

void ResourceNames::Sweep(const std::vector<char>& used) {
  for (auto at = by_text_.begin(); at != by_text_.end();) {
    const auto [id, stays] = at->second;
    if (stays || used[id.index()]) {
      ++at;
      continue;
    }
    at = by_text_.erase(at);
    std::exchange(texts_[id.index()], {});
    free_.push_back(id);
  }
  grown_ = std::max(kFew, 2 * by_text_.size());
}

}  // namespace tutti::cluster
