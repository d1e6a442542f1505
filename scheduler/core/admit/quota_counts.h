// SPDX-License-Identifier: Apache-2.0
// QuotaCounts: how far the gangs have come of each queue that gives quota before there are pods, and of each queue of a
// namespace that leads to one; and what they have. One thread.
#pragma once

#include <absl/numeric/int128.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/gangs/gang.h"

namespace tutti::core {

class QuotaCounts {
 public:
  using QueueName = std::pair<std::string, std::string>;  // namespace and name; without a namespace: the queue itself
  using CellName = std::pair<std::string, std::string>;   // flavor and resource
  struct Sums {
    // Gangs. Those that are admitted are reserving, too, and one that asks for more than it has is pending besides.
    int64_t pending = 0, reserving = 0, admitted = 0;
    std::map<CellName, absl::int128> reserved, used;   // `used`: by those that are admitted
  };

  // Counts the gang as it is now, in place of as it was.
  void Count(model::GangId id, const Gang& gang);
  void Forget(model::GangId id);
  // Notes that the queue of a namespace leads to `leaf`; empty: to none.
  void Lead(const QueueName& local, const std::string& leaf);
  // Marks the queue: its report may have changed.
  void Touch(const QueueName& queue) { touched_.insert(queue); }

  Sums Of(const QueueName& queue) const;
  // Returns the amount of the cell, at most the largest int64; 0: there is none.
  static int64_t AmountOf(const std::map<CellName, absl::int128>& amounts, const CellName& cell);
  std::set<QueueName> TakeTouched() { return std::exchange(touched_, {}); }

 private:
  struct As {
    QueueName local;
    std::string leaf;  // of what it has; empty: it has nothing
    bool admitted = false, asks_more = false;
    std::map<CellName, int64_t> amounts;
    friend bool operator==(const As&, const As&) = default;
  };
  void Add(const As& as, int64_t times);
  void AddTo(const QueueName& queue, const As& as, int64_t times);

  std::map<model::GangId, As> counted_;
  std::map<QueueName, Sums> sums_;
  std::map<QueueName, std::string> leaf_of_;
  std::map<std::string, std::set<QueueName>> locals_of_;
  std::set<QueueName> touched_;
};

// Gives the role `count` members, each with what each has now. A role that has none keeps what it has.
void Resize(int64_t count, model::HeldQuota::Role* role);
// Returns the quota without what members had that have ended (QuotaTerms::done).
model::HeldQuota WithoutDone(model::HeldQuota quota, const std::map<std::string, int64_t>& done);

// Tells whether the gang has what it needs to start, except what its queue does not decide.
bool IsAdmitted(const Gang& gang);

}  // namespace tutti::core
