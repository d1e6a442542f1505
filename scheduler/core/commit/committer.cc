// SPDX-License-Identifier: Apache-2.0
#include "core/commit/committer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/planted.h"
#include "core/commit/plan_phase.h"

namespace tutti::core {

using base::Millis;
using model::GangId;
using model::MemberId;
using model::Pod;
using model::PodId;
using Phase = Plan::Phase;
using Stage = Assignment::Stage;

void Committer::StartTerm() {
  book_.ForEach([this](GangId id, Gang& gang) {
    if (gang.preemption) Abort(id);
  });
  plans_.StartTerm();
  evictor_.StartTerm();
  victims_.StartTerm();
  for (Preparation* preparation : preparations_) preparation->StartTerm();
  nominator_.StartTerm();
  binder_.StartTerm();
  book_.ForEach([](GangId, Gang& gang) { gang.resumed = false; });
}

void Committer::Resume(GangId id, const std::string& plan_id, const std::string& commit_uid, bool in_doubt) {
  Plan& plan = plans_.Begin(id, plan_id, commit_uid);
  plan.bind_left = plan.may_have_bound = true;
  if (!in_doubt) return;
  for (const Member* member : book_.at(id).members)
    if (const Pod& pod = *state_.pod(member->pod).pod; pod.meta.uid == commit_uid)
      plan.in_doubt[member->id] = pod.meta.resource_version;
}

void Committer::Reserve(GangId id, const std::vector<cluster::Placement>& placements, std::vector<Victim> victims) {
  Gang& gang = book_.at(id);
  Plan& plan = gang.plan ? *gang.plan : plans_.Begin(id, gang.preemption ? gang.preemption->plan : plans_.NewId(), "");
  if (!victims.empty()) victims_.Choose(id, std::move(victims));
  gang.census.reset();
  for (const cluster::Placement& placement : placements) {
    Member& member = book_.at(placement.member);
    if (!base::Planted(base::Bug::kSkipReservation) &&
        !(gang.preemption && base::Planted(base::Bug::kForgetVictimsRoom)))
      plans_.Hold(member.pod, placement.node, placement.takings);
    Assignment& assignment = plan.open[member.id] = {};
    assignment.node = state_.snapshot().node(placement.node).name;
    if (const auto& refused = member.refused) {
      assignment.goes_ahead = refused->bind;
      const auto until = refused->nodes.find(assignment.node);
      assignment.not_before_ms = std::max(refused->again_ms, until == refused->nodes.end() ? 0 : until->second);
    }
    if (!member.promised) BeginPreparing(id, member, assignment);
    charges_.Update(gang, member);
  }
  ChooseCommitMember(id, placements);
  agenda_.At(id, plan.deadline_ms);
}

void Committer::BeginPreparing(GangId id, const Member& member, Assignment& assignment) {
  for (Preparation* preparation : preparations_)
    assignment.prepared_until_ms =
        std::max(assignment.prepared_until_ms, preparation->Begin(member.pod, assignment));
  AllowForPreparing(id, assignment);
}

void Committer::AllowForPreparing(GangId id, const Assignment& assignment) {
  if (assignment.is_prepared()) return;
  Plan& plan = *book_.at(id).plan;
  agenda_.At(id, assignment.prepared_until_ms);
  plan.deadline_ms = std::max(plan.deadline_ms, assignment.prepared_until_ms + options_.repair_timeout_ms);
}

void Committer::HandOver(GangId id, Member& promise, Member& pod) {
  Gang& gang = book_.at(id);
  plans_.HandOver(gang, promise, pod);
  BeginPreparing(id, pod, gang.plan->open.at(pod.id));
}

// The head, where one is placed, else the last; but a member that no node has refused before any other.
void Committer::ChooseCommitMember(GangId id, const std::vector<cluster::Placement>& placements) {
  Plan& plan = *book_.at(id).plan;
  if (placements.empty() || plan.open.contains(plans_.CommitMember(id))) return;
  const auto fitness = [&](const cluster::Placement& placement) {
    const Member& member = book_.at(placement.member);
    return std::tuple(!member.promised, !member.refused, member.head);
  };
  const auto commit = std::ranges::max_element(placements.rbegin(), placements.rend(), {}, fitness);
  if (!book_.at(commit->member).promised) plan.commit_uid = book_.PodOf(commit->member)->meta.uid;
}

// The binds of a plan that was admitted before its pods can leave only now, so the time for its repair begins now too.
void Committer::BeginBinding(GangId id) {
  Plan& plan = *book_.at(id).plan;
  if (!plan.bind_left) plan.commit_uid.clear();
  std::vector<cluster::Placement> placed;
  for (const auto& [member, assignment] : plan.open) placed.emplace_back().member = member;
  ChooseCommitMember(id, placed);
  plans_.RestartDeadline(book_.at(id));
  for (const auto& [member, assignment] : plan.open) AllowForPreparing(id, assignment);
  agenda_.At(id, plan.deadline_ms);
}

void Committer::Pump(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.plan) return;
  Plan& plan = *gang.plan;
  PlanFacts facts;
  facts.whole = gang.whole;
  // While it waits there is no place for all of the minimum, and without a declaration the minimum is not known: no
  // member is bound first.
  facts.may_start = !gang.refusal && gang.spec.problem.empty();
  facts.victims_gone =
      !gang.preemption || (facts.may_start && victims_.Step(id)) || base::Planted(base::Bug::kCrowdOut);
  facts.prepared = plan.undoing() || Prepare(id);
  facts.awaits_pods = gang.promises > 0 && std::ranges::any_of(plan.open, [this](const auto& item) {
                        const Member& member = book_.at(item.first);
                        return member.promised && !member.late;
                      });
  if (plan.awaits_pods() && !facts.awaits_pods) BeginBinding(id);
  const MemberId last = gang.whole ? MemberId() : plans_.CommitMember(id);
  bool some_go_ahead = false;
  for (const auto& [member, assignment] : plan.open) {
    if (member == last || assignment.stage == Stage::kBound || book_.at(member).promised) continue;
    facts.others_open = true;
    some_go_ahead = some_go_ahead || assignment.goes_ahead;
  }
  plan.phase = NextPhase(plan.phase, facts);
  const auto may_leave = [&](MemberId member, const Assignment& assignment) {
    if (book_.at(member).promised) return false;
    switch (plan.phase) {
      case Phase::kHeld:
      case Phase::kVictimsLeave:
      case Phase::kPreparing:
      case Phase::kAdmitted:
      case Phase::kUndoing: return false;
      case Phase::kFilling: return assignment.is_prepared();
      case Phase::kBinding:
        return (member != last || base::Planted(base::Bug::kLastIsNotLast)) &&
               (!some_go_ahead || assignment.goes_ahead);
      case Phase::kLastBind:  // a pod of its own is all of its minimum
        return member == last && (gang.lone || MinimumStands(gang, *book_.CensusOf(gang), state_));
    }
    return false;
  };
  for (auto& [member, assignment] : plan.open)
    if (assignment.stage == Stage::kDoubt || (assignment.stage == Stage::kReserved && may_leave(member, assignment)))
      binder_.SendWhenDue(id, member, assignment);
}

