// SPDX-License-Identifier: Apache-2.0
// sim/store/resource_quotas.h - what the objects of each namespace use of its ResourceQuotas, and what may still be
// created: kube-apiserver's admission plugin of that name.
//
// Kept by events, so that an object costs the same however many its namespace has. One thread: the store's owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/objects/api_error.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

class Store;
struct WatchEvent;

class ResourceQuotas {
 public:
  // `store` must outlive this.
  explicit ResourceQuotas(const Store& store) : store_(store) {}

  // Follows each write, before anything else is told of it.
  void Follow(const WatchEvent& event);

  // Refuses an object that would use more than a quota of its namespace allows, or that does not say how much it would.
  ApiResult<void> Admit(const ApiResource& resource, const Json& object) const;

  // Whether the namespace has any.
  bool Has(const std::string& ns) const { return quotas_.contains(ns); }
  // What status.used of the quota says: {"pods": "2", "requests.cpu": "500m"}. REQUIRES: it is there.
  Json Used(const std::string& ns, const std::string& name) const;

 private:
  using Amounts = std::map<std::string, int64_t>;  // in thousandths, by the names that spec.hard has
  struct Quota {
    Object object;
    Amounts hard, used;
  };
  using OfNamespace = std::map<std::string, Quota>;

  void FollowQuota(const WatchEvent& event);
  // Adds what the object uses of the quota, or takes it out.
  static void Count(const GroupResource& resource, const Json& object, int64_t sign, Quota* quota);

  const Store& store_;
  std::map<std::string, OfNamespace> quotas_;
};

}  // namespace tutti::sim
