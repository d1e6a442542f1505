// SPDX-License-Identifier: Apache-2.0
// Trial: what is speculated while a question is answered: placements, evictions, charges and quota. Guests: the gangs
// that are asked about, while they are in the book. Ended, both have put all back; a trial ends first. One thread.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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
#include "core/gangs/lightest.h"
#include "model/gang_draft.h"
#include "queue/policies/kueue/prospect.h"

namespace tutti::core {

// Gangs that are in the book while a question is answered. Their keys are of no dialect, so Find never confuses them
// with gangs that are there.
class Guests {
 public:
  Guests(cluster::ClusterState& state, GangBook& book) : state_(state), book_(book) {}
  // In reverse, so that the slots are free in the order in which they were.
  ~Guests() {
    for (; !guests_.empty(); guests_.pop_back()) {
      const auto& [id, pods] = guests_.back();
      Drop(pods);
      book_.Retract(id);
    }
  }
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

  model::GangId Add(dialects::Dialect& dialect, const model::GangDraft& draft, const std::string& shunned) {
    const model::GangId id =
        book_.Open(&dialect, {fmt::format("question/{}", guests_.size()), draft.key.ns, draft.key.name});
    Gang& gang = book_.at(id);
    Describe(draft, gang);
    gang.declared = true;
    gang.lone = draft.lone;
    guests_.emplace_back(id, Promise(id, draft.members, shunned));
    return id;
  }

  // Makes the gang what this draft says, of as many members as before. Their slots stay theirs. REQUIRES: none of its
  // members is placed.
  void Become(model::GangId id, const model::GangDraft& draft) {
    const auto at = std::ranges::find(guests_, id, &Guest::first);
    Describe(draft, book_.at(id));
    const auto is_of = [this](model::PodId pod, const model::GangDraft::Member& one) {
      return *state_.pod(pod).pod->spec == *one.pod->spec;
    };
    if (std::ranges::equal(at->second, draft.members, is_of)) return;
    Drop(at->second);
    at->second = Promise(id, draft.members, {});
  }

 private:
  using Guest = std::pair<model::GangId, std::vector<model::PodId>>;

  static void Describe(const model::GangDraft& draft, Gang& gang) {
    gang.spec = draft.spec;
    if (gang.spec.queue_dialect.empty()) gang.spec.queue_dialect = draft.key.dialect;
    gang.census.reset();
  }
  std::vector<model::PodId> Promise(model::GangId id, const std::vector<model::GangDraft::Member>& members,
                                    const std::string& shunned) {
    std::vector<model::PodId> pods;
    for (const model::GangDraft::Member& one : members) {
      pods.push_back(state_.Promise(*one.pod));
      Member& member =
          book_.AddPromise(id, {one.role, 1, one.head, one.needs_head, one.late, false, one.pod}, pods.back());
      member.priority = one.priority;
      member.topology = one.topology;
      member.unit = one.unit;
      if (!shunned.empty()) member.refused.emplace().nodes[shunned] = std::numeric_limits<base::Millis>::max();
    }
    return pods;
  }
  void Drop(const std::vector<model::PodId>& pods) {
    for (auto pod = pods.rbegin(); pod != pods.rend(); ++pod) {
      book_.Leave(*pod);
      state_.DropPod(*pod);
    }
  }

  cluster::ClusterState& state_;
  GangBook& book_;
  std::vector<Guest> guests_;
};

// Placements, evictions, charges and quota, until it ends.
class Trial {
 public:
  Trial(cluster::ClusterState& state, cluster::WhatIf& what_if, GangBook& book, Queues& queues, QueueWaits& waits,
        QuotaDesk& desk, Guests& guests, const std::vector<model::GangId>& asking, bool by_demand,
        const std::optional<model::LeafQueueSpec>& changed)
      : state_(state),
        what_if_(what_if),
        book_(book),
        queues_(queues),
        by_demand_(by_demand),
        guests_(guests),
        asks_line_(changed.has_value()),
        quota_(desk.Ask(changed)) {
    if (queues_.Renew(by_demand_)) waits.OnLimitsChanged();
    if (by_demand_) {
      for (const model::GangId id : asking) Ask(book_.at(id));
      queues_.Renew(true);
    }
    speculation_.emplace(what_if_, book_, queues_);
  }
  ~Trial() {
    speculation_.reset();
    for (; !asked_.empty(); asked_.pop_back()) queues_.Release(queues_.pending(), asked_.back());
    if (by_demand_) queues_.Renew(true);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  bool evicts() const { return evicts_; }
  Guests& guests() { return guests_; }
  queue::KueueProspect& quota() { return quota_; }
  // Tells whether the gangs are copies of those that wait in the line of a leaf, and so ask as those do.
  bool asks_line() const { return asks_line_; }

  void Evict(model::PodId pod) {
    speculation_->Evict(pod);
    evicts_ = true;
  }
  void Take(const Gang& gang, const std::vector<cluster::Placement>& placements) {
    const QueueKeys keys = QueuesOf(gang);
    for (const cluster::Placement& one : placements) {
      const auto& pod_class = state_.pod(book_.at(one.member).pod).pod_class;
      what_if_.Place(one.member, *pod_class, one.node, one.takings);
      for (const queue::QueueKey& key : keys)
        if (const queue::QueueId queue = queues_.tree().Find(key); queue.valid())
          queues_.used().Charge(queue, queue::Ask(queues_.tree().cells(), WeightOf(*pod_class)));
    }
  }

 private:
  // What waits weighs on what queues deserve, and so on what they may have.
  void Ask(const Gang& gang) {
    for (const queue::QueueKey& key : QueuesOf(gang))
      if (queues_.Find(key))
        for (const Member* member : gang.members)
          asked_.push_back(queues_.Charge(queues_.pending(), key, WeightOf(*state_.pod(member->pod).pod_class)));
  }

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
};

}  // namespace tutti::core
