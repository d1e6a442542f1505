// SPDX-License-Identifier: Apache-2.0
// SharedPool: makes equal values one. What is not held any more is dropped as what the pool holds doubles, in bytes: a
// value may be as large as the API server takes. One thread.
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

// About what it takes of memory, its place in the pool included.
inline size_t BytesOf(const StringMap& map) {
  size_t bytes = 128;
  for (const auto& [key, value] : map) bytes += sizeof(map[0]) + key.size() + value.size();
  return bytes;
}
inline size_t BytesOf(const OwnerReference& owner) {
  return 128 + sizeof(owner) + owner.kind.size() + owner.name.size() + owner.uid.size() + owner.api_version.size();
}

template <typename T>
class SharedPool {
 public:
  // The one that is equal to `value`.
  Shared<T> One(Shared<T> value) {
    if (!value.value_) return value;
    const auto [at, fresh] = values_.insert(std::move(value.value_));
    value.value_ = *at;
    if (fresh) bytes_ += BytesOf(**at);
    if (bytes_ > sweep_at_) Sweep();
    return value;
  }

  size_t size() const { return values_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  using Pointer = std::shared_ptr<const T>;
  void Sweep() {
    std::erase_if(values_, [](const auto& pooled) { return pooled.use_count() == 1; });
    bytes_ = 0;
    for (const Pointer& pooled : values_) bytes_ += BytesOf(*pooled);
    sweep_at_ = std::max(kFewBytes, 2 * bytes_);
  }

  struct Hash {
    size_t operator()(const Pointer& value) const { return HashOf(*value); }
  };
  struct Equal {
    bool operator()(const Pointer& a, const Pointer& b) const { return *a == *b; }
  };

  std::unordered_set<Pointer, Hash, Equal> values_;
  static constexpr size_t kFewBytes = size_t{1} << 20;
  size_t bytes_ = 0, sweep_at_ = kFewBytes;
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
