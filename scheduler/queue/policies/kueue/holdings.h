// SPDX-License-Identifier: Apache-2.0
// Holdings: the gangs that have quota, by queue, in the order in which they would give it up. One thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <compare>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/ids.h"
#include "queue/ledger.h"
#include "queue/policies/kueue/assignment.h"

namespace tutti::queue {

struct Holding {
  model::GangId gang;
  std::string uid, local;  // `local`: "namespace/queue"
  QueueId leaf;
  int32_t priority = 0;
  base::Millis queued_ms = 0, reserved_ms = 0;
  bool evicted = false;      // it has been told to leave, and has its quota until it has left
  bool for_another = false;  // it leaves for another gang
  std::vector<RoleAssignment> roles;
  Ask used;
};

class Holdings {
 public:
  // Evicted ones first, then by priority, then the one that was admitted last. The holding stays where it is until it
  // is released.
  struct Rank {
    bool stays;
    int32_t priority;
    base::Millis neg_reserved_ms;
    std::string uid;
    const Holding* holding;
    friend bool operator<(const Rank& a, const Rank& b) {
      if (const auto order = a.Key() <=> b.Key(); order != 0) return order < 0;
      return a.uid != b.uid ? a.uid < b.uid : a.holding->gang < b.holding->gang;
    }

   private:
    std::tuple<bool, int32_t, base::Millis> Key() const { return {stays, priority, neg_reserved_ms}; }
  };
  using Line = std::set<Rank>;

  // `used` must outlive this.
  explicit Holdings(Ledger& used) : used_(used) {}
  Holdings(const Holdings&) = delete;
  Holdings& operator=(const Holdings&) = delete;

  // Charges the gang. REQUIRES: it has no quota yet.
  void Put(Holding holding);
  // Frees what the gang has, if it has anything.
  void Release(model::GangId gang);
  // Says that the gang has been told to leave, and whether that is for another gang.
  void MarkEvicted(model::GangId gang, bool for_another);

  void SetPriority(model::GangId gang, int32_t priority);

  // nullptr when it has no quota.
  const Holding* Find(model::GangId gang) const;
  const Holding* FindUid(const std::string& uid) const;
  const Line& Of(QueueId leaf) const;
  ChargeId ChargeOf(const Holding& holding) const { return by_gang_.at(holding.gang).charge; }
  size_t size() const { return by_gang_.size(); }

 private:
  struct Record {
    Holding holding;
    ChargeId charge;
  };
  static Rank RankOf(const Holding& holding);

  Ledger& used_;
  std::map<model::GangId, Record> by_gang_;
  absl::flat_hash_map<std::string, model::GangId> by_uid_;
  absl::flat_hash_map<QueueId, Line> lines_;
};

}  // namespace tutti::queue
