// SPDX-License-Identifier: Apache-2.0
// Trial: what is speculated while a question is answered: placements, evictions, charges and quota. Guests: the gangs
// that are asked about, while they are in the book. Ended, both have put all back; a trial ends first. One thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/what_if.h"
#include "core/admit/queue_waits.h"
#include "core/admit/queues.h"
#include "core/admit/quota_desk.h"
#include "core/admit/speculation.h"
#include "core/gangs/gang_book.h"
#include "core/options.h"
#include "model/gang_draft.h"
#include "queue/policies/kueue/prospect.h"

namespace tutti::core {

// Gangs that are in the book while a question is answered. Their keys are of no dialect, so Find never confuses them
// with gangs that are there.
class Guests {
 public:
  Guests(cluster::ClusterState& state, GangBook& book) : state_(state), book_(book) {}
  ~Guests();
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

  // `shunned`: the node that takes none of its members; empty: there is none.
  model::GangId Add(dialects::Dialect& dialect, const model::GangDraft& draft, const std::string& shunned);
  // Makes the gang what this draft says, of as many members as before. Their slots stay theirs. REQUIRES: none of its
  // members is placed.
  void Become(model::GangId id, const model::GangDraft& draft);

 private:
  using Guest = std::pair<model::GangId, std::vector<model::PodId>>;

  static void Describe(const model::GangDraft& draft, Gang& gang);
  std::vector<model::PodId> Promise(model::GangId id, const std::vector<model::GangDraft::Member>& members,
                                    const std::string& shunned);
  void Drop(const std::vector<model::PodId>& pods);

  cluster::ClusterState& state_;
  GangBook& book_;
  std::vector<Guest> guests_;
};

// Placements, evictions, charges and quota, until it ends.
class Trial {
 public:
  class Step;
  // What a guest has taken.
  struct Taken {
    size_t first = 0, count = 0;  // of the placements
    std::vector<queue::ChargeId> charges;
  };

  Trial(cluster::ClusterState& state, cluster::WhatIf& what_if, GangBook& book, Queues& queues, QueueWaits& waits,
        QuotaDesk& desk, Guests& guests, const std::vector<model::GangId>& asking, bool by_demand,
        const std::optional<model::LeafQueueSpec>& changed);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Tells whether what waits weighs on what queues may have: the trial's `by_demand`.
  static bool WeighsWaiting(const Options& options, const Queues& queues) {
    return queues.LimitsFollowDemand() || (options.queue_rule.reclaim && queues.DeservedFollowsDemand());
  }

  bool evicts() const { return evicts_; }
  Guests& guests() { return guests_; }
  queue::KueueProspect& quota() { return quota_; }
  // Tells whether the gangs are copies of those that wait in the line of a leaf, and so ask as those do.
  bool asks_line() const { return asks_line_; }

  void Evict(model::PodId pod);
  // From now on no victims are sought for the guests that are looked at.
  void SeekNoVictims() { evicts_ = true; }
  void Take(const Gang& gang, const std::vector<cluster::Placement>& placements);
  // Returns what Take has taken since this was last called. REQUIRES: for one guest at most.
  Taken TakeTaken() { return std::exchange(taken_, {}); }
  // Has a guest end, which has taken this and does so no more.
  void End(model::GangId guest, const Taken& taken);
  // Has these pods end. `gang`: what they leave of it has ended as well; invalid: they are of none, or some of it
  // stays.
  void End(const std::vector<model::PodId>& pods, model::GangId gang);

 private:
  // What waits weighs on what queues deserve, and so on what they may have.
  void Ask(const Gang& gang);

  cluster::ClusterState& state_;
  cluster::WhatIf& what_if_;
  GangBook& book_;
  Queues& queues_;
  const bool by_demand_;
  Guests& guests_;
  const bool asks_line_;
  queue::KueueProspect quota_;
  std::vector<queue::ChargeId> asked_;
  bool evicts_ = false;
  std::optional<Speculation> speculation_;  // what is charged in it goes with it
  Taken taken_;
};

// What is done in the trial while it lives is undone at its end. The last begun ends first.
class Trial::Step {
 public:
  explicit Step(Trial& trial) : speculation_(trial.what_if_, trial.book_, trial.queues_), quota_(trial.quota_) {}

 private:
  Speculation speculation_;
  queue::KueueProspect::Scope quota_;
};

}  // namespace tutti::core
