// SPDX-License-Identifier: Apache-2.0
#include "core/commit/evictor.h"

#include <fmt/format.h>

#include <utility>

#include "base/json.h"
#include "base/json_string.h"
#include "core/gangs/evidence.h"

namespace tutti::core {

using base::Millis;
using cluster::Lane;
using model::GangId;
using model::Pod;

namespace {

constexpr Millis kRepeatEvictionMs = 500, kEvictDeadlineMs = 30'000;

base::Json Announcement(const Pod& pod, const std::string& why, Millis wall_ms) {
  return {{"metadata", {{"uid", pod.meta.uid}}},
          {"status",
           {{"conditions",
             {{{"type", model::kUndoCondition},
               {"status", "True"},
               {"reason", model::kUndoReason},
               {"message", why},
               {"lastTransitionTime", base::FormatTime(wall_ms)}}}}}}};
}

}  // namespace

void Evictor::StartTerm() {
  outbox_.Forget(Outbox::For::kEviction);
  book_.ForEach([](GangId, Gang& gang) {
    for (Member* member : gang.members) member->eviction.under_way = false;
  });
}

std::optional<std::string> Evictor::WhyKept(const Pod& pod) const {
  const model::OwnerReference* controller = pod.meta.Controller();
  if (!controller) return "no controller would recreate it";
  if (controller->kind == "Job") return fmt::format("its Job \"{}\" would count a failure", controller->name);
  if (pod.bound() && state_.NodeExists(pod.node_name) && !ReadEvidence(pod)) return "somebody else bound it";
  return std::nullopt;
}

template <typename Body>
void Evictor::Send(const Member& member, bool announced, Body body) {
  outbox_.Send(Outbox::For::kEviction, Lane::kEvict, clock_.MonotonicMs() + kEvictDeadlineMs, std::move(body),
               [this, written = book_.Remember(member), announced](const cluster::Answer& reply) {
                 OnReply(written, announced, reply);
               });
}

bool Evictor::Evict(Gang& gang, Member& member, const std::string& why) {
  const std::shared_ptr<const Pod>& pod = state_.pod(member.pod).pod;
  EvictionNote& note = member.eviction;
  if (note.under_way || pod->meta.deleting()) return note.under_way;
  if (const auto kept = WhyKept(*pod)) {
    note.why_kept = fmt::format("{}, but this pod is kept: {}", why, *kept);
    return false;
  }
  if (clock_.MonotonicMs() < note.again_ms) return true;
  note.under_way = true;
  Send(member, false,
       cluster::Patch{cluster::RefOf(pod), true, cluster::Patch::Type::kStrategic,
                      base::PrintJson(Announcement(*pod, why, clock_.WallMs()))});
  announcer_.Happened(gang, Announcer::Step::kEvicted, why, &member);
  return true;
}

bool Evictor::EvictLost(Gang& gang, Member& member) {
  return Evict(gang, member, "the node it was bound to does not exist");
}

void Evictor::OnReply(const GangBook::Written& written, bool announced, const cluster::Answer& reply) {
  Member* member = book_.Find(written);
  if (!member) return;
  const GangId id = member->gang;
  const std::shared_ptr<const Pod>& pod = book_.PodOf(member->id);
  EvictionNote& note = member->eviction;
  if (reply.outcome != cluster::Outcome::kDone) {  // without the condition it is not deleted
    note.under_way = false;
    note.again_ms = clock_.MonotonicMs() + kRepeatEvictionMs;
    agenda_.At(id, note.again_ms);
    plans_.ConfirmIfWhole(id);
  } else if (pod->done()) {  // meanwhile; it holds nothing any more, and what it has left behind is its owner's
    note.under_way = false;
  } else if (!announced) {
    Send(*member, true, cluster::Delete{cluster::RefOf(pod)});
  }
}

}  // namespace tutti::core
