// SPDX-License-Identifier: Apache-2.0
#include "core/committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"
#include "base/json.h"
#include "base/json_string.h"
#include "base/planted.h"
#include "core/evidence.h"

namespace tutti::core {

using base::Millis;
using cluster::Lane;
using cluster::Outcome;
using model::GangId;
using model::Pod;
using model::PodId;
using Stage = Assignment::Stage;

namespace {

constexpr Millis kRepeatBindMs = 500, kRepeatEvictionMs = 500;
constexpr Millis kEvictDeadlineMs = 30'000;
// Whom so many nodes refuse is refused for what it is, not for where it goes.
constexpr int kRefusedAtOnce = 3;

void AppendBase36(uint64_t value, std::string* to) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 36).ptr;
  to->append(digits.data(), end);
}

}  // namespace

void Committer::StartTerm() {
  term_.clear();
  if (!base::Planted(base::Bug::kReusePlanId)) AppendBase36(static_cast<uint64_t>(clock_.WallMs()), &term_);
  plans_ = 0;
  binds_.clear();
  evictions_.clear();
  volumes_.StartTerm();
  nominator_.StartTerm();
  book_.ForEach([this](GangId, Gang& gang) {
    for (Member* member : gang.members) member->evicting = member->away = false;
    if (!gang.plan) return;
    for (auto& [pod, assignment] : gang.plan->open)
      if (assignment.stage == Stage::kSent) Doubt(gang, pod, assignment);
  });
}

void Committer::Doubt(Gang& gang, PodId pod, Assignment& assignment) {
  assignment.stage = Stage::kDoubt;
  gang.plan->unheard = true;
  if (!gang.whole && state_.pod(pod).pod->meta.uid == gang.plan->commit_uid)
    gang.plan->in_doubt[pod] = assignment.sent_resource_version;
}

// Short, for there is one with every pod.
std::string Committer::NewPlanId() {
  std::string id = term_ + "-";
  AppendBase36(++plans_, &id);
  return id;
}

void Committer::Begin(GangId id, const std::string& plan_id, const std::string& commit_uid) {
  Gang& gang = book_.at(id);
  const Millis timeout = gang.spec.start_timeout_ms > 0 ? gang.spec.start_timeout_ms : options_.repair_timeout_ms;
  Plan& plan = gang.plan.emplace();
  plan.id = plan_id;
  plan.commit_uid = commit_uid;
  plan.begun_ms = clock_.MonotonicMs();
  plan.deadline_ms = plan.begun_ms + timeout;
  gang.last_plan = plan_id;
  planned_.insert(id);
}

void Committer::Resume(GangId id, const std::string& plan_id, const std::string& commit_uid, bool in_doubt) {
  Begin(id, plan_id, commit_uid);
  Gang& gang = book_.at(id);
  gang.plan->bind_left = gang.plan->unheard = true;
  if (!in_doubt) return;
  for (const Member* member : gang.members)
    if (const Pod& pod = *state_.pod(member->pod).pod; pod.meta.uid == commit_uid)
      gang.plan->in_doubt[member->pod] = pod.meta.resource_version;
}

void Committer::EndPlan(GangId id) {
  book_.at(id).plan.reset();
  planned_.erase(id);
}