bool Committer::Prepare(GangId id) {
  using Progress = Preparation::Progress;
  Gang& gang = book_.at(id);
  bool done = true, waits = gang.preemption.has_value();
  std::vector<std::pair<MemberId, std::string>> failed;
  for (auto& [member, assignment] : gang.plan->open) {
    if (assignment.stage != Stage::kReserved || book_.at(member).promised) continue;
    for (Preparation* preparation : preparations_) {
      std::string why;
      const Progress progress = preparation->Advance(id, book_.at(member).pod, assignment, &why);
      waits = waits || progress == Progress::kWaiting;
      done = done && (progress == Progress::kDone || base::Planted(base::Bug::kIgnoreVolumes));
      if (progress != Progress::kFailed) continue;
      failed.emplace_back(member, std::move(why));
      break;
    }
  }
  for (const auto& [member, why] : failed) {
    binder_.Refuse(gang, book_.at(member), why);
    agenda_.MarkReady(id);
  }
  if (waits) Nominate(id);
  return done;
}

// The others of a gang that is not whole wait for those that are prepared.
void Committer::Nominate(GangId id) {
  const Gang& gang = book_.at(id);
  for (const auto& [member, assignment] : gang.plan->open)
    if (assignment.stage == Stage::kReserved && !(gang.whole && assignment.is_prepared()) && !book_.at(member).promised)
      nominator_.Say(id, book_.at(member).pod, assignment.node);
}

