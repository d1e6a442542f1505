// SPDX-License-Identifier: Apache-2.0
#include "core/commit/victim_removal.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "base/json_string.h"
#include "base/planted.h"
#include "core/gangs/evidence.h"
#include "core/place/evictable.h"

namespace tutti::core {

using base::Millis;
using model::GangId;
using model::Pod;
using model::PodId;

namespace {

constexpr Millis kRepeatRecordMs = 500;

}  // namespace

bool VictimRemoval::IsGone(const Victim& victim) const {
  const cluster::PodEntry& entry = state_.pod(victim.pod);
  return !entry.pod || entry.pod->meta.uid != victim.uid || !entry.node;
}

void VictimRemoval::Prune(Preemption& preemption) const {
  std::erase_if(preemption.victims, [this](const Victim& victim) { return IsGone(victim); });
}

bool VictimRemoval::MayGo(const Gang& gang, PodId pod) const {
  const cluster::PodEntry& entry = state_.pod(pod);
  if (!Stays(entry)) return false;
  return !gang.given_up ||
         std::ranges::find(gang.given_up->stuck, entry.pod->meta.uid, &Victim::uid) == gang.given_up->stuck.end();
}

void VictimRemoval::Choose(GangId id, std::vector<Victim> victims) {
  Gang& gang = book_.at(id);
  TUTTI_CHECK(gang.plan && !gang.plan->bind_left && !gang.preemption, "a gang has one set of victims at a time");
  Preemption& it = gang.preemption.emplace();
  it.plan = gang.plan->id;
  it.victims = std::move(victims);
  for (Victim& victim : it.victims) {
    victim.uid = state_.pod(victim.pod).pod->meta.uid;
    state_.SetVictim(victim.pod, id);
  }
}

bool VictimRemoval::Step(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.preemption) return true;
  Preemption& it = *gang.preemption;
  Prune(it);
  if (it.victims.empty()) {
    gang.preemption.reset();
    gang.plan->deadline_ms = std::max(gang.plan->deadline_ms, clock_.MonotonicMs() + options_.repair_timeout_ms);
    agenda_.At(id, gang.plan->deadline_ms);
    return true;
  }
  if (!NominationsAreSeen(gang) || !Record(id)) return false;
  if (it.begun_ms == 0) {
    it.begun_ms = clock_.MonotonicMs();
    CountRestarts(it);
  }
  for (const Victim& victim : it.victims) evictor_.Evict(victim.pod, {victim.cause, id});
  agenda_.At(id, LateAt(it));
  return false;
}

void VictimRemoval::CountRestarts(const Preemption& preemption) {
  absl::flat_hash_set<PodId> leave;
  std::set<GangId> gangs;
  for (const Victim& victim : preemption.victims) {
    leave.insert(victim.pod);
    if (const GangId of = book_.GangOf(victim.pod)) gangs.insert(of);
  }
  for (const GangId id : gangs) {
    Gang& gang = book_.at(id);
    const bool loses_all = std::ranges::all_of(gang.members, [&](const Member* member) {
      return leave.contains(member->pod) || !state_.pod(member->pod).node;
    });
    if (loses_all) gang.restarts = std::min(gang.restarts + 1, kMostRestarts);
  }
}

bool VictimRemoval::NominationsAreSeen(const Gang& gang) const {
  return std::ranges::all_of(gang.plan->open, [this](const auto& item) {
    return book_.at(item.first).promised || book_.PodOf(item.first)->nominated_node == item.second.node;
  });
}

// A victim's own grace period, which its deletion says, does not count.
Millis VictimRemoval::LateAt(const Preemption& preemption) const {
  const Millis to_monotonic = clock_.MonotonicMs() - clock_.WallMs();
  Millis from = preemption.begun_ms;
  for (const Victim& victim : preemption.victims)
    from = std::max(from, state_.pod(victim.pod).pod->meta.deleted_ms + to_monotonic);
  return from + options_.victim_timeout_ms;
}

bool VictimRemoval::IsLate(const Gang& gang) const {
  const Preemption& it = *gang.preemption;
  const bool some_left = !std::ranges::all_of(it.victims, [this](const Victim& victim) { return IsGone(victim); });
  return some_left && it.begun_ms != 0 && clock_.MonotonicMs() >= LateAt(it);
}

