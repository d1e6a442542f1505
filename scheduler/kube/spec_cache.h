// SPDX-License-Identifier: Apache-2.0
// SpecCache: equal PodSpecs become one object, most of them without being decoded.
//
// A pod's key is the bytes of everything that its PodSpec is made of, in wire order and without what differs from pod
// to pod (names, volume mounts, environment). Keys are compared whole, so there are no collisions. Two keys that decode
// to equal specs share one too. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/pod_spec.h"
#include "model/shared_pool.h"

namespace tutti::kube {

class SpecCache {
 public:
  using Spec = std::shared_ptr<const model::PodSpec>;

  // nullptr when the key has not been seen.
  Spec Find(const std::string& key);
  // The one object for specs equal to `spec`.
  Spec Intern(model::PodSpec spec);
  // The same, found by `key` from now on.
  Spec Put(const std::string& key, model::PodSpec spec);

  // What else pods of one template have in common.
  void Share(model::ObjectMeta* meta) { metas_.Share(meta); }

  size_t size() const { return by_key_.size(); }

 private:
  void DropUnused();

  std::unordered_map<std::string, Spec> by_key_;
  std::unordered_map<uint64_t, std::vector<std::weak_ptr<const model::PodSpec>>> by_hash_;
  model::MetaPool metas_;
  size_t drop_at_ = 1024;  // doubles with what is in use
};

}  // namespace tutti::kube
