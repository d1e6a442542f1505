// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/preemptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/json_text.h"
#include "sim/objects/object.h"

namespace tutti::simulation {

namespace {

// What the condition says of whom the pod leaves for.
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
  if (auto spare = FindSpare(replica.name(), node, victims, preemptors))
    return Violation{std::string(kCouldNotStay), *std::move(spare)};
  return std::nullopt;
}

std::optional<std::string> Preemptions::FindSpare(const std::string& replica, const std::string& node,
                                                  const std::vector<const TruePod*>& victims,
                                                  const std::vector<const TruePod*>& preemptors) const {
  std::set<const TruePod*> need(preemptors.begin(), preemptors.end());
  model::ResourceList free = truth_.nodes().at(node).allocatable;
  const auto add = [&free](const model::ResourceList& amounts, int64_t sign) {
    for (const auto& [name, amount] : amounts) free.Set(name, free.Get(name) + sign * amount);
  };
  for (const auto& [uid, pod] : truth_.pods()) {
    const auto told = victims_.find(uid);
    const bool leaves = told != victims_.end() && told->second == replica;  // another that ends is there, as upstream
    if (pod.occupies() && pod.node == node && !leaves) add(pod.requests, -1);
    if (pod.bound() || !pod.live()) continue;
    const auto sent = sent_.find(uid);  // its bind may have no answer yet
    if (pod.nominated == node || (sent != sent_.end() && sent->second == node)) need.insert(&pod);
  }
  // The preemptor has gone meanwhile, or a later write says which node is kept for it.
  if (questions_.Excused(kCouldNotStay, need.empty())) return std::nullopt;
  for (const TruePod* pod : need) add(pod->requests, -1);
  // Another pod may be kept a place there and not say so yet, for an earlier write about it has no answer.
  const auto fits_beside = [&](const TruePod& victim, const model::ResourceList& other) {
    return std::ranges::all_of(
        victim.requests, [&](const auto& item) { return item.second <= free.Get(item.first) - other.Get(item.first); });
  };
  const auto may_be_kept = [&](const TruePod& pod, const TruePod& victim) {
    return pod.live() && !pod.bound() && !pod.foreign && pod.nominated.empty() && pod.priority > victim.priority &&
           !need.contains(&pod);
  };
  for (const TruePod* victim : victims)
    if (fits_beside(*victim, {}) && std::ranges::all_of(truth_.pods(), [&](const auto& item) {
          return !may_be_kept(item.second, *victim) || fits_beside(*victim, item.second.requests);
        }))
      return fmt::format("{} of {} on {}, where {} mCPU are left beside {} pods that it is kept for", victim->name,
                         victims.size(), node, free.Get(model::kCpu), need.size());
  return std::nullopt;
}

}  // namespace tutti::simulation