bool VictimRemoval::Record(GangId id) {
  Gang& gang = book_.at(id);
  Preemption& it = *gang.preemption;
  if (it.recorded || it.write != 0) return it.recorded;
  if (clock_.MonotonicMs() < it.again_ms) {
    agenda_.At(id, it.again_ms);
    return false;
  }
  const auto& open = gang.plan->open;
  const auto first = std::ranges::find_if(open, [this](const auto& item) { return !book_.at(item.first).promised; });
  if (first == open.end()) return it.recorded = true;
  const Member& carrier = book_.at(first->first);
  it.carrier = carrier.id;
  it.write = Write(carrier, true, WriteRecord(it, book_.PodOf(carrier.id)->meta.uid));
  return false;
}

cluster::CommandId VictimRemoval::Write(const Member& member, bool holds, const std::string& message) {
  const std::shared_ptr<const Pod>& pod = book_.PodOf(member.id);
  const base::Json condition = {{"type", model::kPreemptingCondition},
                                {"status", holds ? "True" : "False"},
                                {"reason", holds ? "VictimsLeave" : "GivenUp"},
                                {"message", message},
                                {"lastTransitionTime", base::FormatTime(clock_.WallMs())}};
  // What is written late, after the record was taken back, finds another version of the pod.
  base::Json meta = {{"uid", pod->meta.uid}};
  if (holds) meta["resourceVersion"] = pod->meta.resource_version;
  const base::Json body = {{"metadata", meta}, {"status", {{"conditions", {condition}}}}};
  return outbox_.Send(
      Outbox::For::kRecord, cluster::Lane::kEvict, clock_.MonotonicMs() + options_.bind_timeout_ms,
      cluster::Patch{cluster::RefOf(pod), true, cluster::Patch::Type::kStrategic, base::PrintJson(body)},
      [this, written = book_.Remember(member)](const cluster::CommandReply& reply) { OnReply(written, reply); });
}

void VictimRemoval::OnReply(const GangBook::Written& written, const cluster::CommandReply& reply) {
  const Member* member = book_.Find(written);
  if (!member) return;
  Gang& gang = book_.at(member->gang);
  const bool done = reply.outcome == cluster::Outcome::kDone;
  const Millis again_ms = clock_.MonotonicMs() + reply.PauseMs(kRepeatRecordMs);
  if (gang.preemption && gang.preemption->write == reply.id) {
    gang.preemption->write = 0;
    gang.preemption->recorded = done;
    gang.preemption->again_ms = again_ms;
  } else if (gang.given_up && gang.given_up->write == reply.id) {
    gang.given_up->write = 0;
    gang.given_up->again_ms = again_ms;
    if (done) gang.given_up->carrier = {};
  }
  agenda_.MarkReady(member->gang);
}

void VictimRemoval::Recall(GangId id, const Census& census) {
  Gang& gang = book_.at(id);
  if (gang.preemption) Prune(*gang.preemption);
  if (gang.given_up && std::erase_if(gang.given_up->stuck, [this](const Victim& victim) { return IsGone(victim); }) > 0)
    gang.given_up->words = gang.given_up->stuck.empty() ? "" : SayStuck(gang.given_up->stuck);
  if (gang.preemption && (gang.whole || (gang.preemption->victims.empty() && !gang.plan))) GiveUp(id);
  if (gang.given_up && gang.given_up->carrier) return TakeBack(id);
  if (!census.recorder || gang.whole || gang.plan || gang.preemption || base::Planted(base::Bug::kForgetVictims))
    return;
  const auto record = ReadRecord(*book_.PodOf(census.recorder->id));
  if (record && gang.given_up && gang.given_up->plan == record->plan) return;  // that it is taken back is not seen yet
  std::vector<Victim> victims = record ? Find(gang, *record) : std::vector<Victim>();
  if (victims.empty()) {
    if (!gang.given_up) gang.given_up.emplace();
    gang.given_up->plan = record ? record->plan : "";
    gang.given_up->carrier = census.recorder->id;
    return TakeBack(id);
  }
  Preemption& it = gang.preemption.emplace();
  it.plan = record->plan;
  it.victims = std::move(victims);
  it.carrier = census.recorder->id;
  it.recorded = true;
  for (const Victim& victim : it.victims) state_.SetVictim(victim.pod, id);
}

