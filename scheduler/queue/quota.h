// SPDX-License-Identifier: Apache-2.0
// Quota: knows what each queue allows, and counts what is charged to it, up its tree.
//
// Charges are kept by the queue's name, declared or not, so that queues may come, go and change at any time.
// Several trees may exist; a queue is known by (dialect, name). One thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/gang.h"
#include "model/resource_sum.h"
#include "queue/ids.h"

namespace tutti::queue {

// A resource of which a queue of the path has too little.
struct Shortage {
  std::string queue;
  std::string resource;
  int64_t capability = 0, used = 0, asked = 0;
};

struct Admission {
  bool admitted = false;
  std::string problem;  // why the queue cannot be used: closed, invalid, or an ancestor is missing; empty otherwise
  std::vector<Shortage> shortages;  // leaf first, by resource name
};

class Quota {
 public:
  void Put(model::QueueSpec spec);
  void Drop(const QueueKey& key);
  const model::QueueSpec* Find(const QueueKey& key) const;

  // Adds to the sums of the queue and all above it; `sign` is +1 or -1.
  // CHECKs that no sum falls below zero.
  void Charge(const QueueKey& key, const model::ResourceList& amount, int sign);
  // Returns the charges of the queue and all below it, without zeros; the largest int64 stands for more.
  model::ResourceList Used(const QueueKey& key) const;
  int64_t Used(const QueueKey& key, std::string_view resource) const;

  // Checks whether `ask` would fit now. Only resources that a capability lists and `ask` asks for can be short.
  // An undeclared queue admits nothing unless its name is empty.
  Admission Admit(const QueueKey& key, const model::ResourceList& ask) const;

  // Returns the resources that some queue of the path caps; only these can be short.
  std::set<std::string_view> Capped(const QueueKey& key) const;

  // Returns the queue and its ancestors, leaf first; stops at a cycle or an undeclared parent.
  std::vector<QueueKey> Path(const QueueKey& key) const;

 private:
  std::map<QueueKey, model::QueueSpec> specs_;
  std::vector<QueueKey> Upwards(const QueueKey& key) const;
  void SumUp() const;

  using Sums = std::map<QueueKey, model::ResourceSum>;  // no sum is empty
  static void Add(const QueueKey& key, const model::ResourceList& amount, int sign, Sums* sums);
  Sums own_;  // charged to the queue itself
  // Sums of each queue and all below it; computed anew after the tree changed.
  mutable Sums sums_;
  mutable bool stale_ = false;
};

}  // namespace tutti::queue
