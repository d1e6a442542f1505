// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.h"
#include "cluster/json_text.h"

namespace tutti::simulation {

using Knowledge = Replica::Knowledge;

namespace {

// Returns the pod whose volume the patch prepares, by the names that the workload gives; null: no pod's.
const TruePod* PreparesFor(const cluster::Patch& patch, const Truth& truth) {
  if (patch.object.resource == "persistentvolumeclaims") return truth.PodAt(patch.object.ns(), patch.object.name());
  if (patch.object.resource != "persistentvolumes") return nullptr;
  const sim::Json body = cluster::ParseJson(patch.body);
  const sim::Json& claim = sim::Dig(body, "spec", "claimRef");
  return truth.PodAt(sim::DigString(claim, "namespace"), sim::DigString(claim, "name"));
}

// "2 of the 4 pods it needs fit now"
struct SaidCount {
  int64_t fit = 0, of = 0;
};

std::optional<SaidCount> ReadCount(std::string_view message) {
  const size_t end = message.find(" pods it needs fit now"), middle = message.find(" of the ");
  if (end == std::string_view::npos || middle == std::string_view::npos || middle > end) return std::nullopt;
  const std::string_view before = message.substr(0, middle), of = message.substr(middle + 8, end - middle - 8);
  const std::string_view fit = before.substr(before.rfind(' ') + 1);
  return SaidCount{std::stoll(std::string(fit)), std::stoll(std::string(of))};
}

// Some are judged in more than one place, or need not be.
constexpr std::string_view kWholeOrNothing = "whole or nothing";
constexpr std::string_view kNoOvercommit = "no node is over its allocatable";
constexpr std::string_view kAllowed = "no bind where the pod may not be";
constexpr std::string_view kOneZone = "a gang that must be is in one zone";
constexpr std::string_view kCapability = "no bind beyond a queue's capability";
constexpr std::string_view kLastIsLast = "the last bind is the last";
constexpr std::string_view kHeadFirst = "no worker starts without a head";
constexpr std::string_view kNeedsFirst = "what a gang needs comes before what it takes besides";
constexpr std::string_view kWithCause = "no write without a cause";
// After the faults have stopped, in which answers still come of what was written before.
constexpr base::Millis kEchoesMs = 20'000;

}  // namespace

void Checks::Fail(std::string_view invariant, const std::string& message) {
  if (!violation_) violation_ = Violation{std::string(invariant), message};
}

// --- As commands leave ---

void Checks::OnLease(const std::string& replica, base::Millis now, base::Millis over_ms,
                     std::optional<base::Millis> made_as_of_ms) {
  if (replica != holder_ && now < lease_over_ms_ && made_as_of_ms.value_or(now) > lease_taken_ms_)
    Fail("one has the lease at a time",
         fmt::format("{} takes it {} ms before that of {} is over", replica, lease_over_ms_ - now, holder_));
  if (replica != holder_ || made_as_of_ms) lease_taken_ms_ = now;
  holder_ = replica;
  lease_over_ms_ = over_ms;
}

void Checks::OnSubmit(Replica& replica, const std::vector<cluster::Command>& commands) {
  commands_ += commands.size();
  if (planner_.empty() || led_.at(replica.name()) > led_.at(planner_)) planner_ = replica.name();
  if (!replica.knows_all_kinds()) Fail("nothing is decided before every kind is listed", replica.name());
  std::map<std::string, Departure> fresh;
  FailIf(preemptions_.OnSubmit(replica, commands));
  for (const cluster::Command& command : commands) {
    FailIf(quotas_.OnSubmit(command));
    if (const auto* bind = std::get_if<cluster::Bind>(&command.body)) {
      const std::string* text = model::Find(bind->annotations, "tutti.dev/bind");
      const auto evidence = text ? cluster::ParseJson(*text) : base::Json();
      const std::string plan = replica.name() + " " + (evidence.is_object() ? evidence.value("plan", "") : "");
      const bool is_new = plans_.try_emplace(plan, replica.Knows()).second;
      plan_of_[bind->pod.uid()] = plan;
      if (const TruePod* pod = is_new ? truth_.Pod(bind->pod.uid()) : nullptr)
        if (auto prepared = prepared_.extract({replica.name(), pod->gang}))
          if (!truth_.GangOf(*pod).was_whole) prepared_plans_.insert_or_assign(plan, prepared.mapped());
      if (const auto ahead = ahead_.extract(plan))
        for (const std::string& uid : ahead.mapped())
          if (const TruePod* pod = truth_.Pod(uid)) fresh[plan].pods.push_back(pod);
      if (is_new || fresh.contains(plan))
        if (const TruePod* pod = truth_.Pod(bind->pod.uid())) {
          fresh[plan].pods.push_back(pod);
          fresh[plan].commit = evidence.is_object() ? evidence.value("commit", "") : "";
        }
      if (!evidence.is_object()) Fail("every bind names its plan", bind->pod.name());
      if (const TruePod* pod = evidence.is_object() ? truth_.Pod(bind->pod.uid()) : nullptr)
        if (const std::string wrong =
                pledges_.OnBindLeaves(truth_, *pod, evidence.value("plan", ""), evidence.value("commit", ""));
            !wrong.empty())
          Fail("a plan's id is of one gang", wrong);
      if (bind->pod.uid().empty() || bind->pod.resource_version.empty())
        Fail("bind without precondition", bind->pod.name());
    } else if (const auto* gone = std::get_if<cluster::Delete>(&command.body)) {
      if (gone->object.uid().empty() && gone->controller.empty())
        Fail("delete without precondition", gone->object.name());
      deletes_.insert_or_assign(gone->object.uid(), replica.Knew());
    } else if (const auto* patch = std::get_if<cluster::Patch>(&command.body)) {
      const bool of_pod = patch->object.resource == "pods";
      if (patch->status && !of_pod && !replica.BeginStatus(patch->object.uid(), command.id))
        Fail("one write of an object at a time",
             fmt::format("{} {}: {}", patch->object.kind, patch->object.name(), patch->body));
      if (const TruePod* member = PreparesFor(*patch, truth_))
        prepared_.try_emplace({replica.name(), member->gang}, replica.Knew());
      // The first step of an eviction. A member on a node that is not there is repaired by it, not undone.
      const TruePod* pod = of_pod ? truth_.Pod(patch->object.uid()) : nullptr;
      if (pod && !pod->bound()) CheckPatch(replica, *patch, *pod);
      if (!pod || !pod->bound()) continue;
      const TrueNode& node = truth_.nodes().at(pod->node);
      if (!node.present || node.disturbed > replica.Knows().nodes) repaired_.insert(pod->uid);
      if (replica.name() == planner_ && !truth_.GangOf(*pod).was_whole && !repaired_.contains(pod->uid) &&
          sim::DigString(sim::ConditionOf(cluster::ParseJson(patch->body), "DisruptionTarget"), "reason") ==
              "GangNotWhole")
        pledges_.OnUndo(*pod);
    }
  }
  for (const auto& [plan, departure] : fresh) CheckPlanWhole(replica, plan, departure, plans_.at(plan));
}

void Checks::OnQuota(const Replica& replica, const observe::Observer::QuotaStep& step) {
  FailIf(quotas_.OnQuota(replica, step));
}

// Of a pod that waits: the words that it has seen on it, or such as it has just written, come from nowhere. A touch is
// told by its time, and a write that ends a nomination says the condition too.
void Checks::CheckPatch(const Replica& replica, const cluster::Patch& patch, const TruePod& pod) {
  if (!calm_since_ms_ || healthy_ms_ - *calm_since_ms_ < kEchoesMs) return;
  const sim::Json body = cluster::ParseJson(patch.body);
  const sim::Json& said = sim::ConditionOf(body, "PodScheduled");
  const bool touches =
      !sim::DigString(said, "lastProbeTime").empty() || sim::Child(body, "status").contains("nominatedNodeName");
  if (said.is_null() || touches || Excused(kWithCause, pod.said > replica.Knew().pods)) return;
  if (pod.waiting && sim::DigString(said, "message") == pod.message && sim::DigString(said, "reason") == pod.reason)
    Fail(kWithCause, fmt::format("{} of {} is told again: \"{}\"", pod.name, pod.gang, pod.message));
}

// P1: the first binds of a plan leave together, for all of the minimum but the member that is bound last, and but those
// that were refused before: they go ahead.
void Checks::CheckPlanWhole(const Replica& replica, const std::string& plan, const Departure& departure,
                            const Knowledge& known) {
  const std::vector<const TruePod*>& pods = departure.pods;
  const TrueGang& gang = truth_.GangOf(*pods.front());
  if (gang.was_whole || truth_.Committed(pods.front()->gang, plan)) return;
  if (Excused(kWholeOrNothing, gang.disturbed > known.OfGangs())) return;
  const bool found = std::ranges::any_of(gang.members, [&](const std::string& uid) {
    const TruePod& pod = *truth_.Pod(uid);
    return pod.bound() && replica.name() + " " + pod.plan != plan;
  });
  if (found && !truth_.HasOpenCommit(gang)) kept_on_.insert(pods.front()->gang);
  if (kept_on_.contains(pods.front()->gang)) return;
  std::vector<std::string> covered;
  for (const std::string& uid : gang.members) {
    const TruePod& pod = *truth_.Pod(uid);
    const bool sent = uid == departure.commit || std::ranges::find(pods, &pod) != pods.end();
    if (sent || (pod.bound() && !pod.done && !pod.deleting) || truth_.Ran(gang, pod)) covered.push_back(uid);
  }
  // A Workload that was given quota just now may not say so yet.
  if (!gang.declared && !quotas_.HasGiven(pods.front()->gang))
    Fail("nothing starts undeclared",
         fmt::format("{}: plan {} binds, and nothing declares the gang", pods.front()->gang, plan));
  if (truth_.Suffices(gang, covered)) return;
  if (std::ranges::all_of(pods, [this](const TruePod* pod) { return refused_.contains(pod->uid); }))
    for (const TruePod* pod : pods) ahead_[plan].push_back(pod->uid);
  else
    Fail(kWholeOrNothing, fmt::format("{}: plan {} begins with {} binds, which makes {} with the last one",
                                      pods.front()->gang, plan, pods.size(), covered.size()));
}

void Checks::OnBind(const std::string& replica, const PodName& name, bool heard) {
  const TruePod* pod = truth_.PodAt(name.first, name.second);
  if (pod && !heard) unheard_.insert(pod->uid);
  if (pod && replica != planner_ && !pod->stray)
    Fail("the former leader's writes are over",
         fmt::format("{} binds {} after {} has begun", replica, name.second, planner_));
  if (pod && pledges_.ComesTooLate(*pod))
    Fail("what is being undone is not made whole", fmt::format("{} of {}, plan {}", pod->name, pod->gang, pod->plan));
  // Or it would pass for a bind by others, and be forgiven.
  if (pod && pod->plan.empty())
    Fail("a bind is what its annotation says", fmt::format("{} binds {} to {}", replica, name.second, pod->node));
}

void Checks::OnRefused(const PodName& name) {
  if (const TruePod* pod = truth_.PodAt(name.first, name.second)) refused_.insert(pod->uid);
}

std::optional<Violation> Checks::JudgeDelete(const PodName& name) {
  const TruePod* pod = truth_.PodAt(name.first, name.second);
  if (!pod) return std::nullopt;
  const auto left = deletes_.find(pod->uid);
  const bool victim = preemptions_.IsVictim(pod->uid);
  if (victim || truth_.WasRecorded(pod->uid)) {
    Excused(kAnnounced, false);
    if (!pod->disruption)
      return Violation{std::string(kAnnounced), pod->name + " is deleted without the condition DisruptionTarget"};
    if (victim || pod->preempted) return std::nullopt;
  }
  if (pod->foreign) return Violation{"others' pods are left alone", pod->name};
  if (pod->told_to_go) return std::nullopt;  // of a group that has to give its quota back
  if (pod->kept) return Violation{"no pod is deleted that is not recreated", pod->name};
  if (!pod->bound()) return Violation{"a pod that waits is not deleted", fmt::format("{} of {}", pod->name, pod->gang)};
  if (pod->done && left != deletes_.end() && pod->done_since <= left->second.pods)
    return Violation{"a pod that has finished is not deleted",
                     fmt::format("{} of {}: {}", pod->name, pod->gang, pod->phase)};
  if (pod->plan.empty() && !repaired_.contains(pod->uid))
    return Violation{"what others bound is not undone", fmt::format("{} of {}", pod->name, pod->gang)};
  if (!pod->disruption)
    return Violation{"undoing is announced", pod->name + " is deleted without the condition DisruptionTarget"};
  // A scheduler that lost the bind's reply, and did not see the pod before it went, cannot know that the bind was done.
  const bool knowable = truth_.Pod(pod->commit) || !unheard_.contains(pod->commit);
  if (truth_.Committed(pod->gang, pod->plan) && !repaired_.contains(pod->uid) && knowable)
    return Violation{"a gang that was whole is not undone",
                     fmt::format("{} of {}, plan {}", pod->name, pod->gang, pod->plan)};
  return std::nullopt;
}

// --- After each step ---

// Of the records of pods that are to leave for a gang.
void Checks::JudgeRecords() {
  for (; records_ < truth_.records(); ++records_) {
    Excused(kOneSet, false);
    if (judges_victims_) Excused(kNoneUseless, false);
  }
  if (!truth_.second_set().empty()) Fail(kOneSet, truth_.second_set());
  if (judges_victims_ && !truth_.useless().empty()) Fail(kNoneUseless, truth_.useless());
}

void Checks::AfterStep(base::Millis healthy_ms) {
  healthy_ms_ = healthy_ms;
  JudgeRecords();
  FailIf(quotas_.AfterStep());
  for (const std::string& uid : truth_.TakeBound()) CheckBound(uid);
  for (const std::string& gang : truth_.TakeTouched()) FollowGang(gang, healthy_ms);
  for (const std::string& key : half_) {
    const TrueGang& gang = truth_.gangs().at(key);
    const base::Millis limit_ms = calm_since_ms_ ? half_limits_.without_ms : half_limits_.with_faults_ms;
    if (healthy_ms - std::max(gang.half_since, calm_since_ms_.value_or(0)) <= limit_ms) continue;
    if (gang.restarted && !truth_.HasOpenCommit(gang)) continue;  // its commit member is gone: kept and filled up
    const auto standing = truth_.StandingOf(gang);
    Fail("no gang settles in between", fmt::format("{}: {} members bound, {} needed, for {} s", key, standing.held,
                                                   gang.min, (healthy_ms - gang.half_since) / 1000));
  }
}

void Checks::CheckBound(const std::string& uid) {
  const TruePod* pod = truth_.Pod(uid);
  const auto plan = plan_of_.find(uid);
  if (!pod || pod->foreign) return;
  if (plan == plan_of_.end()) {
    if (!pod->plan.empty()) Fail("every bind is ours", uid);
    return;
  }
  const Knowledge& known = plans_.at(plan->second);
  CheckNode(*pod, known);
  CheckAllowed(*pod, known);
  CheckTopology(*pod, known);
  CheckQueue(*pod, known);
  CheckCommit(*pod, known);
  CheckOrder(*pod, known);
  if (pod->stray) return;
  if (const std::string wrong = truth_.WrongVolumes(*pod, known.others); !wrong.empty())
    Fail("volumes are bound before pods", fmt::format("{} of {} on {}: {}", pod->name, pod->gang, pod->node, wrong));
}

void Checks::CheckNode(const TruePod& pod, const Knowledge& known) {
  const TrueNode& node = truth_.nodes().at(pod.node);
  if (!pod.occupies()) return;
  if (Excused(kNoOvercommit, !node.present || node.disturbed > std::min(known.nodes, known.pods))) return;
  for (const auto& [name, amount] : pod.requests)
    if (amount > 0 && node.used.Get(name) > node.allocatable.Get(name))
      Fail(kNoOvercommit, fmt::format("{} on {} ({}): {} of {} {} used", pod.name, pod.node, plan_of_.at(pod.uid),
                                      node.used.Get(name), node.allocatable.Get(name), name));
}

// By selector, taints and cordon, as the node has them. A plan that goes on half done, or begins, keeps its nodes while
// its volumes are made.
void Checks::CheckAllowed(const TruePod& pod, const Knowledge& known) {
  const TrueNode& node = truth_.nodes().at(pod.node);
  const auto prepared = prepared_plans_.find(plan_of_.at(pod.uid));
  const Version seen = prepared == prepared_plans_.end() ? known.nodes : std::min(known.nodes, prepared->second.nodes);
  if (Excused(kAllowed, pod.stray || !node.present || std::max(node.disturbed, node.marked) > seen)) return;
  if (const std::string wrong = truth_.WrongNode(pod, pod.node); !wrong.empty())
    Fail(kAllowed, fmt::format("{} of {} on {} ({}): {}", pod.name, pod.gang, pod.node, plan_of_.at(pod.uid), wrong));
}

// Members that must be in one zone. If those that are there are in several, such as since a node's label changed, there
// is nothing to compare with; if one is in none, no other can be in one zone with it.
void Checks::CheckTopology(const TruePod& pod, const Knowledge& known) {
  const TrueGang& gang = truth_.GangOf(pod);
  const bool all = gang.one_zone && truth_.HyperNodesLimit(), each = gang.one_zone_each && truth_.HyperNodesLimit();
  const auto near = [&](const TruePod& other) {
    return all || (pod.one_zone && other.one_zone) || (each && !pod.unit.empty() && other.unit == pod.unit);
  };
  if (!near(pod)) return;
  if (Excused(kOneZone, pod.stray || gang.disturbed > known.OfGangs())) return;
  std::set<std::string> zones;
  for (const std::string& uid : gang.members) {
    const TruePod& member = *truth_.Pod(uid);
    if (!member.occupies() || member.deleting || !near(member)) continue;
    const TrueNode& node = truth_.nodes().at(member.node);
    if (!node.present || std::max(node.disturbed, node.marked) > known.nodes) return;
    if (uid != pod.uid) zones.insert(node.zone);
  }
  const std::string& zone = truth_.nodes().at(pod.node).zone;
  if (zones.contains("") || zone.empty() || (zones.size() == 1 && !zones.contains(zone)))
    Fail(kOneZone, fmt::format("{} of {} is bound in zone \"{}\", the others in \"{}\"", pod.name, pod.gang, zone,
                               fmt::join(zones, "\", \"")));
}

void Checks::CheckQueue(const TruePod& pod, const Knowledge& known) {
  const TrueGang& gang = truth_.GangOf(pod);
  if (!gang.declared || gang.queue.empty()) return;
  const auto path = truth_.PathUse(gang.queue);
  const auto disturbed = [&](const auto& use) {
    return truth_.queues().at(use.first).disturbed > std::min({known.queues, known.gangs, known.pods});
  };
  if (Excused(kCapability, gang.disturbed > known.OfGangs() || std::ranges::any_of(path, disturbed))) return;
  for (const auto& [name, used] : path)
    for (const auto& [resource, most] : truth_.queues().at(name).capability)
      if (pod.requests.Get(resource) > 0 && used.Get(resource) > most)
        Fail(kCapability, fmt::format("{} of {}: queue {} uses {} of {} {}", pod.name, pod.gang, name,
                                      used.Get(resource), most, resource));
}

// The member that others name as the last is bound when all of the minimum is.
void Checks::CheckCommit(const TruePod& pod, const Knowledge& known) {
  if (pod.commit != pod.uid) return;
  const TrueGang& gang = truth_.GangOf(pod);
  const auto node_gone = [&](const std::string& uid) {  // on its way to a node when that vanished
    const TruePod& member = *truth_.Pod(uid);
    return member.bound() && truth_.nodes().at(member.node).disturbed > known.nodes;
  };
  if (Excused(kLastIsLast, gang.disturbed > known.OfGangs() || std::ranges::any_of(gang.members, node_gone))) return;
  const bool fills_up = std::ranges::none_of(gang.members, [&](const std::string& uid) {
    return uid != pod.uid && truth_.Pod(uid)->plan == pod.plan && truth_.Pod(uid)->commit == pod.uid;
  });
  const auto standing = truth_.StandingOf(gang);
  if (!standing.whole && !(fills_up && (whole_before_.contains(pod.gang) || kept_on_.contains(pod.gang))))
    Fail(kLastIsLast, fmt::format("{} of {}: {} bound, {} needed", pod.name, pod.gang, standing.bound, gang.min));
}

// It waits, and was told so before the decision; and none of its binds was refused, for such a one is tried later.
bool Checks::FindsNoPlace(const TruePod& pod, const Knowledge& known) const {
  return pod.live() && !pod.bound() && pod.waiting && pod.said <= known.pods && !plan_of_.contains(pod.uid) &&
         !refused_.contains(pod.uid);
}

// For a gang that was whole: no worker is placed while there is no head, or while the head has no place. And no member
// that is not needed is placed while one that is needed has no place.
void Checks::CheckOrder(const TruePod& pod, const Knowledge& known) {
  const TrueGang& gang = truth_.GangOf(pod);
  if (pod.commit != pod.uid || pod.stray || !whole_before_.contains(pod.gang)) return;
  if (!gang.declared || gang.role_min.empty() || gang.unit_min > 0) return;
  const std::string head = "headgroup";
  std::map<std::string, int64_t> have, had_place;
  std::set<std::string> without;  // roles of which one finds no place
  int64_t have_all = 0;
  bool head_here = false, head_open = false, settled = true;
  for (const std::string& uid : gang.members) {
    const TruePod& member = *truth_.Pod(uid);
    if (uid == pod.uid || member.foreign) continue;
    const bool counts = truth_.Ran(gang, member) || (member.occupies() && !member.deleting);
    if (counts && !member.done) settled = settled && truth_.nodes().at(member.node).disturbed <= known.nodes;
    const bool here = counts && truth_.nodes().at(member.node).present;
    have[member.role] += here;
    have_all += here;
    // Their binds left together: it had a place, whatever became of its own.
    const auto plan = plan_of_.find(uid);
    had_place[member.role] +=
        member.live() && !member.bound() && plan != plan_of_.end() && plan->second == plan_of_.at(pod.uid);
    const bool no_place = FindsNoPlace(member, known);
    if (no_place) without.insert(member.role);
    if (member.role != head || member.done) continue;
    head_here = head_here || here;
    head_open = head_open || (!member.bound() && !no_place);  // it may have been given a place
  }
  if (Excused(kNeedsFirst, !settled || gang.disturbed > known.OfGangs())) return;
  if (gang.role_min.contains(head) && pod.role != head && !Excused(kHeadFirst, !head_here && head_open) && !head_here)
    Fail(kHeadFirst, fmt::format("{} of {} is bound, and its head has no place", pod.name, pod.gang));
  int64_t sum = 0, lacking = 0;
  for (const auto& [role, min] : gang.role_min) {
    sum += min;
    lacking += std::max<int64_t>(0, min - have[role]);
  }
  const auto of_role = gang.role_min.find(pod.role);
  const bool needed = (of_role != gang.role_min.end() && have[pod.role] < of_role->second) ||
                      have_all + lacking < std::max(sum, gang.min);
  for (const auto& [role, min] : gang.role_min)
    if (!needed && have[role] + had_place[role] < min && without.contains(role))
      Fail(kNeedsFirst, fmt::format("{} of {} (role {}) is bound, and the gang has {} of {} of role {}", pod.name,
                                    pod.gang, pod.role, have[role], min, role));
}

void Checks::FollowGang(const std::string& key, base::Millis healthy_ms) {
  TrueGang& gang = truth_.gangs().at(key);
  const auto standing = truth_.StandingOf(gang);
  if (standing.held == 0 && !standing.ran) gang.was_whole = gang.restarted = false, kept_on_.erase(key);
  if (standing.whole) gang.was_whole = true;
  if (gang.was_whole)
    whole_before_.insert(key);
  else
    whole_before_.erase(key);
  const bool half = standing.held > 0 && !gang.was_whole && gang.declared && !standing.kept;
  if (half && gang.half_since < 0) gang.half_since = healthy_ms;
  if (!half) gang.half_since = -1;
  if (half)
    half_.insert(key);
  else
    half_.erase(key);
}

void Checks::OnSchedulerDied() {
  for (auto& [key, gang] : truth_.gangs())
    if (gang.half_since >= 0) gang.restarted = true, gang.half_since = healthy_ms_;  // it is given its time again
}

void Checks::OnFaults(bool on, base::Millis healthy_ms) {
  calm_since_ms_.reset();
  if (!on) calm_since_ms_ = healthy_ms;
}

// --- At rest ---

// Of a gang that waits for nodes with nothing bound, and without rules that look at more than one node: members of one
// role are alike, and so many fit at most.
void Checks::CheckCount(const TruePod& pod) {
  const std::optional<SaidCount> said = ReadCount(pod.message);
  const TrueGang& gang = truth_.GangOf(pod);
  if (!said || gang.one_zone || gang.one_zone_each) return;
  std::map<std::string, std::vector<const TruePod*>> kinds;
  for (const std::string& uid : gang.members) {
    const TruePod& member = *truth_.Pod(uid);
    if (member.bound() || member.done || member.volumes || member.one_zone || member.foreign) return;
    if (member.live()) kinds[member.controller + " " + member.role + " " + member.unit].push_back(&member);
  }
  int64_t most = 0;
  for (const auto& [kind, members] : kinds)
    most += std::min<int64_t>(truth_.RoomFor(*members.front()), std::ssize(members));
  most = std::min(most, said->of);
  // Fewer may fit than the world shows room for: room that the scheduler holds for others is not seen there.
  if (said->fit > most)
    Fail("a count in a reason is true", fmt::format("{}: \"{}\", and {} fit", pod.name, pod.message, most));
}

void Checks::AtRest() {
  FailIf(quotas_.AtRest(led_since_));
  for (const auto& [uid, pod] : truth_.pods()) {
    if (pod.bound() && pod.waiting && !pod.foreign)
      Fail("a reason is true", fmt::format("{} is bound, and says that it waits: \"{}\"", pod.name, pod.message));
    if (pod.foreign || pod.bound() || pod.done || pod.deleting || pod.gated) continue;
    if (!pod.waiting || pod.message.empty()) {
      Fail("every waiting pod says why", fmt::format("{} of {}: \"{}\"", pod.name, pod.gang, pod.message));
      continue;
    }
    const auto nodes = fmt::format("0/{} nodes", truth_.node_count());
    if (const auto at = pod.message.find("0/"); at != std::string::npos &&
                                                pod.message.find(" nodes are available") != std::string::npos &&
                                                pod.message.find(nodes) == std::string::npos)
      Fail("a reason is true",
           fmt::format("{}: \"{}\", and there are {} nodes", pod.name, pod.message, truth_.node_count()));
    CheckCount(pod);
  }
}

}  // namespace tutti::simulation
