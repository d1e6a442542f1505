// SPDX-License-Identifier: Apache-2.0
#include "core/commit/volume_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/json_string.h"
#include "framework/node_check.h"

namespace tutti::core {

using base::Millis;
using cluster::Outcome;
using cluster::Storage;
using model::Claim;
using model::GangId;
using model::PodId;
using model::Volume;

namespace {

constexpr Millis kRepeatVolumeMs = 500;

// The claim is the volume's from now on. A volume that its owner had reserved by name only keeps saying so: it lacks
// the annotation, and the controller does not release it.
std::string ReservationOf(const Volume& volume, const Claim& claim) {
  base::Json patch = {{"spec",
                       {{"claimRef",
                         {{"apiVersion", "v1"},
                          {"kind", "PersistentVolumeClaim"},
                          {"namespace", claim.meta.ns},
                          {"name", claim.meta.name},
                          {"uid", claim.meta.uid},
                          {"resourceVersion", claim.meta.resource_version}}}}}};
  if (!volume.claim) patch["metadata"]["annotations"][model::kBoundByController] = "yes";
  return base::PrintJson(patch);
}

}  // namespace

Millis VolumeBinder::Begin(PodId pod, Assignment& assignment) {
  const cluster::PodEntry& entry = state_.pod(pod);
  const framework::Profile* profile = framework::FindProfile(options_.profiles, entry.pod->spec->scheduler_name);
  for (const cluster::VolumePick& pick : entry.takings.volumes) {
    Open& open = assignment.volumes.emplace_back();
    open.pick = pick;
    open.not_before_ms = assignment.not_before_ms;
  }
  return clock_.MonotonicMs() + (profile ? profile->volume_timeout_ms : 0);
}

VolumeBinder::Progress VolumeBinder::Advance(GangId id, PodId pod, Assignment& assignment, std::string* why) {
  if (assignment.volumes.empty()) return StillSettled(pod, why);
  bool settled = true;
  for (Assignment::OpenVolume& open : assignment.volumes) {
    const Progress stand = AdvanceOne(id, pod, assignment.node, open, why);
    if (stand == Progress::kFailed) return stand;
    settled = settled && stand == Progress::kDone;
  }
  if (settled) {
    *why = OutOfReach(pod, assignment.node);
    if (!why->empty()) return Progress::kFailed;
    assignment.volumes.clear();
    return Progress::kDone;
  }
  if (clock_.MonotonicMs() < assignment.prepared_until_ms) return Progress::kWaiting;
  *why = "binding volumes: timed out waiting for the volumes to be bound";
  return Progress::kFailed;
}

VolumeBinder::Progress VolumeBinder::StillSettled(PodId id, std::string* why) const {
  const model::Pod& pod = *state_.pod(id).pod;
  const Storage& storage = state_.snapshot().storage();
  // Without VolumeBinding no plugin looks after claims, as with kube-scheduler.
  const framework::Profile* profile = framework::FindProfile(options_.profiles, pod.spec->scheduler_name);
  if (!profile || std::ranges::none_of(profile->filters, [](const auto& f) { return f->JudgesBoundVolumes(); }))
    return Progress::kDone;
  for (const model::PodClaim& use : pod.claims) {
    const std::string name = pod.meta.ns + "/" + use.name;
    const Claim* claim = Storage::Find(storage.claims(), name);
    if (claim && claim->bound()) continue;
    const auto& picks = state_.pod(id).takings.volumes;
    const bool ours = std::ranges::find(picks, name, &cluster::VolumePick::claim) != picks.end();
    // Another pod that uses it was placed first and has it bound.
    if (claim && !ours && storage.TakenFor(name) != nullptr) return Progress::kWaiting;
    *why = fmt::format("binding volumes: claim {} is {}", name, claim ? "not bound any more" : "gone");
    return Progress::kFailed;
  }
  return Progress::kDone;
}

VolumeBinder::Progress VolumeBinder::AdvanceOne(GangId id, PodId pod, const std::string& node, Open& open,
                                                std::string* why) {
  const Storage& storage = state_.snapshot().storage();
  const Claim* claim = Storage::Find(storage.claims(), open.pick.claim);
  if (!open.failure.empty()) {
    *why = open.failure;
    return Progress::kFailed;
  }
  if (!claim) {
    *why = fmt::format("binding volumes: claim {} is gone", open.pick.claim);
    return Progress::kFailed;
  }
  // A volume that was made a moment ago may be seen after the claim that has it.
  if (claim->bound()) return Storage::Find(storage.volumes(), claim->volume) ? Progress::kDone : Progress::kWaiting;
  return open.pick.volume.empty() ? AskFor(id, pod, node, *claim, open, why) : Reserve(id, pod, *claim, open, why);
}

VolumeBinder::Progress VolumeBinder::Reserve(GangId id, PodId pod, const Claim& claim, Open& open, std::string* why) {
  const Volume* volume = Storage::Find(state_.snapshot().storage().volumes(), open.pick.volume);
  if (!volume)
    *why = fmt::format("binding volumes: PersistentVolume {} is gone", open.pick.volume);
  else if (volume->claim && !volume->claim->Means(claim))
    *why = fmt::format("binding volumes: PersistentVolume {} is bound to claim {}/{} by now", open.pick.volume,
                       volume->claim->ns, volume->claim->name);
  else if (volume->claim && volume->claim->uid == claim.meta.uid)
    return Progress::kWaiting;  // it says so already
  else if (open.written && volume->meta.resource_version != open.sent_version)
    *why = fmt::format("binding volumes: the claimRef of PersistentVolume {} was taken away", open.pick.volume);
  if (!why->empty()) return Progress::kFailed;
  if (open.written || open.command != 0) return Progress::kWaiting;
  open.sent_version = volume->meta.resource_version;
  const cluster::ObjectRef ref = cluster::NewRef("", "v1", "persistentvolumes", "PersistentVolume", "",
                                                 volume->meta.name, volume->meta.uid, open.sent_version);
  Send(id, pod, open, {ref, false, cluster::Patch::Type::kMerge, ReservationOf(*volume, claim)});
  return Progress::kWaiting;
}

VolumeBinder::Progress VolumeBinder::AskFor(GangId id, PodId pod, const std::string& node, const Claim& claim,
                                            Open& open, std::string* why) {
  if (claim.selected_node && *claim.selected_node == node) return Progress::kWaiting;
  if (claim.selected_node)
    *why = fmt::format("binding volumes: claim {} is to get its volume on another node by now", open.pick.claim);
  else if (open.written && claim.meta.resource_version != open.sent_version)  // how a provisioner says that it failed
    *why = fmt::format("binding volumes: provisioning failed for claim {}", open.pick.claim);
  if (!why->empty()) return Progress::kFailed;
  if (open.written || open.command != 0) return Progress::kWaiting;
  open.sent_version = claim.meta.resource_version;
  const cluster::ObjectRef ref = cluster::NewRef("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
                                                 claim.meta.ns, claim.meta.name, claim.meta.uid, open.sent_version);
  const base::Json patch = {{"metadata", {{"annotations", {{model::kSelectedNode, node}}}}}};
  Send(id, pod, open, {ref, false, cluster::Patch::Type::kMerge, base::PrintJson(patch)});
  return Progress::kWaiting;
}

void VolumeBinder::Send(GangId id, PodId pod, Open& open, cluster::Patch patch) {
  const Millis now = clock_.MonotonicMs();
  if (open.not_before_ms > now) return agenda_.At(id, open.not_before_ms);
  open.command =
      outbox_.Send(Outbox::For::kVolume, cluster::Lane::kBind, now + options_.bind_timeout_ms, std::move(patch),
                   [this, written = book_.Remember(book_.MemberOf(pod)),
                    claim = open.pick.claim](const cluster::CommandReply& reply) { OnReply(written, claim, reply); });
}

std::string VolumeBinder::OutOfReach(PodId pod, const std::string& node) const {
  const cluster::PodEntry& entry = state_.pod(pod);
  const framework::Profile* profile = framework::FindProfile(options_.profiles, entry.pod->spec->scheduler_name);
  const model::NodeId n = state_.snapshot().FindNode(node);
  if (!profile || !n) return {};
  const auto refusal =
      framework::CheckNode(n, *entry.pod_class, *profile, state_.snapshot(),
                           [](const framework::Filter& filter) { return filter.JudgesBoundVolumes(); });
  if (!refusal) return {};
  return refusal->of_class ? refusal->reasons.front()
                           : fmt::format("binding volumes: {}", fmt::join(refusal->reasons, ", "));
}

void VolumeBinder::OnReply(const GangBook::Written& written, const std::string& claim,
                           const cluster::CommandReply& reply) {
  const Member* member = book_.Find(written);
  if (!member) return;
  const GangId id = member->gang;
  agenda_.MarkReady(id);
  Gang& gang = book_.at(id);
  if (!gang.plan) return;
  const auto assignment = gang.plan->open.find(member->id);
  if (assignment == gang.plan->open.end()) return;
  for (Open& open : assignment->second.volumes) {
    if (open.command != reply.id) continue;
    open.command = 0;
    if (reply.outcome == Outcome::kDone) {
      open.written = true;
    } else if (reply.outcome == Outcome::kUnknown || reply.http_status == 409 || reply.server_unavailable()) {
      open.not_before_ms = clock_.MonotonicMs() + reply.PauseMs(kRepeatVolumeMs);  // then by what the object says
      agenda_.At(id, open.not_before_ms);
    } else {
      open.failure = fmt::format("binding volumes: claim {}: {}", claim, reply.message);
    }
  }
}

void VolumeBinder::StartTerm() {
  outbox_.Forget(Outbox::For::kVolume);
  book_.ForEach([](GangId, Gang& gang) {
    if (!gang.plan) return;
    for (auto& [member, assignment] : gang.plan->open)
      for (Open& open : assignment.volumes) open.command = 0;
  });
}

}  // namespace tutti::core