void Committer::Reserve(GangId id, const std::vector<cluster::Placement>& placements) {
  Gang& gang = book_.at(id);
  if (!gang.plan) Begin(id, NewPlanId(), "");
  Plan& plan = *gang.plan;
  for (const cluster::Placement& placement : placements) {
    if (!base::Planted(base::Bug::kSkipReservation)) state_.Assume(placement.pod, placement.node, placement.picks);
    Assignment& assignment = plan.open[placement.pod] = {};
    assignment.node = state_.snapshot().node(placement.node).name;
    if (const auto& refused = book_.MemberOf(placement.pod).refused) {
      assignment.goes_ahead = refused->bind;
      assignment.not_before_ms = refused->again_ms;
    }
    volumes_.Begin(placement.pod, assignment);
    if (!assignment.volumes.empty()) {  // the time-out of the repair begins when they are bound
      on_timer(id, assignment.volumes_until_ms);
      plan.deadline_ms = std::max(plan.deadline_ms, assignment.volumes_until_ms + options_.repair_timeout_ms);
    }
    charges_.Update(gang, book_.MemberOf(placement.pod));
  }
  if (!placements.empty() && !plan.open.contains(CommitMember(id))) {
    // The head, where one is placed, else the last; but whom nothing refused before anybody else.
    const auto fitness = [&](const cluster::Placement& placement) {
      const Member& member = book_.MemberOf(placement.pod);
      return std::pair(!member.refused, member.head);
    };
    const auto commit = std::ranges::max_element(placements.rbegin(), placements.rend(), {}, fitness);
    plan.commit_uid = state_.pod(commit->pod).pod->meta.uid;
  }
  on_timer(id, plan.deadline_ms);
}

void Committer::Pump(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.plan) return;
  Plan& plan = *gang.plan;
  // While it waits there is no place for all of the minimum, and without a declaration nobody knows what that is:
  // nobody is bound first.
  const bool may_start = gang.whole || (!gang.refusal && gang.spec.problem.empty());
  const bool settled = plan.undoing || (SettleVolumes(id) && may_start);
  const PodId last = gang.whole ? PodId() : CommitMember(id);
  const bool some_go_ahead = !gang.whole && std::ranges::any_of(plan.open, [last](const auto& item) {
    return item.second.goes_ahead && item.second.stage != Stage::kBound && item.first != last;
  });
  bool others_open = false;
  PodId commit;
  for (auto& [pod, assignment] : plan.open) {
    if (assignment.stage == Stage::kDoubt) SendWhenDue(id, pod, assignment);
    if (pod == last) {
      if (assignment.stage == Stage::kReserved && settled) commit = pod;
      if (!base::Planted(base::Bug::kLastIsNotLast)) continue;
    }
    const bool may_leave =
        gang.whole ? assignment.volumes.empty() : settled && (!some_go_ahead || assignment.goes_ahead);
    if (assignment.stage == Stage::kReserved && may_leave && !plan.undoing) SendWhenDue(id, pod, assignment);
    others_open = others_open || assignment.stage != Stage::kBound;
  }
  if (!commit || others_open || plan.undoing) return;
  const Census census = TakeCensus(gang, state_);
  const bool leaving = std::ranges::any_of(census.placed, &Member::evicting);  // its node was gone, and is back
  if (Require(gang, census).met() && census.lost.empty() && !leaving) SendWhenDue(id, commit, plan.open.at(commit));
}

bool Committer::SettleVolumes(GangId id) {
  Gang& gang = book_.at(id);
  bool settled = true, slow = false;
  std::vector<std::pair<PodId, std::string>> failed;
  for (auto& [pod, assignment] : gang.plan->open) {
    if (assignment.stage != Stage::kReserved) continue;
    std::string why;
    const VolumeBinder::Stand stand = volumes_.Advance(id, pod, assignment, &why);
    slow = slow || stand == VolumeBinder::Stand::kWaiting;
    settled = settled && (stand == VolumeBinder::Stand::kSettled || base::Planted(base::Bug::kIgnoreVolumes));
    if (stand == VolumeBinder::Stand::kFailed) failed.emplace_back(pod, std::move(why));
  }
  for (const auto& [pod, why] : failed) {
    Refuse(gang, pod, why);
    book_.MarkReady(id);
  }
  if (slow) Nominate(id);
  return settled;
}

// The others of a gang that is not whole wait for those with volumes.
void Committer::Nominate(GangId id) {
  const Gang& gang = book_.at(id);
  for (const auto& [pod, assignment] : gang.plan->open)
    if (assignment.stage == Stage::kReserved && !(gang.whole && assignment.volumes.empty()))
      nominator_.Say(id, pod, assignment.node);
}

