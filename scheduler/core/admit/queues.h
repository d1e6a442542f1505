// SPDX-License-Identifier: Apache-2.0
// Queues: the queue trees as the core uses them: what is declared, what members hold and what those that wait ask for,
// and the rule by which queues share.
//
// Limits and what queues deserve are as of the last Renew; what is used is always as of now. One thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.h"
#include "model/resource_sum.h"
#include "observe/reason.h"
#include "queue/ledger.h"
#include "queue/order.h"
#include "queue/policy.h"
#include "queue/tree.h"
#include "queue/waits.h"

namespace tutti::core {

// Whether a queue admits something, and if not, why.
struct Admission {
  std::string problem;                                 // it cannot be used at all; empty otherwise
  std::vector<observe::QueueRefuses::Cell> shortages;  // leaf first, by resource name
  observe::QueueRefuses::Limit limit = {};
  model::ResourceList asked;  // where something is short
  std::string remark;         // a warning about a queue on the path that gets less than it declares; or empty
  bool admitted() const { return problem.empty() && shortages.empty(); }
  // Adds what a queue of another tree says of the same.
  void Add(Admission other);
};

class Queues {
 public:
  explicit Queues(const QueueRule& rule);

  void Put(model::QueueSpec spec) { tree_.Put(std::move(spec)); }
  void Drop(const queue::QueueKey& key) { tree_.Drop(key); }
  // Returns the declaration of the queue; null: there is none.
  const model::QueueSpec* Find(const queue::QueueKey& key) const;
  // Returns the queue and all above it, leaf first.
  std::vector<queue::QueueKey> Path(const queue::QueueKey& key) const;

  // Adds a node's resources to those of all nodes, of which shares are parts, or takes them out.
  void AddNode(const model::ResourceList& allocatable);
  void RemoveNode(const model::ResourceList& allocatable);
  // Computes limits and shares again if a declaration, the nodes or (by some rules) the demand changed. With `shares`,
  // computes them also if what changed affects shares alone. Returns true if it did. O(queues · cells).
  bool Renew(bool shares = false);

  // Charges the amounts to the queue, declared or not. The ledger is `used` (what members hold) or `pending` (what
  // waiting members ask for).
  queue::ChargeId Charge(queue::Ledger& ledger, const queue::QueueKey& key, const model::ResourceList& amounts);
  void Release(queue::Ledger& ledger, queue::ChargeId charge);
  queue::Ledger& used() { return used_; }
  queue::Ledger& pending() { return pending_; }
  const queue::Ledger& used() const { return used_; }
  const queue::Ledger& pending() const { return pending_; }

  // Tells whether the queue admits `ask` now. Where no queue is named, anything is admitted.
  Admission Admit(const queue::QueueKey& key, const model::ResourceList& ask);
  // Tells whether the declared capabilities of the queue and those above it leave room for `ask`, whatever their
  // shares. REQUIRES: the queue has no problem.
  Admission AdmitByCapability(const queue::QueueKey& key, const model::ResourceList& ask) const;
  // Tells whether the queue and those above it hold no more than their declared capabilities of the resources that are
  // in `amounts`.
  bool IsWithinCapability(const queue::QueueKey& key, const model::ResourceList& amounts) const;
  bool LimitsFollowDemand() const { return rules_->LimitsFollowDemand(); }
  bool DeservedFollowsDemand() const { return rules_->DeservedFollowsDemand(); }
  // Returns the resources that the queue or one above it limits. No other resource can be short.
  std::set<std::string_view> Limited(const queue::QueueKey& key) const;
  // Returns what the queue and all below it hold of the resource.
  int64_t Used(const queue::QueueKey& key, std::string_view resource) const;

  // Return the queues' order by turns, and the gangs that wait for room. Both know how much of its share each queue
  // has.
  queue::Order& order() { return order_; }
  queue::Waits& waits() { return waits_; }

  // CHECKs the sums of both ledgers, and that they have so many charges: those that members hold, and ask for.
  void Audit(size_t held, size_t asked) const;

  queue::QueueTree& tree() { return tree_; }
  const queue::QueueTree& tree() const { return tree_; }
  const queue::Policy& rules() const { return *rules_; }

 private:
  void SetRank(queue::QueueId queue);
  // Notes that a charge to the queue came or went.
  void OnCharged(const queue::Ledger& ledger, queue::QueueId queue);

  queue::QueueTree tree_;
  queue::Ledger used_{tree_}, pending_{tree_};
  const observe::QueueRefuses::Limit limit_;
  std::unique_ptr<queue::Policy> rules_;  // never null
  queue::Order order_{tree_};
  queue::Waits waits_{tree_, used_, order_.ranks()};
  model::ResourceSum total_;  // of the nodes
  bool total_changed_ = true, demand_changed_ = true;
  uint64_t renewed_ = 0;  // the tree's version then
};

}  // namespace tutti::core
