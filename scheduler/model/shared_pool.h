// SPDX-License-Identifier: Apache-2.0
// SharedPool: makes equal values one. What nobody has any more is dropped as the pool grows. One thread.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>

#include "model/object_meta.h"
#include "model/shared.h"

namespace tutti::model {

inline size_t HashOf(const StringMap& map) {
  size_t hash = 0;
  for (const auto& [key, value] : map)
    hash = (hash * 31 + std::hash<std::string>()(key)) * 31 + std::hash<std::string>()(value);
  return hash;
}
inline size_t HashOf(const OwnerReference& owner) { return std::hash<std::string>()(owner.uid); }

template <typename T>
class SharedPool {
 public:
  // The one that is equal to `value`.
  Shared<T> One(Shared<T> value) {
    if (!value.value_) return value;
    if (values_.size() >= sweep_at_) {
      std::erase_if(values_, [](const auto& pooled) { return pooled.use_count() == 1; });
      sweep_at_ = std::max<size_t>(1024, 2 * values_.size());
    }
    value.value_ = *values_.insert(std::move(value.value_)).first;
    return value;
  }

  size_t size() const { return values_.size(); }

 private:
  using Pointer = std::shared_ptr<const T>;
  struct Hash {
    size_t operator()(const Pointer& value) const { return HashOf(*value); }
  };
  struct Equal {
    bool operator()(const Pointer& a, const Pointer& b) const { return *a == *b; }
  };

  std::unordered_set<Pointer, Hash, Equal> values_;
  size_t sweep_at_ = 1024;
};

// The pods of one template have their labels and their controller in common.
class MetaPool {
 public:
  void Share(ObjectMeta* meta) {
    meta->labels = labels_.One(std::move(meta->labels));
    meta->controller = controllers_.One(std::move(meta->controller));
  }

 private:
  SharedPool<StringMap> labels_;
  SharedPool<OwnerReference> controllers_;
};

}  // namespace tutti::model