// The node will not do for the member for a while: it gives up its room there. Another one is asked at once, but not
// one after another.
void Committer::Refuse(Gang& gang, PodId pod, const std::string& message) {
  const Millis now = clock_.MonotonicMs();
  Plan& plan = *gang.plan;
  Member& member = book_.MemberOf(pod);
  RefusedBinds& refused = member.refused ? *member.refused : member.refused.emplace();
  Millis backoff = options_.pod_initial_backoff_ms;
  for (int i = 0; i < refused.times && backoff < options_.pod_max_backoff_ms; ++i) backoff *= 2;
  backoff = std::min(backoff, options_.pod_max_backoff_ms);
  refused.nodes[plan.open.at(pod).node] = now + backoff;
  refused.why = message;
  if (++refused.times >= kRefusedAtOnce) refused.again_ms = now + backoff;
  on_timer(book_.GangOf(pod), now + backoff);
  Release(gang, pod);
  const bool others_left =
      std::ranges::any_of(plan.open, [](const auto& item) { return item.second.stage != Stage::kReserved; });
  if (!others_left && !plan.unheard && TakeCensus(gang, state_).NobodyBound()) plan.bind_left = false;
  if (on_refused) on_refused(gang, member, message);
}

void Committer::SendWhenDue(GangId id, PodId pod, Assignment& assignment) {
  if (assignment.not_before_ms <= clock_.MonotonicMs())
    SendBind(id, pod, assignment);
  else
    on_timer(id, assignment.not_before_ms);
}

void Committer::SendBind(GangId id, PodId member, Assignment& assignment) {
  Gang& gang = book_.at(id);
  Plan& plan = *gang.plan;
  const std::shared_ptr<const Pod>& pod = state_.pod(member).pod;
  plan.bind_left = true;
  // What fills up a whole gang is no part of what made it whole: it names itself.
  const std::string& commit_uid = gang.whole ? pod->meta.uid : plan.commit_uid;
  cluster::Bind bind{cluster::RefOf(pod), assignment.node, {}};
  // One in doubt is repeated as it was: it finds out what came of it, and binds nobody who has changed since, such as
  // to another gang.
  if (assignment.stage != Stage::kDoubt) assignment.sent_resource_version = pod->meta.resource_version;
  bind.pod.resource_version = assignment.sent_resource_version;
  bind.annotations.emplace_back(kBindAnnotation, WriteEvidence(plan.id, pod->meta.uid, assignment.node, commit_uid));
  assignment.stage = Stage::kSent;
  const bool last_of_many = !gang.whole && gang.members.size() > 1 && pod->meta.uid == commit_uid;
  const base::Millis deadline_ms = clock_.MonotonicMs() + options_.bind_timeout_ms;
  if (const auto binder = extender_desk_.BinderOf(*state_.pod(member).pod_class->spec)) {
    assignment.command = outbox_.NextId();
    extender_desk_.extenders()->Bind(*binder, assignment.command, deadline_ms, bind);
  } else {
    assignment.command = outbox_.Send(last_of_many ? Lane::kCommit : Lane::kBind, deadline_ms, std::move(bind));
  }
  binds_.emplace(assignment.command, Bound{id, member, pod});
}

bool Committer::OnAnswer(const cluster::Answer& answer) {
  if (volumes_.OnAnswer(answer) || nominator_.OnAnswer(answer)) return true;
  if (OnEvictionAnswer(answer)) return true;
  const auto at = binds_.find(answer.id);
  if (at == binds_.end()) return false;
  const Bound bound = std::move(at->second);
  binds_.erase(at);
  Gang& gang = book_.at(bound.gang);
  if (book_.GangOf(bound.pod) != bound.gang || state_.pod(bound.pod).pod->meta.uid != bound.as->meta.uid) {
    // It went before its answer came, and perhaps before it was seen bound; its gang was whole all the same.
    if (answer.outcome == Outcome::kDone && gang.plan && gang.plan->commit_uid == bound.as->meta.uid) {
      MakeWhole(gang);
      book_.MarkReady(bound.gang);
    }
    return true;
  }
  const bool as_planned = OnBindAnswer(bound.gang, bound.pod, answer);
  if (!as_planned || !Flows(gang)) book_.MarkReady(bound.gang);
  return true;
}

