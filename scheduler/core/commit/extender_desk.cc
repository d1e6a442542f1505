// SPDX-License-Identifier: Apache-2.0
#include "core/commit/extender_desk.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::core {

using model::NodeId;

bool ExtenderDesk::IsAskedAbout(const model::PodSpec& spec) const {
  return extenders_ != nullptr && std::ranges::any_of(options_.extenders, [&](const cluster::Extender& extender) {
           return (extender.filters || extender.prioritizes) && extender.IsInterestedIn(spec);
         });
}

bool ExtenderDesk::IsAskedAboutVictims(const model::PodSpec& spec) const {
  return extenders_ != nullptr && std::ranges::any_of(options_.extenders, [&](const cluster::Extender& extender) {
           return extender.preempts && extender.IsInterestedIn(spec);
         });
}

std::optional<size_t> ExtenderDesk::BinderOf(const model::PodSpec& spec) const {
  if (extenders_ == nullptr) return std::nullopt;
  for (size_t i = 0; i < options_.extenders.size(); ++i)
    if (options_.extenders[i].binds && options_.extenders[i].IsInterestedIn(spec)) return i;
  return std::nullopt;
}

ExtenderDesk::Stand ExtenderDesk::Ask(const Members& members) {
  if (!AsksAny()) return Stand::kAnswered;
  Stand stand = Stand::kAnswered;
  for (Member* member : members) {
    if (member->promised || !IsAskedAbout(*state_.pod(member->pod).pod_class->spec)) continue;
    if (!member->opinion || (member->opinion->question == 0 && !member->opinion->answered)) AskAbout(*member);
    if (!member->opinion->answered) stand = Stand::kWaiting;
  }
  return stand;
}

void ExtenderDesk::AskAbout(Member& member) {
  const cluster::PodEntry& entry = state_.pod(member.pod);
  cluster::ExtenderQuestion question{.id = outbox_.NextId(), .pod = entry.pod, .nodes = {}};
  const framework::Ranking& ranking = rankings_.For(entry.pod_class);
  const cluster::Snapshot& nodes = state_.snapshot();
  for (uint32_t slot = 0; slot < nodes.slots(); ++slot)
    if (const NodeId n(slot); nodes.present(n) && ranking.Feasible(n)) question.nodes.push_back(nodes.node(n).name);
  ExtenderOpinion& opinion = member.opinion ? *member.opinion : member.opinion.emplace();
  opinion.answered = question.nodes.empty();  // with no node left upstream asks no extender
  opinion.reply = nullptr;
  if (opinion.answered) return;
  opinion.question = question.id;
  open_.emplace(question.id, member.pod);
  extenders_->Ask(std::move(question));
}

void ExtenderDesk::AskAboutVictims(Member& member, const std::vector<PreemptionCandidate>& candidates) {
  cluster::PreemptionQuestion question{.id = outbox_.NextId(), .pod = state_.pod(member.pod).pod, .candidates = {}};
  for (const PreemptionCandidate& candidate : candidates) {
    cluster::NodeVictims& one = question.candidates.emplace_back();
    one.node = state_.snapshot().node(candidate.node).name;
    one.violations = candidate.violations;
    for (const model::PodId pod : candidate.victims) one.victims.push_back(state_.pod(pod).pod);
    for (const model::PodId pod : candidate.others) one.others.push_back(state_.pod(pod).pod);
  }
  ExtenderOpinion& opinion = member.opinion ? *member.opinion : member.opinion.emplace();
  opinion.victims_question = question.id;
  open_.emplace(question.id, member.pod);
  extenders_->AskToPreempt(std::move(question));
}

bool ExtenderDesk::AwaitsVictims(const Members& members) {
  return std::ranges::any_of(
      members, [](const Member* member) { return member->opinion && member->opinion->victims_question != 0; });
}

std::vector<PreemptionCandidate> ExtenderDesk::CandidatesOf(const cluster::ExtenderReply& reply) const {
  std::vector<PreemptionCandidate> candidates;
  for (const cluster::NodeVictims& named : reply.candidates) {
    const NodeId node = state_.snapshot().FindNode(named.node);
    if (!node) continue;
    PreemptionCandidate& candidate = candidates.emplace_back();
    candidate.node = node;
    candidate.violations = named.violations;
    for (const auto& victim : named.victims) {
      const model::PodId pod = state_.FindPod(victim->meta.ns, victim->meta.name);
      if (pod && state_.pod(pod).pod->meta.uid == victim->meta.uid) candidate.victims.push_back(pod);
    }
  }
  return candidates;
}

void ExtenderDesk::OnReply(const cluster::ExtenderReply& reply) {
  const auto at = open_.find(reply.id);
  if (at == open_.end()) return;
  const model::PodId pod = at->second;
  open_.erase(at);
  const model::GangId gang = book_.GangOf(pod);
  Member* member = gang ? book_.Find(gang, pod) : nullptr;
  if (member == nullptr || !member->opinion) return;
  ExtenderOpinion& opinion = *member->opinion;
  if (opinion.question == reply.id) {
    opinion.question = 0;
    opinion.answered = true;
    opinion.reply = std::make_shared<const cluster::ExtenderReply>(reply);
  } else if (opinion.victims_question == reply.id) {
    opinion.victims_question = 0;
    opinion.victims = std::make_shared<const cluster::ExtenderReply>(reply);
  } else {
    return;
  }
  agenda_.MarkReady(gang);
}

std::optional<std::string> ExtenderDesk::Failure(const Members& members) const {
  for (const Member* member : members)
    if (member->is_judged() && member->opinion->reply && !member->opinion->reply->error.empty())
      return member->opinion->reply->error;
  return std::nullopt;
}

base::Millis ExtenderDesk::Finish(const Members& members, bool placed) {
  base::Millis wait_ms = 0;
  for (Member* member : members) {
    if (!member->opinion) continue;
    ExtenderOpinion& opinion = *member->opinion;
    opinion.victims_question = 0;
    if (!opinion.answered && !opinion.victims) continue;
    opinion.answered = false;
    opinion.reply = nullptr;
    opinion.victims = nullptr;
    opinion.failures = placed ? 0 : std::min(opinion.failures + 1, 10);
    base::Millis backoff_ms = options_.pod_initial_backoff_ms;
    for (int i = 1; i < opinion.failures; ++i) backoff_ms = std::min(backoff_ms * 2, options_.pod_max_backoff_ms);
    wait_ms = std::max(wait_ms, backoff_ms);
  }
  return wait_ms;
}

}  // namespace tutti::core
