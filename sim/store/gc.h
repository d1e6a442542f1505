// SPDX-License-Identifier: Apache-2.0
// sim/store/gc.h - what goes when its owner, its namespace or its definition goes.
//
// Follows ownerReferences by uid: dependents of a deleted owner are deleted with it
// (background), before it (foreground), or set free (orphan). An owner that was never
// seen here is taken to live elsewhere, so that part of a cluster's objects can be
// loaded alone; one that was deleted here takes late-coming dependents with it.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "sim/store/store.h"

namespace tutti::sim {

class GarbageCollector {
 public:
  explicit GarbageCollector(Store& store) : store_(store) {}

  // Called for every event of the store.
  void Observe(const WatchEvent& event);

 private:
  struct Ref {
    GroupResource resource;
    std::string ns;
    std::string name;
    auto operator<=>(const Ref&) const = default;
  };

  void Index(const Ref& ref, const Json* before, const Json* after);
  void OnOwnerGone(const std::string& uid);
  void OnOwnerTerminating(const WatchEvent& event);
  void FinishForeground(const Json& dependent);
  void DeleteOrDetach(const Ref& ref, const std::string& gone_uid);
  void DeleteIfOrphaned(const Ref& ref, const Json& object);
  void EmptyNamespace(const std::string& ns);
  void FinishNamespace(const std::string& ns);
  void EmptyDefinition(const Json& definition);
  void FinishDefinition(const GroupResource& resource);
  void Detach(const Ref& ref, const std::string& owner_uid);
  void RemoveFinalizer(const Ref& ref, const std::string& finalizer);
  bool HasBlockingDependents(const std::string& uid) const;

  Store& store_;
  std::map<std::string, std::set<Ref>> dependents_;  // by owner uid
  absl::flat_hash_map<std::string, Ref> live_;       // by uid
  std::unordered_set<std::string> gone_;             // uids deleted lately
  std::deque<std::string> gone_order_;
};

}  // namespace tutti::sim