bool Committer::OnBindAnswer(GangId id, PodId pod, const cluster::Answer& answer) {
  Gang& gang = book_.at(id);
  Member& member = book_.MemberOf(pod);
  if (!gang.plan) return false;
  const auto open = gang.plan->open.find(pod);
  if (open == gang.plan->open.end()) return answer.outcome == Outcome::kDone;  // it was seen bound, or went, before
  Assignment& assignment = open->second;
  const Millis now = clock_.MonotonicMs();
  bool as_planned = false;
  assignment.command = 0;

  // Bound where it was planned: by our own bind, whose answer was lost, or by somebody else, whose plan is nothing to
  // us. It has the room that is held for it either way. After a restart it may bear another's evidence, or none: that
  // the commit member is bound says then that the gang was whole, whoever bound it (Examine).
  if (answer.outcome == Outcome::kDone || (!answer.current_node.empty() && answer.current_node == assignment.node)) {
    assignment.stage = Stage::kBound;
    member.refused.reset();
    as_planned = !assignment.room_lost;
    if (on_bound) on_bound(gang, member, assignment.node);
    ConfirmIfWhole(id);
  } else if (answer.outcome == Outcome::kUnknown) {
    Doubt(gang, pod, assignment);
    assignment.not_before_ms = now + kRepeatBindMs;
    on_timer(id, assignment.not_before_ms);
  } else if (answer.gone || !answer.current_node.empty()) {
    Release(gang, pod);
    member.away = true;
  } else if (assignment.room_lost || state_.pod(pod).pod->done() || state_.pod(pod).pod->meta.deleting()) {
    Release(gang, pod);
  } else if (answer.http_status == 409) {
    assignment.stage = Stage::kReserved;  // the pod changed since; its event brings the new resourceVersion
    const bool newer = state_.pod(pod).pod->meta.resource_version != assignment.sent_resource_version;
    assignment.not_before_ms = newer ? now : now + kRepeatBindMs;
    if (!newer) on_timer(id, assignment.not_before_ms);
  } else if (answer.unheard()) {
    assignment.stage = Stage::kReserved;  // nothing is wrong with the node
    assignment.not_before_ms = now + kRepeatBindMs;
    on_timer(id, assignment.not_before_ms);
  } else {
    Refuse(gang, pod, fmt::format("binding to node \"{}\" was refused: {}", assignment.node, answer.message));
    member.refused->bind = true;
  }
  return as_planned;
}

bool Committer::OnEvictionAnswer(const cluster::Answer& answer) {
  const auto at = evictions_.find(answer.id);
  if (at == evictions_.end()) return false;
  const Eviction eviction = at->second;
  evictions_.erase(at);
  const GangId id = book_.Find(eviction.gang);
  Member* member = book_.Find(id, eviction.pod);
  if (!member || state_.pod(eviction.pod).pod->meta.uid != eviction.uid) return true;
  const std::shared_ptr<const Pod>& pod = state_.pod(eviction.pod).pod;
  if (answer.outcome != Outcome::kDone) {  // without the condition it is not deleted
    member->evicting = false;
    member->evict_again_ms = clock_.MonotonicMs() + kRepeatEvictionMs;
    on_timer(id, member->evict_again_ms);
    ConfirmIfWhole(id);
  } else if (pod->done()) {  // meanwhile; it holds nothing any more, and what it has left behind is its owner's
    member->evicting = false;
  } else if (!eviction.marked) {
    const cluster::CommandId next =
        outbox_.Send(Lane::kEvict, clock_.MonotonicMs() + kEvictDeadlineMs, cluster::Delete{cluster::RefOf(pod)});
    evictions_.emplace(next, Eviction{eviction.gang, eviction.pod, eviction.uid, true});
  }
  return true;
}

