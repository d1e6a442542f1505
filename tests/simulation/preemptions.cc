// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/preemptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/json_text.h"
#include "sim/objects/object.h"

namespace tutti::simulation {

namespace {

// Tells by the condition whether the pod leaves for a lone pod.
bool IsForLonePod(const sim::Json& condition) {
  return sim::DigString(condition, "message").ends_with(" higher priority pod");
}

}  // namespace

std::optional<Violation> Preemptions::OnSubmit(const Replica& replica, const std::vector<cluster::Command>& commands) {
  ByNode victims, preemptors;
  for (const cluster::Command& command : commands) {
    if (const auto* bind = std::get_if<cluster::Bind>(&command.body)) sent_[bind->pod.uid()] = bind->node;
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    const TruePod* pod = patch && patch->object.resource == "pods" ? truth_.Pod(patch->object.uid()) : nullptr;
    if (!pod) continue;
    const sim::Json body = cluster::ParseJson(patch->body);
    if (const std::string& node = sim::DigString(body, "status", "nominatedNodeName"); !node.empty())
      preemptors[node].push_back(pod);
    const sim::Json& told = sim::ConditionOf(body, "DisruptionTarget");
    if (sim::DigString(told, "reason") != "PreemptionByScheduler") continue;
    if (truth_.WasRecorded(pod->uid) || !IsForLonePod(told)) {
      questions_.Excused(kRecordedFirst, false);
      if (truth_.WasRecorded(pod->uid)) continue;
      return Violation{std::string(kRecordedFirst), fmt::format("{} of {} on {}", pod->name, pod->gang, pod->node)};
    }
    victims_[pod->uid] = replica.name();
    if (pod->occupies()) victims[pod->node].push_back(pod);
  }
  for (const auto& [node, pods] : victims)
    if (auto wrong = JudgeNode(replica, node, pods, preemptors[node])) return wrong;
  return std::nullopt;
}

std::optional<Violation> Preemptions::JudgeNode(const Replica& replica, const std::string& node,
                                                const std::vector<const TruePod*>& victims,
                                                const std::vector<const TruePod*>& preemptors) const {
  const bool unknown =
      truth_.last_loss() > replica.Knew().pods || truth_.nodes().at(node).disturbed > replica.Knew().nodes;
  if (questions_.Excused(kLowerPriority, unknown)) return std::nullopt;
  for (const TruePod* victim : victims)
    if (std::ranges::none_of(truth_.pods(), [&](const auto& item) {
          const TruePod& pod = item.second;
          return pod.live() && !pod.bound() && !pod.foreign && pod.priority > victim->priority;
        }))
      return Violation{std::string(kLowerPriority), fmt::format("{} on {}", victim->name, node)};
  const Room room = RoomOn(replica.name(), node, preemptors);
  // The preemptor has gone meanwhile, or a later write says which node is kept for it. Or a protected pod leaves
  // already: it counts as there, as upstream, and before all that none protects.
  const bool guarded_leaves = std::ranges::any_of(truth_.pods(), [&](const auto& item) {
    return item.second.guarded && item.second.node == node && victims_.contains(item.first) &&
           std::ranges::find(victims, &item.second) == victims.end();
  });
  if (questions_.Excused(kCouldNotStay, room.need.empty() || guarded_leaves)) return std::nullopt;
  if (auto spare = FindSpare(room, node, victims)) return Violation{std::string(kCouldNotStay), *std::move(spare)};
  if (std::ranges::none_of(victims, &TruePod::guarded)) return std::nullopt;
  // Of two preemptors the first may have left another protected pod there, which went for the second.
  if (questions_.Excused(kGuarded, preemptors.size() > 1)) return std::nullopt;
  if (auto broken = FindBreak(room, node, victims)) return Violation{std::string(kGuarded), *std::move(broken)};
  return std::nullopt;
}

void Preemptions::Room::Add(const model::ResourceList& amounts, int64_t sign) {
  for (const auto& [name, amount] : amounts) free.Set(name, free.Get(name) + sign * amount);
}

bool Preemptions::Room::Has(const model::ResourceList& amounts, const model::ResourceList& beside) const {
  return std::ranges::all_of(
      amounts, [&](const auto& item) { return item.second <= free.Get(item.first) - beside.Get(item.first); });
}

Preemptions::Room Preemptions::RoomOn(const std::string& replica, const std::string& node,
                                      const std::vector<const TruePod*>& preemptors) const {
  Room room{{preemptors.begin(), preemptors.end()}, truth_.nodes().at(node).allocatable};
  for (const auto& [uid, pod] : truth_.pods()) {
    const auto told = victims_.find(uid);
    const bool leaves = told != victims_.end() && told->second == replica;  // another that ends is there, as upstream
    if (pod.occupies() && pod.node == node && !leaves) room.Add(pod.requests, -1);
    if (pod.bound() || !pod.live()) continue;
    const auto sent = sent_.find(uid);  // its bind may have no answer yet
    if (pod.nominated == node || (sent != sent_.end() && sent->second == node)) room.need.insert(&pod);
  }
  for (const TruePod* pod : room.need) room.Add(pod->requests, -1);
  return room;
}

bool Preemptions::CouldStay(const TruePod& victim, const Room& room) const {
  const auto may_be_kept = [&](const TruePod& pod) {
    return pod.live() && !pod.bound() && !pod.foreign && pod.nominated.empty() && pod.priority > victim.priority &&
           !room.need.contains(&pod);
  };
  return room.Has(victim.requests, {}) && std::ranges::all_of(truth_.pods(), [&](const auto& item) {
           return !may_be_kept(item.second) || room.Has(victim.requests, item.second.requests);
         });
}

std::optional<std::string> Preemptions::FindSpare(const Room& room, const std::string& node,
                                                  const std::vector<const TruePod*>& victims) const {
  for (const TruePod* victim : victims)
    if (CouldStay(*victim, room))
      return fmt::format("{} of {} on {}, where {} mCPU are left beside {} pods that it is kept for", victim->name,
                         victims.size(), node, room.free.Get(model::kCpu), room.need.size());
  return std::nullopt;
}

std::optional<std::string> Preemptions::FindBreak(Room room, const std::string& node,
                                                  const std::vector<const TruePod*>& victims) const {
  const int32_t below = (*std::ranges::min_element(room.need, {}, &TruePod::priority))->priority;
  size_t others = 0;
  for (const auto& [uid, pod] : truth_.pods()) {
    const bool lone = pod.foreign || pod.gang.starts_with("pod/");
    if (!lone || !pod.occupies() || pod.node != node || pod.deleting || pod.guarded || pod.priority >= below ||
        victims_.contains(uid))
      continue;
    room.Add(pod.requests, +1);
    ++others;
  }
  for (const TruePod* victim : victims)
    if (victim->guarded && CouldStay(*victim, room))
      return fmt::format("{} of {} on {}, where {} other pods could have gone", victim->name, victims.size(), node,
                         others);
  return std::nullopt;
}

}  // namespace tutti::simulation
