// SPDX-License-Identifier: Apache-2.0
#include "core/passes/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/gangs/lightest.h"

namespace tutti::core {

using model::GangDraft;
using model::GangId;
using model::PodId;

// In reverse, so that the slots are free in the order in which they were.
Guests::~Guests() {
  for (; !guests_.empty(); guests_.pop_back()) {
    const auto& [id, pods] = guests_.back();
    Drop(pods);
    book_.Retract(id);
  }
}

GangId Guests::Add(dialects::Dialect& dialect, const GangDraft& draft, const std::string& shunned) {
  const GangId id =
      book_.Open(&dialect, {fmt::format("question/{}", guests_.size()), draft.key.ns, draft.key.name});
  Gang& gang = book_.at(id);
  Describe(draft, gang);
  gang.declared = true;
  gang.lone = draft.lone;
  guests_.emplace_back(id, Promise(id, draft.members, shunned));
  return id;
}

void Guests::Become(GangId id, const GangDraft& draft) {
  const auto at = std::ranges::find(guests_, id, &Guest::first);
  Describe(draft, book_.at(id));
  const auto is_of = [this](PodId pod, const GangDraft::Member& one) {
    return *state_.pod(pod).pod->spec == *one.pod->spec;
  };
  if (std::ranges::equal(at->second, draft.members, is_of)) return;
  Drop(at->second);
  at->second = Promise(id, draft.members, {});
}

void Guests::Describe(const GangDraft& draft, Gang& gang) {
  gang.spec = draft.spec;
  if (gang.spec.queue_dialect.empty()) gang.spec.queue_dialect = draft.key.dialect;
  gang.census.reset();
}

std::vector<PodId> Guests::Promise(GangId id, const std::vector<GangDraft::Member>& members,
                                   const std::string& shunned) {
  std::vector<PodId> pods;
  for (const GangDraft::Member& one : members) {
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

void Guests::Drop(const std::vector<PodId>& pods) {
  for (auto pod = pods.rbegin(); pod != pods.rend(); ++pod) {
    book_.Leave(*pod);
    state_.DropPod(*pod);
  }
}

Trial::Trial(cluster::ClusterState& state, cluster::WhatIf& what_if, GangBook& book, Queues& queues, QueueWaits& waits,
             QuotaDesk& desk, Guests& guests, const std::vector<GangId>& asking, bool by_demand,
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
    for (const GangId id : asking) Ask(book_.at(id));
    queues_.Renew(true);
  }
  speculation_.emplace(what_if_, book_, queues_);
}

Trial::~Trial() {
  speculation_.reset();
  for (; !asked_.empty(); asked_.pop_back()) queues_.Release(queues_.pending(), asked_.back());
  if (by_demand_) queues_.Renew(true);
}

void Trial::Evict(PodId pod) {
  evicts_ = true;
  if (!state_.pod(pod).evicted) speculation_->Evict(pod);
}

void Trial::End(GangId guest, const Taken& taken) {
  for (size_t i = 0; i < taken.count; ++i) what_if_.Depart(taken.first + i);
  for (const queue::ChargeId charge : taken.charges) queues_.used().Release(charge);
  quota_.End(guest);
}

void Trial::End(const std::vector<PodId>& pods, GangId gang) {
  for (const PodId pod : pods) Evict(pod);
  if (gang) quota_.End(gang);
}

void Trial::Take(const Gang& gang, const std::vector<cluster::Placement>& placements) {
  taken_ = {what_if_.placements().size(), placements.size(), {}};
  const QueueKeys keys = QueuesOf(gang);
  for (const cluster::Placement& one : placements) {
    const auto& pod_class = state_.pod(book_.at(one.member).pod).pod_class;
    what_if_.Place(one.member, *pod_class, one.node, one.takings);
    for (const queue::QueueKey& key : keys)
      if (const queue::QueueId queue = queues_.tree().Find(key); queue.valid())
        taken_.charges.push_back(
            queues_.used().Charge(queue, queue::Ask(queues_.tree().cells(), WeightOf(*pod_class))));
  }
}

void Trial::Ask(const Gang& gang) {
  for (const queue::QueueKey& key : QueuesOf(gang))
    if (queues_.Find(key))
      for (const Member* member : gang.members)
        asked_.push_back(queues_.Charge(queues_.pending(), key, WeightOf(*state_.pod(member->pod).pod_class)));
}

}  // namespace tutti::core
