// SPDX-License-Identifier: Apache-2.0
#include "core/passes/undo_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/planted.h"
#include "core/publish/explain.h"

namespace tutti::core {

using base::Millis;
using model::GangId;

namespace {

constexpr Millis kFenceAgainMs = 1'000;  // a second at least, as the time in the condition: it changes the pod

}  // namespace

bool UndoPass::TakeOver(GangId id, const Census& census) {
  Gang& gang = book_.at(id);
  const bool repairs = options_.half_bound == Options::HalfBound::kRepair;
  const bool over = repairs && clock_.MonotonicMs() >= gang.plan->deadline_ms;
  if (!over || gang.plan->awaits_pods() || committer_.plans().CommitOnItsWay(id) || base::Planted(base::Bug::kKeepHalf))
    return false;
  if (Member* member = committer_.plans().CommitInDoubt(gang)) {
    Fence(id, *member);
    return true;
  }
  const std::string why =
      fmt::format("not every required member of the gang could be bound in time; {}",
                  gang.refusal ? gang.refusal->words().sentence : "its members start again together");
  if (committer_.Undo(id, why)) {
    announcer_.Undone(gang, static_cast<int64_t>(census.placed.size()), why);
    gang_status_.TellGang(gang, true, "Undone", why);
  }
  Continue(id, *book_.CensusOf(gang));
  return true;
}

void UndoPass::Continue(GangId id, const Census& census) {
  Gang& gang = book_.at(id);
  // To say so also changes the pods: a bind that is still on its way to one of them comes too late then.
  book_.Refuse(gang, ExplainUndoing(gang));
  committer_.plans().ReleaseUnsent(id);
  committer_.Pump(id);  // repeats binds in doubt
  bool busy = false;    // some member is not seen to be leaving yet; those that are may take very long
  for (Member* member : census.placed)
    busy = committer_.evictor().EvictUnlessKept(*member, "its gang is being undone") || busy;
  // What is acknowledged has to be seen, or without its plan it would look as if it waited.
  if (busy || !gang.plan->open.empty()) return;
  committer_.plans().End(id);
  agenda_.MarkReady(id);
  if (KeepsAll(gang, *book_.CensusOf(gang))) return;
  for (Member* member : gang.members)
    if (!member->why_kept.empty()) pod_status_.TellKept(*member);
}

bool UndoPass::KeepsAll(const Gang& gang, const Census& census) const {
  const auto is_kept = [this](const Member* member) { return committer_.evictor().Keeps(*member); };
  return census.lost.empty() && std::ranges::all_of(census.placed, is_kept) && Require(gang, census).met();
}

bool UndoPass::EvictLost(Member& member) {
  const bool going = committer_.evictor().EvictLost(member);
  if (!member.why_kept.empty()) pod_status_.TellKept(member);
  return going;
}

void UndoPass::Fence(GangId id, Member& member) {
  Plan& plan = *book_.at(id).plan;
  const Millis now = clock_.MonotonicMs();
  if (now < plan.fenced_ms) return;
  plan.fenced_ms = now + kFenceAgainMs;
  agenda_.At(id, plan.fenced_ms);
  PodStatus::Distrust(member);
  pod_status_.TellWaiting(id, member, "Unschedulable", "its bind was not answered, and its gang is not whole in time");
}

}  // namespace tutti::core