// A walk over all pods; but only for what is found recorded after a restart.
std::vector<Victim> VictimRemoval::Find(const Gang& gang, const PreemptionRecord& record) const {
  absl::flat_hash_map<std::string_view, EvictionCause> causes;
  for (const auto& [uid, cause] : record.victims) causes.emplace(uid, cause);
  std::vector<Victim> victims;
  const RightToEvict right(options_, state_, book_, gang, std::nullopt);
  for (uint32_t slot = 0; slot < state_.pod_slots(); ++slot) {
    const cluster::PodEntry& entry = state_.pod(PodId(slot));
    if (!Stays(entry)) continue;
    const auto at = causes.find(entry.pod->meta.uid);
    if (at != causes.end() && MayHaveChosen(right, PodId(slot), at->second))
      victims.push_back({PodId(slot), at->second, entry.pod->meta.uid});
  }
  return victims;
}

bool VictimRemoval::MayHaveChosen(const RightToEvict& right, PodId victim, EvictionCause cause) const {
  const cluster::PodEntry& entry = state_.pod(victim);
  if (!right.any() || NeverGoes(*entry.pod)) return false;
  if (entry.pod->meta.deleting()) return true;  // it goes anyway
  const GangId id = book_.GangOf(victim);
  const Gang* of = id ? &book_.at(id) : nullptr;
  return right.CauseFor(of, GoesBy(entry, of)) == cause;
}

void VictimRemoval::TakeBack(GangId id) {
  GivenUpPreemption& it = *book_.at(id).given_up;
  if (it.write != 0) return;
  const Member* carrier = book_.Find(id, it.carrier);
  if (!carrier) {
    it.carrier = {};
  } else if (clock_.MonotonicMs() < it.again_ms) {
    agenda_.At(id, it.again_ms);
  } else {
    it.write = Write(*carrier, false, "");
  }
}

void VictimRemoval::Forget(Gang& gang) {
  for (const Victim& victim : gang.preemption->victims) {
    if (IsGone(victim)) continue;
    state_.SetVictim(victim.pod, {});
    if (const GangId of = book_.GangOf(victim.pod)) agenda_.MarkReady(of);  // it takes members again
  }
  gang.preemption.reset();
}

std::string VictimRemoval::SayStuck(const std::vector<Victim>& stuck) const {
  constexpr size_t kMostNamed = 5;
  std::string text =
      fmt::format("It gave up waiting for {} pod{} to leave:", stuck.size(), stuck.size() == 1 ? "" : "s");
  for (size_t i = 0; i < stuck.size() && i < kMostNamed; ++i) {
    const model::ObjectMeta& meta = state_.pod(stuck[i].pod).pod->meta;
    text += fmt::format("{} {}/{}", i == 0 ? "" : ",", meta.ns, meta.name);
  }
  return text + (stuck.size() > kMostNamed ? ", …" : ".");
}

void VictimRemoval::GiveUp(GangId id) {
  Gang& gang = book_.at(id);
  Prune(*gang.preemption);
  if (!gang.given_up) gang.given_up.emplace();
  gang.given_up->plan = gang.preemption->plan;
  gang.given_up->carrier = gang.preemption->carrier;
  gang.given_up->write = 0;
  if (IsLate(gang)) {
    std::vector<Victim>& stuck = gang.given_up->stuck;
    stuck.insert(stuck.end(), gang.preemption->victims.begin(), gang.preemption->victims.end());
    gang.given_up->words = SayStuck(stuck);
  }
  Forget(gang);
  agenda_.MarkReady(id);
}

void VictimRemoval::OnLeave(GangId id, const Member& member) {
  Gang& gang = book_.at(id);
  if (!gang.preemption) return;
  if (gang.members.size() == 1) return Forget(gang);
  if (gang.preemption->carrier != member.id) return;
  gang.preemption->recorded = false;
  gang.preemption->write = 0;
}

void VictimRemoval::StartTerm() {
  outbox_.Forget(Outbox::For::kRecord);
  book_.ForEach([this](GangId, Gang& gang) {
    if (gang.preemption) Forget(gang);
    gang.given_up.reset();
  });
}

}  // namespace tutti::core
