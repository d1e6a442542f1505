// SPDX-License-Identifier: Apache-2.0
#include "core/nominator.h"

#include "base/json.h"
#include "base/json_string.h"

namespace tutti::core {
namespace {

constexpr base::Millis kDeadlineMs = 60'000, kRepeatMs = 1'000;

}  // namespace

void Nominator::Say(model::GangId id, model::PodId pod_id, const std::string& node) {
  Member& member = book_.MemberOf(pod_id);
  const std::shared_ptr<const model::Pod>& pod = state_.pod(pod_id).pod;
  member.nominated = node;
  if (member.nominating != 0 || pod->nominated_node == node) return;
  if (pod->bound() || pod->done() || pod->meta.deleting()) return;
  const base::Millis now = clock_.MonotonicMs();
  if (now < member.nominate_again_ms) return on_timer(id, member.nominate_again_ms);
  const base::Json body = {{"metadata", {{"uid", pod->meta.uid}, {"resourceVersion", pod->meta.resource_version}}},
                           {"status", {{"nominatedNodeName", node}}}};
  member.nominating =
      outbox_.Send(cluster::Lane::kStatus, now + kDeadlineMs,
                   cluster::Patch{cluster::RefOf(pod), true, cluster::Patch::Type::kStrategic, base::PrintJson(body)});
  sent_.emplace(member.nominating, Sent{book_.at(id).key, pod_id, pod->meta.uid});
}

bool Nominator::OnAnswer(const cluster::Answer& answer) {
  const auto at = sent_.find(answer.id);
  if (at == sent_.end()) return false;
  const Sent sent = std::move(at->second);
  sent_.erase(at);
  const model::GangId id = book_.Find(sent.gang);
  Member* member = book_.Find(id, sent.pod);
  if (!member || member->nominating != answer.id || state_.pod(sent.pod).pod->meta.uid != sent.uid) return true;
  member->nominating = 0;
  member->nominate_again_ms = clock_.MonotonicMs() + kRepeatMs;
  if (answer.outcome != cluster::Outcome::kDone) on_timer(id, member->nominate_again_ms);
  return true;
}

void Nominator::StartTerm() {
  sent_.clear();
  book_.ForEach([](model::GangId, Gang& gang) {
    for (Member* member : gang.members) member->nominating = 0;
  });
}

}  // namespace tutti::core
