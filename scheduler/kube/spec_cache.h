// SPDX-License-Identifier: Apache-2.0
// SpecCache: makes equal PodSpecs one object, most of them without decoding.
//
// A pod's key is the bytes of all fields that its PodSpec is made from, in wire order. Fields that differ from pod to
// pod (names, volume mounts, environment) are not in it. Keys are compared whole, so there are no collisions. Two keys
// that decode to equal specs share one spec too. One thread.
//
// Pods own the specs; the cache keeps none alive. It owns the keys. When their bytes have doubled, it drops all but the
// shortest key of each spec that is in use. That key is no longer than the one of the pod.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "model/pod_spec.h"
#include "model/shared_pool.h"

namespace tutti::kube {

class SpecCache {
 public:
  using Spec = std::shared_ptr<const model::PodSpec>;

  // Returns nullptr when no spec in use is known under this key.
  Spec Find(const std::string& key) const;
  // Returns the one object for specs equal to `spec`.
  Spec Intern(model::PodSpec spec);
  // Does the same, and remembers the spec under `key`.
  Spec Put(const std::string& key, model::PodSpec spec);

  // Shares metadata that pods of one template have in common.
  void Share(model::ObjectMeta* meta) { metas_.Share(meta); }

  size_t size() const { return by_key_.size(); }
  size_t bytes() const { return bytes_; }  // without the specs in use

 private:
  using Weak = std::weak_ptr<const model::PodSpec>;
  void Grow(size_t bytes);
  void Sweep();

  std::unordered_map<std::string, Weak> by_key_;
  std::unordered_multimap<uint64_t, Weak> by_hash_;
  model::MetaPool metas_;
  static constexpr size_t kFewBytes = size_t{4} << 20;
  size_t bytes_ = 0, sweep_at_ = kFewBytes;  // doubles with what is in use
};

}  // namespace tutti::kube
