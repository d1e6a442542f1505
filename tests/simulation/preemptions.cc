// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/preemptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/json_text.h"
#include "sim/objects/object.h"

namespace tutti::simulation {

std::optional<std::pair<std::string, std::string>> Preemptions::OnSubmit(
    const Replica& replica, const std::vector<cluster::Command>& commands) {
  std::map<std::string, std::vector<const TruePod*>> victims, preemptors;  // by node
  for (const cluster::Command& command : commands) {
    if (const auto* bind = std::get_if<cluster::Bind>(&command.body)) sent_[bind->pod.uid()] = bind->node;
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    const TruePod* pod = patch && patch->object.resource == "pods" ? truth_.Pod(patch->object.uid()) : nullptr;
    if (!pod) continue;
    const sim::Json body = cluster::ParseJson(patch->body);
    if (const std::string& node = sim::DigString(body, "status", "nominatedNodeName"); !node.empty())
      preemptors[node].push_back(pod);
    if (sim::DigString(sim::ConditionOf(body, "DisruptionTarget"), "reason") != "PreemptionByScheduler") continue;
    if (truth_.WasRecorded(pod->uid)) continue;  // it leaves for a gang
    victims_[pod->uid] = replica.name();
    if (pod->occupies()) victims[pod->node].push_back(pod);
  }
  const bool knows = truth_.last_loss() <= replica.Knew().pods;
  for (const auto& [node, pods] : victims) {
    if (!knows || truth_.nodes().at(node).disturbed > replica.Knew().nodes) continue;
    ++judged_;
    for (const TruePod* victim : pods)
      if (std::ranges::none_of(truth_.pods(), [&](const auto& item) {
            const TruePod& pod = item.second;
            return pod.live() && !pod.bound() && !pod.foreign && pod.priority > victim->priority;
          }))
        return std::pair("victims are of lower priority", fmt::format("{} on {}", victim->name, node));
    if (const auto spared = WhoCouldStay(replica.name(), node, pods, preemptors[node]))
      return std::pair("no victim could have stayed", *spared);
  }
  return std::nullopt;
}

std::optional<std::string> Preemptions::WhoCouldStay(const std::string& replica, const std::string& node,
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
  if (need.empty()) return std::nullopt;  // whom it is for has gone meanwhile, or says so with a later write
  for (const TruePod* pod : need) add(pod->requests, -1);
  // Victims of a gang were chosen, and recorded, a while ago: Truth::FindInVain judges them.
  // One more may be kept a place there and not say so yet, for an earlier write about it has no answer.
  const auto fits_beside = [&](const TruePod& victim, const model::ResourceList& other) {
    return std::ranges::all_of(
        victim.requests, [&](const auto& item) { return item.second <= free.Get(item.first) - other.Get(item.first); });
  };
  const auto may_be_kept = [&](const TruePod& pod, const TruePod& victim) {
    return pod.live() && !pod.bound() && !pod.foreign && pod.nominated.empty() && pod.priority > victim.priority &&
           !need.contains(&pod);
  };
  for (const TruePod* victim : victims)
    if (!truth_.WasRecorded(victim->uid) && fits_beside(*victim, {}) &&
        std::ranges::all_of(truth_.pods(), [&](const auto& item) {
          return !may_be_kept(item.second, *victim) || fits_beside(*victim, item.second.requests);
        }))
      return fmt::format("{} of {} on {}, where {} mCPU are left beside {} that it is kept for", victim->name,
                         victims.size(), node, free.Get(model::kCpu), need.size());
  return std::nullopt;
}

}  // namespace tutti::simulation