// A list that is behind may leave a pod out; when it comes back, it is the same to the API server but not here.
PodId Committer::CommitMember(GangId id) const {
  Gang& gang = book_.at(id);
  Plan& plan = *gang.plan;
  const auto is_it = [&](PodId pod) { return state_.pod(pod).pod->meta.uid == plan.commit_uid; };
  if (plan.commit_pod && book_.GangOf(plan.commit_pod) == id && is_it(plan.commit_pod)) return plan.commit_pod;
  const auto at = std::ranges::find_if(gang.members, is_it, &Member::pod);
  return plan.commit_pod = at == gang.members.end() ? PodId() : (*at)->pod;
}

// Acknowledged, or seen; as the last of a plan, not by whoever.
bool Committer::CommitIsBound(GangId id) const {
  const PodId commit = CommitMember(id);
  if (!commit) return false;
  const auto& plan = book_.at(id).plan;
  const auto open = plan->open.find(commit);
  return WasLast(*state_.pod(commit).pod) || (open != plan->open.end() && open->second.stage == Stage::kBound);
}

bool Committer::OnItsWay(PodId pod) const {
  const GangId id = book_.GangOf(pod);
  if (!id || !book_.at(id).plan) return false;
  const auto& open = book_.at(id).plan->open;
  const auto at = open.find(pod);
  return at != open.end() && at->second.stage != Stage::kReserved;
}

bool Committer::CommitOnItsWay(GangId id) const {
  const auto& plan = book_.at(id).plan;
  const auto open = plan->open.find(CommitMember(id));
  if (open == plan->open.end()) return false;
  return open->second.stage == Stage::kSent || open->second.stage == Stage::kDoubt;
}

Member* Committer::CommitInDoubt(Gang& gang) const {
  if (base::Planted(base::Bug::kDropFence)) return nullptr;
  for (const auto& [id, resource_version] : gang.plan->in_doubt)
    if (const Pod& pod = *state_.pod(id).pod; !pod.bound() && pod.meta.resource_version == resource_version)
      return &book_.MemberOf(id);
  return nullptr;
}

bool Committer::Flows(const Gang& gang) {
  return !gang.whole && !gang.refusal && !gang.plan->undoing &&
         std::ranges::any_of(gang.plan->open, [](const auto& item) { return item.second.stage == Stage::kSent; });
}

void Committer::ConfirmIfWhole(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.plan || gang.whole || gang.plan->undoing) return;
  // Each answer asks: while a member is still on its way the others need not be counted. A declaration that cannot be
  // read says nothing about the minimum.
  const bool reserved = std::ranges::any_of(gang.plan->open, [this](const auto& item) {
    const Pod& pod = *state_.pod(item.first).pod;
    return item.second.stage != Stage::kBound && !pod.bound() && !pod.done() && !pod.meta.deleting();
  });
  bool met = false;
  if (!reserved && gang.spec.problem.empty()) {
    const Census census = TakeCensus(gang, state_);
    // Nor does one count that is being deleted because its node was gone, though that has come back.
    const bool leaving = std::ranges::any_of(census.placed, &Member::evicting);
    met = census.reserved.empty() && census.lost.empty() && !leaving && Require(gang, census).met();
  }
  // The last bind is the commit record: whoever reads it after a restart finds a gang that was whole, whatever became
  // of the others while it was on its way. So it is whole here too.
  if (met || CommitIsBound(id)) MakeWhole(gang);
}

void Committer::MakeWhole(Gang& gang) {
  if (gang.whole || gang.plan->undoing) return;
  gang.whole = true;
  if (on_whole) on_whole(gang);
}

