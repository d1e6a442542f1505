// SPDX-License-Identifier: Apache-2.0
#include "core/commit/nominator.h"

#include "base/json.h"
#include "base/json_string.h"

namespace tutti::core {
namespace {

constexpr base::Millis kNominationDeadlineMs = 60'000, kRepeatNominationMs = 1'000;

}  // namespace

void Nominator::Say(model::GangId id, model::PodId pod_id, const std::string& node) {
  Member& member = book_.MemberOf(pod_id);
  const std::shared_ptr<const model::Pod>& pod = state_.pod(pod_id).pod;
  member.nomination.node = node;
  if (member.nomination.write != 0 || pod->nominated_node == node) return;
  if (pod->bound() || pod->done() || pod->meta.deleting()) return;
  const base::Millis now = clock_.MonotonicMs();
  if (now < member.nomination.again_ms) return agenda_.At(id, member.nomination.again_ms);
  const base::Json body = {{"metadata", {{"uid", pod->meta.uid}, {"resourceVersion", pod->meta.resource_version}}},
                           {"status", {{"nominatedNodeName", node}}}};
  // The gang's victims are told only after this write, so it is as urgent as they are.
  const cluster::Lane lane = book_.at(id).preemption ? cluster::Lane::kEvict : cluster::Lane::kStatus;
  member.nomination.write = outbox_.Send(
      Outbox::For::kNomination, lane, now + kNominationDeadlineMs,
      cluster::Patch{cluster::RefOf(pod), true, cluster::Patch::Type::kStrategic, base::PrintJson(body)},
      [this, written = book_.Remember(member)](const cluster::CommandReply& reply) { OnReply(written, reply); });
}

void Nominator::OnReply(const GangBook::Written& written, const cluster::CommandReply& reply) {
  Member* member = book_.Find(written);
  if (!member || member->nomination.write != reply.id) return;
  member->nomination.write = 0;
  member->nomination.again_ms = clock_.MonotonicMs() + reply.PauseMs(kRepeatNominationMs);
  if (reply.outcome != cluster::Outcome::kDone) agenda_.At(member->gang, member->nomination.again_ms);
}

void Nominator::StartTerm() {
  outbox_.Forget(Outbox::For::kNomination);
  book_.ForEach([](model::GangId, Gang& gang) {
    for (Member* member : gang.members) member->nomination.write = 0;
  });
}

}  // namespace tutti::core
