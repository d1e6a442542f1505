// SPDX-License-Identifier: Apache-2.0
#include "core/passes/preempt_pass.h"

#include <utility>
#include <vector>

namespace tutti::core {

using model::GangId;
using model::PodId;

namespace {

// A bind that is on its way is looked at again after so long.
constexpr base::Millis kBindAgainMs = 500;

}  // namespace

PreemptPass::Outcome PreemptPass::Run(GangId id, const Member& member, Certificate& certificate) {
  const model::PodSpec& spec = *state_.pod(member.pod).pod->spec;
  const framework::Profile* profile = framework::FindProfile(options_.profiles, spec.scheduler_name);
  if (!profile->preemption || state_.snapshot().node_count() == 0) return {};
  if (certificate.result.verdict == framework::Verdict::kGaveUp) return {};  // it is tried again first
  const bool keeps_node = !state_.nominations().NodeOf(member.pod).empty();
  if (certificate.preemption_refused && !keeps_node)
    return {certificate.preemption_refused, false, certificate.spares_gangs};
  PreemptionResult result = Search(member, *profile->preemption);
  announcer_.Preempted(result.chosen.victims.size());
  switch (result.outcome) {
    case PreemptionResult::Outcome::kNotEligible: return {std::move(result.refused), keeps_node};
    case PreemptionResult::Outcome::kNoCandidate:
      if (keeps_node) state_.KeepNode(member.pod, {});
      certificates_.RefusePreemption(certificate, result.refused, spec.priority);
      certificate.spares_gangs = result.spares_gangs;
      return {std::move(result.refused), false, result.spares_gangs};
    case PreemptionResult::Outcome::kFound: break;
  }
  Begin(id, member.pod, result.chosen);
  return {std::nullopt, true};
}

PreemptionResult PreemptPass::Search(const Member& member, const framework::PreemptionArgs& args) {
  LonePreemption::Question question{.pod = member.pod, .args = args, .from = next_slot_, .shuns = nullptr};
  if (member.refused && !member.refused->nodes.empty())
    question.shuns = [&](model::NodeId n) { return member.refused->nodes.contains(state_.snapshot().node(n).name); };
  return search_.Search(question, rankings_.For(state_.pod(member.pod).pod_class));
}

void PreemptPass::Begin(GangId id, PodId pod, const PreemptionCandidate& chosen) {
  const std::string& node = state_.snapshot().node(chosen.node).name;
  next_slot_ = chosen.node.value + 1;
  bool any = false;
  for (const PodId victim : chosen.victims) {
    const cluster::PodEntry& entry = state_.pod(victim);
    any = any || !(entry.leaving || entry.pod->meta.deleting());
  }
  // As upstream, where all leave already.
  if (any) EndLowerNominations(pod, node);
  state_.KeepNode(pod, node);
  for (const PodId victim : chosen.victims) {
    if (!state_.pod(victim).reserved)
      committer_.evictor().Evict(victim, {Eviction::Cause::kPreempt, id});
    else if (GiveBack(victim))
      agenda_.MarkReady(id);
    else
      agenda_.At(id, clock_.MonotonicMs() + kBindAgainMs);
  }
}

bool PreemptPass::GiveBack(PodId victim) {
  const GangId gang = book_.GangOf(victim);
  if (!gang || !HoldsRoomAlone(book_.at(gang), *book_.CensusOf(book_.at(gang))) || !committer_.Abort(gang))
    return false;
  agenda_.MarkReady(gang);
  return true;
}

void PreemptPass::EndLowerNominations(PodId pod, const std::string& node) {
  const int32_t priority = state_.pod(pod).pod->spec->priority;
  const auto nominated = state_.nominations().For(node);
  for (const PodId other : std::vector<PodId>(nominated.begin(), nominated.end())) {
    const GangId gang = book_.GangOf(other);
    if (!gang || state_.pod(other).reserved || state_.pod(other).pod->spec->priority >= priority) continue;
    state_.KeepNode(other, {});
    agenda_.MarkReady(gang);
    agenda_.Touch(gang);
  }
}

}  // namespace tutti::core
