// SPDX-License-Identifier: Apache-2.0
// SpecCache: equal PodSpecs become one object, most of them without being decoded.
//
// A pod's key is the bytes of everything that its PodSpec is made of, in wire order and without what differs from pod
// to pod (names, volume mounts, environment). Keys are compared whole, so there are no collisions. Two keys that decode
// to equal specs share one too. One thread.
//
// Specs are those of the pods that there are; the cache keeps none alive. Its own are the keys: when they have doubled,
// what is left is the shortest key of each spec that somebody has, which is no longer than that of the pod.
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

  // nullptr when nobody has a spec of this key, as far as is known.
  Spec Find(const std::string& key) const;
  // The one object for specs equal to `spec`.
  Spec Intern(model::PodSpec spec);
  // The same, found by `key` from now on.
  Spec Put(const std::string& key, model::PodSpec spec);

  // What else pods of one template have in common.
  void Share(model::ObjectMeta* meta) { metas_.Share(meta); }

  size_t size() const { return by_key_.size(); }
  size_t bytes() const { return bytes_; }  // of all but the specs that somebody has

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
