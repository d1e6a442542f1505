// SPDX-License-Identifier: Apache-2.0
// Figures: how the numbers in waiting gangs' reasons follow the cluster, and at what cost.
#include <algorithm>
#include <utility>

#include "base/planted.h"
#include "core/cycle.h"
#include "core/explain.h"

namespace tutti::core {

using base::Millis;
using framework::Wake;
using model::GangId;

namespace {

// While no more gangs wait, their figures are brought up to date five times as often.
constexpr int32_t kFewWait = 200;
// All gangs are gone through in two fifths of the time that figures have, so many a step at most: no step holds a
// decision up.
constexpr Millis kRefreshStepMs = 50, kRefreshStepMostMs = 500;
constexpr uint32_t kRefreshLeast = 32, kRefreshMost = 512;
// Searches for the figures' sake take a tenth of the thread's time.
constexpr int64_t kWorkPerMs = 75'000, kRestPerWork = 10;
constexpr Wake kFreesNodes = Wake::kNodeAdded | Wake::kNodeCapacity | Wake::kNodeLabels | Wake::kNodeTaints |
                             Wake::kPodGone | Wake::kPodPlaced | Wake::kVolume | Wake::kDriver;

}  // namespace

Millis Cycle::FiguresMs() const {
  const Millis few = options.figures_ms * (base::Planted(base::Bug::kOldFigures) ? 10 : 1);
  return tally_.waiting < kFewWait ? few : 5 * few;
}

// What does not help a waiting gang may still change the figures in its reason. They are brought up to date in rounds
// through all gangs, a few of them at a time. A round begins a quarter of the time that figures have after a change,
// and half of it after the last one at the earliest. While nothing changes there is none.
void Cycle::RefreshCounts() {
  if (base::Planted(base::Bug::kStaleFigures)) return;
  const Millis now = clock.MonotonicMs(), may_be = FiguresMs();
  const bool charged = charges.TakeCharged();
  if (charged || framework::Any(happened_ & (kFreesNodes | Wake::kQueue))) {
    const Millis at = std::max(now + may_be / 4, figures_from_ms_ + may_be / 2);
    // What happens while some gangs have had their turn is for the next round.
    Millis& due = refresh_from_ == 0 ? refresh_at_ms : refresh_next_ms_;
    due = due == 0 ? at : std::min(due, at);
  }
  if (refresh_at_ms == 0 || now < refresh_at_ms) return;
  if (refresh_from_ == 0) figures_from_ms_ = now;
  const auto steps = static_cast<uint32_t>(std::max<Millis>(1, may_be * 2 / 5 / kRefreshStepMs));
  const uint32_t end =
      std::min(book.slots(), refresh_from_ + std::clamp(book.slots() / steps + 1, kRefreshLeast, kRefreshMost));
  for (; refresh_from_ < end; ++refresh_from_)
    if (const Gang& gang = book.at(GangId(refresh_from_));
        gang.refusal && (HasFigures(gang.refusal->state) || !gang.spec.queue.empty()))
      RenewFigures(GangId(refresh_from_));
  const bool more = refresh_from_ < book.slots();
  if (!more) refresh_from_ = 0;
  refresh_at_ms = more ? now + RefreshRest() : std::exchange(refresh_next_ms_, 0);
}

// Until the next step: longer after one that took many searches.
Millis Cycle::RefreshRest() {
  const int64_t done = planner.work() - std::exchange(refresh_work_, planner.work());
  return std::clamp<Millis>(done / kWorkPerMs * kRestPerWork, kRefreshStepMs, kRefreshStepMostMs);
}

void Cycle::RenewFigures(GangId id) {
  Gang& gang = book.at(id);
  if (!gang.refusal) return;
  gang.refusal->old = true;
  if (WasCutOff(*gang.refusal))
    book.MarkWoken(id);
  else
    book.MarkReady(id);
}

// Those that are kept though they are others now are renewed in time, though nothing else happens: it may have been an
// edit of a member, or one that went, that changed them.
void Cycle::KeepFiguresOf(GangId id, const Refusal& before, Refusal* now) {
  Gang& gang = book.at(id);
  const Millis for_ms = FiguresMs() / 2;
  if (!KeepFigures(before, for_ms, now) || gang.renew_ms != 0) return;
  gang.renew_ms = clock.MonotonicMs() + for_ms;
  timers.insert({gang.renew_ms, id, Timer::Due::kRenew});
}

// When what is said about the gang was found at the earliest. What is older than the last round is of no gang that it
// went through: nobody would bring that up to date.
Millis Cycle::FiguresFrom(const Gang& gang) const {
  if (!gang.refusal || !gang.refusal->old) return figures_from_ms_;
  return std::max(figures_from_ms_, clock.MonotonicMs() - FiguresMs() / 2);
}

// Those who stand in line for it are told new figures, as many as may be.
void Cycle::TakeFigureTurns() {
  int64_t pods = 0;  // they are counted again when they are told
  while (const auto id = figure_writes.Take(clock.MonotonicMs())) {
    Gang& gang = book.at(*id);
    if (!std::exchange(gang.awaits_figures, false)) continue;  // it went meanwhile
    gang.takes_figures = true;
    figure_writes.Spend(std::ssize(gang.members));
    pods += std::ssize(gang.members);
    Touch(*id);
  }
  figure_writes.Spend(-pods);
}

}  // namespace tutti::core
