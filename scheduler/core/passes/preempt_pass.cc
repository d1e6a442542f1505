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

// What kube-scheduler says where extenders took no candidate.
constexpr const char* kNoneLeft = "no candidate node for preemption";

}  // namespace

PreemptPass::Outcome PreemptPass::Run(GangId id, Member& member, Certificate* certificate) {
  const model::PodSpec& spec = *state_.pod(member.pod).pod->spec;
  const framework::Profile* profile = framework::FindProfile(options_.profiles, spec.scheduler_name);
  if (!profile->preemption || state_.snapshot().node_count() == 0) return {};
  const bool keeps_node = !state_.nominations().NodeOf(member.pod).empty();
  // Extenders are asked about the pods of one node: no gang goes as a whole for their pods.
  const bool spares = certificate && !extender_desk_.IsAskedAboutVictims(spec);
  if (certificate && certificate->preemption_refused && !keeps_node)
    return {certificate->preemption_refused, false, spares && certificate->spares_gangs};
  const bool judged = member.opinion && member.opinion->victims;
  std::optional<PreemptionResult> result = Search(member, *profile->preemption);
  if (!result) return {};
  announcer_.Preempted(result->chosen.victims.size());
  switch (result->outcome) {
    case PreemptionResult::Outcome::kNotEligible: return {std::move(result->refused), keeps_node, false, judged};
    case PreemptionResult::Outcome::kNoCandidate:
      if (keeps_node) state_.KeepNode(member.pod, {});
      if (!certificate) return {std::move(result->refused)};
      certificates_.RefusePreemption(*certificate, result->refused, spec.priority);
      certificate->spares_gangs = result->spares_gangs;
      return {std::move(result->refused), false, spares && result->spares_gangs};
    case PreemptionResult::Outcome::kFound: break;
  }
  Begin(id, member.pod, result->chosen);
  return {std::nullopt, true, false, judged};
}

std::optional<PreemptionResult> PreemptPass::Search(Member& member, const framework::PreemptionArgs& args) {
  const cluster::PodEntry& entry = state_.pod(member.pod);
  const bool asks = extender_desk_.IsAskedAboutVictims(*entry.pod->spec);
  if (asks && member.opinion && member.opinion->victims_question != 0) return std::nullopt;
  LonePreemption::Question question{
      .pod = member.pod, .args = args, .from = next_slot_, .lists_candidates = asks, .shuns = nullptr};
  if (member.refused && !member.refused->nodes.empty())
    question.shuns = [&](model::NodeId n) { return member.refused->nodes.contains(state_.snapshot().node(n).name); };
  framework::Ranking& ranking = rankings_.For(entry.pod_class);
  if (asks && member.opinion && member.opinion->victims)
    return ChooseByExtenders(*member.opinion->victims, question, ranking);
  PreemptionResult result = search_.Search(question, ranking);
  if (!asks || result.outcome != PreemptionResult::Outcome::kFound) return result;
  extender_desk_.AskAboutVictims(member, result.candidates);
  return std::nullopt;
}

// As upstream, where extenders leave nothing or fail, the pod keeps the node that was kept for it.
PreemptionResult PreemptPass::ChooseByExtenders(const cluster::ExtenderReply& reply,
                                                const LonePreemption::Question& question, framework::Ranking& ranking) {
  PreemptionResult result;
  if (reply.error.empty()) result = search_.ChooseAmong(question, ranking, extender_desk_.CandidatesOf(reply));
  if (result.outcome == PreemptionResult::Outcome::kFound) return result;
  result.outcome = PreemptionResult::Outcome::kNotEligible;
  result.refused.not_eligible = reply.error.empty() ? kNoneLeft : reply.error;
  return result;
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