bool Committer::OnPodChanged(GangId id, PodId pod) {
  Gang& gang = book_.at(id);
  book_.MemberOf(pod).away = false;
  if (!gang.plan) return false;
  const auto open = gang.plan->open.find(pod);
  bool as_planned = false;
  if (open != gang.plan->open.end()) {
    const Pod& now = *state_.pod(pod).pod;
    if (now.bound()) {
      const bool acknowledged = open->second.stage == Stage::kBound;
      const std::string node = open->second.node;
      gang.plan->open.erase(open);
      as_planned = now.node_name == node && state_.NodeExists(node) && !now.done() && !now.meta.deleting();
      if (!acknowledged && now.node_name == node && on_bound) on_bound(gang, book_.MemberOf(pod), node);
    } else if (now.done() || now.meta.deleting()) {
      if (open->second.stage == Stage::kReserved) Release(gang, pod);
    } else if (open->second.stage == Stage::kReserved && !open->second.sent_resource_version.empty() &&
               open->second.sent_resource_version != now.meta.resource_version) {
      open->second.not_before_ms = 0;
    }
  }
  ConfirmIfWhole(id);
  return as_planned && Flows(gang);
}

void Committer::Release(Gang& gang, PodId pod) {
  state_.Forget(pod);
  if (gang.plan) gang.plan->open.erase(pod);
  charges_.Update(gang, book_.MemberOf(pod));
}

void Committer::OnLeave(Gang& gang, Member& member) {
  if (gang.plan) {
    gang.plan->open.erase(member.pod);
    gang.plan->in_doubt.erase(member.pod);
  }
  state_.Forget(member.pod);
  charges_.TakeBack(gang, member);
}

void Committer::OnNodeGone(model::NodeId node) {
  const std::string name = state_.snapshot().node(node).name;
  for (const GangId id : planned_) {
    Gang& gang = book_.at(id);
    std::vector<PodId> unsent;
    for (auto& [pod, assignment] : gang.plan->open)
      if (assignment.node == name) {
        assignment.room_lost = true;
        if (assignment.stage == Stage::kReserved) unsent.push_back(pod);
        book_.MarkReady(id);
      }
    for (const PodId pod : unsent) Release(gang, pod);
  }
}

// What the pod asks for, as all that is there or held leaves it.
bool Committer::HasRoom(model::NodeId node, PodId pod) const {
  const cluster::Snapshot& snapshot = state_.snapshot();
  return snapshot.Free(node, cluster::kPodsColumn) >= 0 &&
         std::ranges::all_of(state_.pod(pod).pod_class->requests,
                             [&](const auto& request) { return snapshot.Free(node, request.first) >= 0; });
}

// What the filters that judge a node alone say of it.
bool Committer::StillTakes(model::NodeId node, PodId id) const {
  using framework::Wake;
  constexpr Wake kOfNodeAlone = Wake::kNodeAdded | Wake::kNodeLabels | Wake::kNodeTaints;
  const cluster::PodEntry& pod = state_.pod(id);
  const framework::Profile* profile = framework::FindProfile(options_.profiles, pod.pod->spec->scheduler_name);
  return !profile || std::ranges::none_of(profile->filters, [&](const auto& filter) {
    if (framework::Any(filter->WakesOn() & ~kOfNodeAlone)) return false;
    const auto asked = filter->PrepareFilter(*pod.pod_class, state_.snapshot());
    return asked && asked->Check(node) != framework::Verdict::kFits;
  });
}

// Volumes take long to be made, and a node may be cordoned in the meantime, or filled by others. Once a bind of a gang
// that starts has left, the rest goes to a cordoned node all the same, for undoing the gang would cost more; but not
// where the kubelet would reject it.
void Committer::OnNodeChanged(model::NodeId node) {
  const std::string& name = state_.snapshot().node(node).name;
  for (const GangId id : planned_) {
    Gang& gang = book_.at(id);
    const bool started = !gang.whole && gang.plan->bind_left;
    std::vector<PodId> there;
    for (const auto& [pod, assignment] : gang.plan->open)
      if (assignment.stage == Stage::kReserved && assignment.node == name) there.push_back(pod);
    for (const PodId pod : there) {  // one that goes may leave room enough for the next
      if (HasRoom(node, pod) && (started || StillTakes(node, pod))) continue;
      Release(gang, pod);
      book_.MarkReady(id);
    }
  }
}

