// SPDX-License-Identifier: Apache-2.0
#include "doors/messages.h"

#include <map>
#include <utility>

#include "doors/text.h"

namespace tutti::doors {
namespace {

using observe::Decision;
using observe::MemberDecision;
using observe::QueueView;

const char* Word(QueueView::Kind kind) {
  switch (kind) {
    case QueueView::Kind::kQueue: return "queue";
    case QueueView::Kind::kCohort: return "cohort";
    case QueueView::Kind::kLeaf: return "cluster-queue";
    case QueueView::Kind::kLocal: return "local";
  }
  return "";
}

const char* Word(QueueView::State state) {
  switch (state) {
    case QueueView::State::kOpen: return "open";
    case QueueView::State::kClosing: return "closing";
    case QueueView::State::kClosed: return "closed";
    case QueueView::State::kHold: return "hold";
    case QueueView::State::kHoldAndDrain: return "hold-and-drain";
  }
  return "";
}

void FillQuota(const observe::QuotaDecision& quota, v1::Quota* to) {
  to->set_state(std::string(observe::Word(quota.state)));
  to->set_local_queue(Utf8(quota.local_queue));
  to->set_queue(Utf8(quota.leaf));
  to->set_reason(Utf8(quota.reason));
  to->set_message(Utf8(quota.message));
  for (const observe::QuotaDecision::Role& role : quota.roles) {
    v1::QuotaRole& line = *to->add_roles();
    line.set_name(Utf8(role.name));
    line.set_count(Small(role.count));
    for (const auto& [resource, flavor] : role.flavors) (*line.mutable_flavors())[Utf8(resource)] = Utf8(flavor);
    for (const auto& [domain, members] : role.domains) (*line.mutable_domains())[Utf8(domain)] = Small(members);
  }
}

void FillCounts(const Decision& decision, v1::Gang* to) {
  model::ResourceList requests;
  std::map<std::string, std::pair<int64_t, int64_t>> roles;  // members, and how many are bound
  int64_t bound = 0, finished = 0;
  for (const MemberDecision& member : decision.members) {
    bound += member.bound;
    finished += member.finished;
    auto& role = roles[member.role];
    ++role.first;
    role.second += member.bound;
    requests.AddAll(WeightOf(member));
  }
  to->set_members(Small(std::ssize(decision.members)));
  to->set_bound(Small(bound));
  to->set_finished(Small(finished));
  for (const auto& [name, counts] : roles) {
    if (name.empty() && roles.size() == 1) continue;
    v1::RoleCount& role = *to->add_roles();
    role.set_name(Utf8(name));
    role.set_members(Small(counts.first));
    role.set_bound(Small(counts.second));
  }
  doors::Fill(requests, to->mutable_requests());
}

}  // namespace

void Fill(const model::ResourceList& amounts, Amounts* to) {
  for (const auto& [resource, amount] : amounts)
    if (amount != 0) (*to)[Utf8(resource)] = amount;
}

model::ResourceList WeightOf(const MemberDecision& member) {
  model::ResourceList weight;
  if (member.spec) weight = member.spec->requests;
  weight.Add(model::kPods, 1);
  return weight;
}

bool HoldsRoom(const MemberDecision& member) { return !member.node.empty() && !member.finished; }

void Fill(const model::GangKey& gang, v1::GangName* to) {
  to->set_dialect(gang.dialect);
  to->set_namespace_(Utf8(gang.ns));
  to->set_name(Utf8(gang.name));
}

void Fill(const Decision& decision, v1::Gang* to) {
  to->set_dialect(decision.gang.dialect);
  to->set_namespace_(Utf8(decision.gang.ns));
  to->set_name(Utf8(decision.gang.name));
  to->set_scheduler_name(Utf8(decision.scheduler_name));
  to->set_queue(Utf8(decision.queue));
  to->set_priority(decision.priority);
  to->set_min_member(Small(decision.min_member));
  to->set_state(std::string(observe::Word(decision.state)));
  to->set_reason(Utf8(decision.reason));
  to->set_message(Utf8(decision.message));
  if (decision.why) Fill(*decision.why, to->mutable_why());
  if (decision.since_ms > 0) SetTime(decision.since_ms, to->mutable_since());
  if (decision.created_ms > 0) SetTime(decision.created_ms, to->mutable_created());
  to->set_plan(Utf8(decision.plan));
  FillCounts(decision, to);
  if (decision.quota) FillQuota(*decision.quota, to->mutable_quota());
}

void FillMembers(const Decision& decision, v1::Gang* to) {
  for (const MemberDecision& member : decision.members) {
    v1::Member& line = *to->add_member_list();
    line.set_namespace_(Utf8(member.ns));
    line.set_name(Utf8(member.name));
    line.set_uid(Utf8(member.uid));
    line.set_role(Utf8(member.role));
    line.set_node(Utf8(member.node));
    line.set_bound(member.bound);
    line.set_finished(member.finished);
    line.set_promised(member.promised);
    line.set_reason(Utf8(member.reason));
    line.set_message(Utf8(member.message));
    Fill(WeightOf(member), line.mutable_requests());
  }
}

void Fill(const Holding& holding, v1::Holder* to) {
  Fill(holding.decision->gang, to->mutable_gang());
  to->set_queue(Utf8(QueueOf(*holding.decision)));
  to->set_priority(holding.decision->priority);
  to->set_pods(Small(holding.pods));
  Fill(holding.amounts, to->mutable_amounts());
}

void Fill(const QueueView& queue, v1::Queue* to) {
  to->set_dialect(queue.dialect);
  to->set_namespace_(Utf8(queue.ns));
  to->set_name(Utf8(queue.name));
  to->set_kind(Word(queue.kind));
  to->set_parent(Utf8(queue.parent));
  to->set_state(Word(queue.state));
  to->set_problem(Utf8(queue.problem));
  to->set_weight(queue.weight);
  to->set_priority(queue.priority);
  to->set_reclaimable(queue.reclaimable);
  to->set_share(queue.share);
  for (const QueueView::Cell& cell : queue.cells) {
    v1::QueueCell& line = *to->add_cells();
    line.set_flavor(Utf8(cell.flavor));
    line.set_resource(Utf8(cell.resource));
    if (cell.limit) line.set_limit(*cell.limit);
    if (cell.nominal) line.set_nominal(*cell.nominal);
    if (cell.deserved) line.set_deserved(*cell.deserved);
    if (cell.guarantee) line.set_guarantee(*cell.guarantee);
    line.set_used(cell.used);
    line.set_pending(cell.pending);
    line.set_reserved(cell.reserved);
    line.set_borrowed(cell.borrowed);
  }
  v1::GangCounts& gangs = *to->mutable_gangs();
  gangs.set_pending(Small(queue.pending));
  gangs.set_starting(Small(queue.starting));
  gangs.set_incomplete(Small(queue.incomplete));
  gangs.set_running(Small(queue.running));
  gangs.set_finished(Small(queue.finished));
  gangs.set_reserving(Small(queue.reserving));
  gangs.set_admitted(Small(queue.admitted));
}

void Fill(const observe::HistoryEvent& event, v1::GangEvent* to) {
  SetTime(event.at_ms, to->mutable_at());
  to->set_step(std::string(event.step));
  to->set_reason(Utf8(event.reason));
  to->set_message(Utf8(event.message));
  to->set_pod(Utf8(event.pod));
  to->set_node(Utf8(event.node));
  to->set_queue(Utf8(event.queue));
  to->set_members(Small(event.members));
  to->set_seconds(event.seconds);
  if (event.by) Fill(*event.by, to->mutable_by());
  if (event.times > 1) {
    to->set_times(Small(event.times));
    SetTime(event.last_ms, to->mutable_last());
  }
}

}  // namespace tutti::doors
