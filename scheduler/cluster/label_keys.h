// SPDX-License-Identifier: Apache-2.0
// LabelKeys: which label keys of pods the selectors of pods read, and in which namespaces. Pods that differ in other
// labels alone are of one class.
//
// One thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "cluster/pod_class.h"

namespace tutti::cluster {

class LabelKeys {
 public:
  // A pod of the class came to the namespace, or went. O(1) but for the first and the last.
  void Add(const PodClass& pod_class, const std::string& ns);
  void Remove(const PodClass& pod_class, const std::string& ns);

  // Some pod reads the key of pods in the namespace.
  bool IsRead(const std::string& key, const std::string& ns) const;
  bool empty() const { return readers_.empty(); }

  // Where keys began or ceased to be read since it was last taken.
  struct Changed {
    bool everywhere = false;
    std::set<std::string> namespaces;
    bool any() const { return everywhere || !namespaces.empty(); }
  };
  bool AnyChanged() const { return changed_.any(); }
  Changed TakeChanged() { return std::exchange(changed_, {}); }

 private:
  struct Readers {  // classes
    int32_t everywhere = 0;
    absl::flat_hash_map<std::string, int32_t> in;  // by namespace
    bool none() const { return everywhere == 0 && in.empty(); }
  };
  void Count(const PodClass& pod_class, const std::string& ns, int32_t sign);
  void Count(const std::string& key, const std::string* ns, int32_t sign);  // null: everywhere

  absl::flat_hash_map<const PodClass*, int32_t> pods_;  // of each class that reads some key
  absl::flat_hash_map<std::string, Readers> readers_;   // by key
  Changed changed_;
};

}  // namespace tutti::cluster