bool Committer::OnPodChanged(GangId id, PodId pod) {
  Gang& gang = book_.at(id);
  Member& member = book_.MemberOf(pod);
  member.gone_unobserved = false;
  if (!base::Planted(base::Bug::kOldCensus)) gang.census.reset();
  if (!gang.plan) return false;
  const auto open = gang.plan->open.find(member.id);
  bool as_planned = false;
  if (open != gang.plan->open.end()) {
    Assignment& assignment = open->second;
    const Pod& now = *state_.pod(pod).pod;
    if (now.bound()) {
      const bool acknowledged = assignment.stage == Stage::kBound;
      const std::string node = assignment.node;
      gang.plan->open.erase(open);
      as_planned = now.node_name == node && state_.NodeExists(node) && !now.done() && !now.meta.deleting();
      if (!acknowledged && now.node_name == node) binder_.OnSeenBound(gang, member, node);
    } else if (assignment.stage == Stage::kReserved && (now.done() || now.meta.deleting())) {
      plans_.Release(gang, member);
    } else if (assignment.stage == Stage::kReserved && assignment.outdated &&
               assignment.sent_resource_version != now.meta.resource_version) {
      assignment.not_before_ms = 0;
    }
  }
  plans_.ConfirmIfWhole(id);
  return as_planned && Plans::Flows(gang);
}

void Committer::OnLeave(GangId id, Member& member) {
  Gang& gang = book_.at(id);
  victims_.OnLeave(id, member);
  plans_.Drop(gang, member);
  if (gang.plan && gang.members.size() == 1) plans_.End(id);
}

void Committer::WakeUnprepared() {
  for (const GangId id : plans_.all())
    if (std::ranges::any_of(book_.at(id).plan->open, [](const auto& item) { return !item.second.is_prepared(); }))
      agenda_.MarkReady(id);
}

bool Committer::Abort(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.plan || gang.whole || gang.plan->bind_left) return false;
  if (!book_.CensusOf(gang)->NobodyBound()) return false;  // bound by another scheduler
  plans_.End(id);
  return true;
}

bool Committer::GiveUpLate(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.preemption || !victims_.IsLate(gang)) return false;
  victims_.GiveUp(id);
  gang_status_.TellGang(gang, true, "PreemptionTimedOut", gang.given_up->words);
  Abort(id);
  return true;
}

bool Committer::Undo(GangId id, const std::string& why) {
  Gang& gang = book_.at(id);
  TUTTI_CHECK(gang.plan && !gang.whole, "only a gang that never was whole is undone");
  gang.plan->phase = Phase::kUndoing;
  plans_.ReleaseUnsent(id);
  const std::shared_ptr<const Census> census = book_.CensusOf(gang);
  bool going = census->placed.empty() && census->lost.empty();
  for (Member* member : census->placed) going = evictor_.EvictUnlessKept(*member, why) || going;
  for (Member* member : census->lost) going = evictor_.EvictLost(*member) || going;
  return going;
}

}  // namespace tutti::core