void Committer::OnRoomTaken(model::NodeId node, PodId by) {
  if (!planned_.empty() && !HasRoom(node, by)) OnNodeChanged(node);
}

void Committer::OnVolumeChanged() {
  for (const GangId id : planned_)
    if (std::ranges::any_of(book_.at(id).plan->open, [](const auto& item) { return !item.second.volumes.empty(); }))
      book_.MarkReady(id);
}

void Committer::OnNodeCame(model::NodeId node) {
  const std::string& name = state_.snapshot().node(node).name;
  for (const GangId id : planned_) {
    Gang& gang = book_.at(id);
    for (auto& [pod, assignment] : gang.plan->open)
      if (assignment.room_lost && assignment.node == name) {
        assignment.room_lost = false;
        state_.Assume(pod, node);
        charges_.Update(gang, book_.MemberOf(pod));
        book_.MarkReady(id);
      }
  }
}

std::optional<std::string> Committer::WhyKept(const Pod& pod) const {
  const model::OwnerReference* controller = pod.meta.Controller();
  if (!controller) return "no controller would recreate it";
  if (controller->kind == "Job") return fmt::format("its Job \"{}\" would count a failure", controller->name);
  if (pod.bound() && state_.NodeExists(pod.node_name) && !ReadEvidence(pod)) return "somebody else bound it";
  return std::nullopt;
}

bool Committer::Evict(Gang& gang, Member& member, const std::string& why) {
  const std::shared_ptr<const Pod>& pod = state_.pod(member.pod).pod;
  if (member.evicting || pod->meta.deleting()) return member.evicting;
  if (const auto kept = WhyKept(*pod)) {
    member.kept = fmt::format("{}, but this pod is kept: {}", why, *kept);
    return false;
  }
  if (clock_.MonotonicMs() < member.evict_again_ms) return true;
  member.evicting = true;
  const base::Json patch = {{"metadata", {{"uid", pod->meta.uid}}},
                            {"status",
                             {{"conditions",
                               {{{"type", model::kUndoCondition},
                                 {"status", "True"},
                                 {"reason", model::kUndoReason},
                                 {"message", why},
                                 {"lastTransitionTime", base::FormatTime(clock_.WallMs())}}}}}}};
  const cluster::CommandId id =
      outbox_.Send(Lane::kEvict, clock_.MonotonicMs() + kEvictDeadlineMs,
                   cluster::Patch{cluster::RefOf(pod), true, cluster::Patch::Type::kStrategic, base::PrintJson(patch)});
  evictions_.emplace(id, Eviction{gang.key, member.pod, pod->meta.uid, false});
  if (on_evicted) on_evicted(gang, member, why);
  return true;
}

bool Committer::EvictLost(Gang& gang, Member& member) {
  return Evict(gang, member, "the node it was bound to does not exist");
}

void Committer::GiveUpUnsent(GangId id) {
  Gang& gang = book_.at(id);
  std::vector<PodId> unsent;
  for (const auto& [pod, assignment] : gang.plan->open)
    if (assignment.stage == Stage::kReserved) unsent.push_back(pod);
  for (const PodId pod : unsent) Release(gang, pod);
}

bool Committer::Abort(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.plan || gang.whole || gang.plan->bind_left) return false;
  const Census census = TakeCensus(gang, state_);
  if (!census.NobodyBound()) return false;  // somebody else did
  GiveUpUnsent(id);
  EndPlan(id);
  return true;
}

bool Committer::Undo(GangId id, const std::string& why) {
  Gang& gang = book_.at(id);
  TUTTI_CHECK(gang.plan && !gang.whole, "only a gang that never was whole is undone");
  gang.plan->undoing = true;
  GiveUpUnsent(id);
  const Census census = TakeCensus(gang, state_);
  bool going = census.placed.empty() && census.lost.empty();
  for (Member* member : census.placed) going = Evict(gang, *member, why) || going;
  for (Member* member : census.lost) going = EvictLost(gang, *member) || going;
  return going;
}

}  // namespace tutti::core
