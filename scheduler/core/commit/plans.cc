// SPDX-License-Identifier: Apache-2.0
#include "core/commit/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/planted.h"
#include "core/gangs/census.h"
#include "core/gangs/evidence.h"

namespace tutti::core {

using base::Millis;
using model::GangId;
using model::MemberId;
using model::Pod;
using model::PodId;
using Stage = Assignment::Stage;

namespace {

void AppendBase36(uint64_t value, std::string* to) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 36).ptr;
  to->append(digits.data(), end);
}

}  // namespace

void Plans::StartTerm() {
  term_.clear();
  if (!base::Planted(base::Bug::kReusePlanId)) AppendBase36(static_cast<uint64_t>(clock_.WallMs()), &term_);
  count_ = 0;
}

std::string Plans::NewId() {
  std::string id = term_ + "-";
  AppendBase36(++count_, &id);
  return id;
}

Plan& Plans::Begin(GangId id, const std::string& plan_id, const std::string& commit_uid) {
  Gang& gang = book_.at(id);
  Plan& plan = gang.plan.emplace();
  plan.id = plan_id;
  plan.commit_uid = commit_uid;
  plan.begun_ms = clock_.MonotonicMs();
  RestartDeadline(gang);
  gang.last_plan = plan_id;
  gang.census.reset();
  planned_.insert(id);
  return plan;
}

void Plans::RestartDeadline(Gang& gang) const {
  const Millis timeout = gang.spec.start_timeout_ms > 0 ? gang.spec.start_timeout_ms : options_.repair_timeout_ms;
  gang.plan->deadline_ms = clock_.MonotonicMs() + timeout;
}

void Plans::End(GangId id) {
  ReleaseUnsent(id);
  Gang& gang = book_.at(id);
  agenda_.Cancel(id, gang.plan->deadline_ms);
  gang.plan.reset();
  gang.census.reset();
  planned_.erase(id);
}

void Plans::Hold(PodId pod, model::NodeId node, cluster::Takings takings) {
  state_.Reserve(pod, node, std::move(takings), book_.GangOf(pod));
}

void Plans::HandOver(Gang& gang, Member& promise, Member& to) {
  state_.HandOver(promise.pod, to.pod);
  auto held = gang.plan->open.extract(promise.id);
  held.key() = to.id;
  gang.plan->open.insert(std::move(held));
  gang.census.reset();
  charges_.Update(gang, promise);
  charges_.Update(gang, to);
}

void Plans::Release(Gang& gang, Member& member) {
  state_.Release(member.pod);
  if (gang.plan) gang.plan->open.erase(member.id);
  gang.census.reset();
  charges_.Update(gang, member);
}

void Plans::ReleaseUnsent(GangId id) {
  Gang& gang = book_.at(id);
  std::vector<MemberId> unsent;
  for (const auto& [member, assignment] : gang.plan->open)
    if (assignment.stage == Stage::kReserved) unsent.push_back(member);
  for (const MemberId member : unsent) Release(gang, book_.at(member));
}

void Plans::Drop(Gang& gang, Member& member) {
  if (gang.plan) {
    gang.plan->open.erase(member.id);
    gang.plan->in_doubt.erase(member.id);
  }
  gang.census.reset();
  state_.Release(member.pod);
  charges_.TakeBack(gang, member);
}

void Plans::ConfirmIfWhole(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.plan || gang.whole || gang.plan->undoing()) return;
  // Each reply asks: while a member is still on its way the others need not be counted. A declaration that cannot be
  // read says nothing about the minimum.
  const bool reserved = std::ranges::any_of(gang.plan->open, [this](const auto& item) {
    if (item.second.stage == Stage::kBound || book_.at(item.first).late) return false;
    const Pod& pod = *book_.PodOf(item.first);
    return !pod.bound() && !pod.done() && !pod.meta.deleting();
  });
  bool met = false;
  if (!reserved && gang.spec.problem.empty()) {
    const std::shared_ptr<const Census> census = book_.CensusOf(gang);
    met = census->reserved.empty() && MinimumStands(gang, *census, state_);
  }
  // The last bind is the commit record: a leader that reads it after a restart finds a gang that was whole, whatever
  // became of the others while it was on its way. So it is whole here too.
  if (met || CommitIsBound(id)) MakeWhole(gang);
}

void Plans::MakeWhole(Gang& gang) {
  if (gang.whole || gang.plan->undoing()) return;
  gang.whole = true;
  if (gang.quota) gang.census.reset();  // see CountEnded
  book_.EndRefusal(gang);
  const Requirement requirement = Require(gang, *book_.CensusOf(gang));
  if (gang.members.size() > 1 && requirement.met())
    gang_status_.TellGang(gang, false, "Scheduled", fmt::format("all {} required members are bound", requirement.min));
  announcer_.Whole(gang);
}

// A list that is behind may leave a pod out; when it comes back, it is the same to the API server but not here.
MemberId Plans::CommitMember(GangId id) const {
  Gang& gang = book_.at(id);
  Plan& plan = *gang.plan;
  const auto is_it = [&](const Member* member) { return state_.pod(member->pod).pod->meta.uid == plan.commit_uid; };
  if (plan.commit_member)
    if (const Member* known = book_.Find(id, plan.commit_member); known && is_it(known)) return plan.commit_member;
  const auto at = std::ranges::find_if(gang.members, is_it);
  return plan.commit_member = at == gang.members.end() ? MemberId() : (*at)->id;
}

// Acknowledged, or seen; and as the last of a plan.
bool Plans::CommitIsBound(GangId id) const {
  const MemberId commit = CommitMember(id);
  if (!commit) return false;
  const auto& plan = book_.at(id).plan;
  const auto open = plan->open.find(commit);
  return WasLast(*book_.PodOf(commit)) || (open != plan->open.end() && open->second.stage == Stage::kBound);
}

bool Plans::OnItsWay(PodId pod) const {
  const GangId id = book_.GangOf(pod);
  if (!id || !book_.at(id).plan) return false;
  const auto& open = book_.at(id).plan->open;
  const auto at = open.find(book_.member_of(pod));
  return at != open.end() && at->second.stage != Stage::kReserved;
}

bool Plans::CommitOnItsWay(GangId id) const {
  const auto& plan = book_.at(id).plan;
  const auto open = plan->open.find(CommitMember(id));
  if (open == plan->open.end()) return false;
  return open->second.stage == Stage::kSent || open->second.stage == Stage::kDoubt;
}

Member* Plans::CommitInDoubt(Gang& gang) const {
  if (base::Planted(base::Bug::kDropFence)) return nullptr;
  for (const auto& [id, resource_version] : gang.plan->in_doubt)
    if (const Pod& pod = *book_.PodOf(id); !pod.bound() && pod.meta.resource_version == resource_version)
      return &book_.at(id);
  return nullptr;
}

bool Plans::Flows(const Gang& gang) {
  return !gang.whole && !gang.refusal && !gang.plan->undoing() &&
         std::ranges::any_of(gang.plan->open, [](const auto& item) { return item.second.stage == Stage::kSent; });
}

bool Plans::IsOfPlan(const Member& member, const Gang& gang) const {
  if (gang.plan->open.contains(member.id)) return true;
  const std::optional<Evidence> evidence = ReadEvidence(*state_.pod(member.pod).pod);
  return evidence && evidence->plan == gang.plan->id;
}

}  // namespace tutti::core
