// SPDX-License-Identifier: Apache-2.0
#include "core/volume_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/json_string.h"

namespace tutti::core {

using base::Millis;
using cluster::Outcome;
using cluster::Storage;
using model::Claim;
using model::GangId;
using model::PodId;
using model::Volume;

namespace {

constexpr Millis kRepeatMs = 500;

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

void VolumeBinder::Begin(PodId pod, Assignment& assignment) const {
  const cluster::PodEntry& entry = state_.pod(pod);
  const framework::Profile* profile = framework::FindProfile(options_.profiles, entry.pod->spec->scheduler_name);
  for (const cluster::VolumePick& pick : entry.picks) {
    Open& open = assignment.volumes.emplace_back();
    open.pick = pick;
    open.not_before_ms = assignment.not_before_ms;
  }
  assignment.volumes_until_ms = clock_.MonotonicMs() + (profile ? profile->volume_timeout_ms : 0);
}

VolumeBinder::Stand VolumeBinder::Advance(GangId id, PodId pod, Assignment& assignment, std::string* why) {
  if (assignment.volumes.empty()) return StillSettled(pod, why);
  bool settled = true;
  for (Assignment::OpenVolume& open : assignment.volumes) {
    const Stand stand = AdvanceOne(id, pod, assignment.node, open, why);
    if (stand == Stand::kFailed) return stand;
    settled = settled && stand == Stand::kSettled;
  }
  if (settled) {
    *why = OutOfReach(pod, assignment.node);
    if (!why->empty()) return Stand::kFailed;
    assignment.volumes.clear();
    return Stand::kSettled;
  }
  if (clock_.MonotonicMs() < assignment.volumes_until_ms) return Stand::kWaiting;
  *why = "binding volumes: timed out waiting for the volumes to be bound";
  return Stand::kFailed;
}

VolumeBinder::Stand VolumeBinder::StillSettled(PodId id, std::string* why) const {
  const model::Pod& pod = *state_.pod(id).pod;
  const Storage& storage = state_.snapshot().storage();
  // Without VolumeBinding nobody looks after claims, as with kube-scheduler.
  const framework::Profile* profile = framework::FindProfile(options_.profiles, pod.spec->scheduler_name);
  if (!profile || std::ranges::none_of(profile->filters, [](const auto& f) { return f->JudgesBoundVolumes(); }))
    return Stand::kSettled;
  for (const model::PodClaim& use : pod.claims) {
    const std::string name = pod.meta.ns + "/" + use.name;
    const Claim* claim = Storage::Find(storage.claims(), name);
    if (claim && claim->bound()) continue;
    const auto& picks = state_.pod(id).picks;
    const bool ours = std::ranges::find(picks, name, &cluster::VolumePick::claim) != picks.end();
    // Another pod that uses it was placed first and has it bound.
    if (claim && !ours && storage.TakenFor(name) != nullptr) return Stand::kWaiting;
    *why = fmt::format("binding volumes: claim {} is {}", name, claim ? "not bound any more" : "gone");
    return Stand::kFailed;
  }
  return Stand::kSettled;
}

VolumeBinder::Stand VolumeBinder::AdvanceOne(GangId id, PodId pod, const std::string& node, Open& open,
                                             std::string* why) {
  const Storage& storage = state_.snapshot().storage();
  const Claim* claim = Storage::Find(storage.claims(), open.pick.claim);
  if (!open.failure.empty()) {
    *why = open.failure;
    return Stand::kFailed;
  }
  if (!claim) {
    *why = fmt::format("binding volumes: claim {} is gone", open.pick.claim);
    return Stand::kFailed;
  }
  // A volume that was made a moment ago may be seen after the claim that has it.
  if (claim->bound()) return Storage::Find(storage.volumes(), claim->volume) ? Stand::kSettled : Stand::kWaiting;
  return open.pick.volume.empty() ? AskFor(id, pod, node, *claim, open, why) : Reserve(id, pod, *claim, open, why);
}

VolumeBinder::Stand VolumeBinder::Reserve(GangId id, PodId pod, const Claim& claim, Open& open, std::string* why) {
  const Volume* volume = Storage::Find(state_.snapshot().storage().volumes(), open.pick.volume);
  if (!volume)
    *why = fmt::format("binding volumes: PersistentVolume {} is gone", open.pick.volume);
  else if (volume->claim && !volume->claim->Means(claim))
    *why = fmt::format("binding volumes: PersistentVolume {} is bound to claim {}/{} by now", open.pick.volume,
                       volume->claim->ns, volume->claim->name);
  else if (volume->claim && volume->claim->uid == claim.meta.uid)
    return Stand::kWaiting;  // it says so already
  else if (open.written && volume->meta.resource_version != open.sent_version)
    *why = fmt::format("binding volumes: the claimRef of PersistentVolume {} was taken away", open.pick.volume);
  if (!why->empty()) return Stand::kFailed;
  if (open.written || open.command != 0) return Stand::kWaiting;
  open.sent_version = volume->meta.resource_version;
  const cluster::ObjectRef ref = cluster::NewRef("", "v1", "persistentvolumes", "PersistentVolume", "",
                                                 volume->meta.name, volume->meta.uid, open.sent_version);
  Send(id, pod, open, {ref, false, cluster::Patch::Type::kMerge, ReservationOf(*volume, claim)});
  return Stand::kWaiting;
}

VolumeBinder::Stand VolumeBinder::AskFor(GangId id, PodId pod, const std::string& node, const Claim& claim, Open& open,
                                         std::string* why) {
  if (claim.selected_node && *claim.selected_node == node) return Stand::kWaiting;
  if (claim.selected_node)
    *why = fmt::format("binding volumes: claim {} is to get its volume on another node by now", open.pick.claim);
  else if (open.written && claim.meta.resource_version != open.sent_version)  // how a provisioner says that it failed
    *why = fmt::format("binding volumes: provisioning failed for claim {}", open.pick.claim);
  if (!why->empty()) return Stand::kFailed;
  if (open.written || open.command != 0) return Stand::kWaiting;
  open.sent_version = claim.meta.resource_version;
  const cluster::ObjectRef ref = cluster::NewRef("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
                                                 claim.meta.ns, claim.meta.name, claim.meta.uid, open.sent_version);
  const base::Json patch = {{"metadata", {{"annotations", {{model::kSelectedNode, node}}}}}};
  Send(id, pod, open, {ref, false, cluster::Patch::Type::kMerge, base::PrintJson(patch)});
  return Stand::kWaiting;
}

void VolumeBinder::Send(GangId id, PodId pod, Open& open, cluster::Patch patch) {
  const Millis now = clock_.MonotonicMs();
  if (open.not_before_ms > now) return on_timer(id, open.not_before_ms);
  open.command = outbox_.Send(cluster::Lane::kBind, now + options_.bind_timeout_ms, std::move(patch));
  sent_.emplace(open.command, Sent{book_.at(id).key, pod, state_.pod(pod).pod->meta.uid, open.pick.claim});
}

std::string VolumeBinder::OutOfReach(PodId pod, const std::string& node) const {
  const cluster::PodEntry& entry = state_.pod(pod);
  const framework::Profile* profile = framework::FindProfile(options_.profiles, entry.pod->spec->scheduler_name);
  const model::NodeId n = state_.snapshot().FindNode(node);
  if (!profile || !n) return {};
  for (const auto& filter : profile->filters) {
    if (!filter->JudgesBoundVolumes()) continue;
    const auto asked = filter->PrepareFilter(*entry.pod_class, state_.snapshot());
    if (!asked) continue;
    if (std::string refusal = asked->RefusesClass(); !refusal.empty()) return refusal;
    if (asked->Check(n) == framework::Verdict::kFits) continue;
    std::vector<std::string> reasons;
    asked->Explain(n, &reasons);
    return fmt::format("binding volumes: {}", fmt::join(reasons, ", "));
  }
  return {};
}

bool VolumeBinder::OnAnswer(const cluster::Answer& answer) {
  const auto at = sent_.find(answer.id);
  if (at == sent_.end()) return false;
  const Sent sent = at->second;
  sent_.erase(at);
  const GangId id = book_.Find(sent.gang);
  if (!id || book_.GangOf(sent.pod) != id || state_.pod(sent.pod).pod->meta.uid != sent.uid) return true;
  book_.MarkReady(id);
  Gang& gang = book_.at(id);
  if (!gang.plan) return true;
  const auto assignment = gang.plan->open.find(sent.pod);
  if (assignment == gang.plan->open.end()) return true;
  for (Open& open : assignment->second.volumes) {
    if (open.command != answer.id) continue;
    open.command = 0;
    if (answer.outcome == Outcome::kDone) {
      open.written = true;
    } else if (answer.outcome == Outcome::kUnknown || answer.http_status == 409 || answer.unheard()) {
      open.not_before_ms = clock_.MonotonicMs() + kRepeatMs;  // then by what the object says
      on_timer(id, open.not_before_ms);
    } else {
      open.failure = fmt::format("binding volumes: claim {}: {}", sent.claim, answer.message);
    }
  }
  return true;
}

void VolumeBinder::StartTerm() {
  sent_.clear();
  book_.ForEach([](GangId, Gang& gang) {
    if (!gang.plan) return;
    for (auto& [pod, assignment] : gang.plan->open)
      for (Open& open : assignment.volumes) open.command = 0;
  });
}

}  // namespace tutti::core
