// SPDX-License-Identifier: Apache-2.0
#include "core/publish/figure_refresh.h"

#include <utility>

#include "base/planted.h"
#include "core/publish/explain.h"

namespace tutti::core {

using base::Millis;
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
// So many gangs are told new figures in one cycle: no cycle holds a decision up.
constexpr int64_t kTurnsAtOnce = 32;

}  // namespace

Millis FigureRefresh::MaxAgeMs() const {
  const Millis few = options_.figures_ms * (base::Planted(base::Bug::kOldFigures) ? 10 : 1);
  return tallies_.waiting_gangs() < kFewWait ? few : 5 * few;
}

void FigureRefresh::OnChange() {
  if (base::Planted(base::Bug::kStaleFigures)) return;
  const Millis max_age = MaxAgeMs();
  const Millis at = std::max(clock_.MonotonicMs() + max_age / 4, from_ms_ + max_age / 2);
  // What happens while some gangs have had their turn is for the next round.
  Millis& due = slot_ == 0 ? at_ms_ : next_at_ms_;
  due = due == 0 ? at : std::min(due, at);
}

void FigureRefresh::Step(int64_t work) {
  const Millis now = clock_.MonotonicMs();
  if (at_ms_ == 0 || now < at_ms_) return;
  if (slot_ == 0) from_ms_ = now;
  const auto steps = static_cast<uint32_t>(std::max<Millis>(1, MaxAgeMs() * 2 / 5 / kRefreshStepMs));
  const uint32_t end =
      std::min(book_.slots(), slot_ + std::clamp(book_.slots() / steps + 1, kRefreshLeast, kRefreshMost));
  for (; slot_ < end; ++slot_)
    if (const Gang& gang = book_.at(GangId(slot_)); gang.refusal &&
                                                    (HasFigures(gang.refusal->state()) || !gang.spec.queue.empty()) &&
                                                    IsRenewedByItself(GangId(slot_)))
      Renew(GangId(slot_));
  if (slot_ >= book_.slots()) {
    slot_ = 0;
    at_ms_ = std::exchange(next_at_ms_, 0);
    return;
  }
  // The next step comes later after one that took many searches.
  const int64_t done = work - std::exchange(work_, work);
  at_ms_ = now + std::clamp<Millis>(done / kWorkPerMs * kRestPerWork, kRefreshStepMs, kRefreshStepMostMs);
}

// Gangs that wait by one certificate are renewed by the first of them: see Regroup. A gang that a queue refuses has no
// certificate.
bool FigureRefresh::IsRenewedByItself(GangId id) const {
  const Gang& gang = book_.at(id);
  return !gang.refusal->certificate || !gang.spec.queue.empty() || agenda_.IsFirst(id);
}

void FigureRefresh::Regroup(GangId id) {
  if (!agenda_.Regroup(id)) return;
  const uint64_t figures_id = book_.at(id).refusal->figures_id;
  agenda_.ForEachLike(id, [&](GangId each) {
    Gang& gang = book_.at(each);
    if (gang.refusal && gang.refusal->figures_id != figures_id && !std::exchange(gang.note.awaits_figures, true))
      writes_.Enqueue(each);
  });
}

void FigureRefresh::Renew(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.refusal) return;
  book_.RenewFigures(gang);
  if (WasCutOff(*gang.refusal))
    agenda_.MarkWoken(id);
  else
    agenda_.MarkReady(id);
}

void FigureRefresh::OnTimer(GangId id, Millis at_ms) {
  Gang& gang = book_.at(id);
  if (gang.note.renew_ms != at_ms) return;
  gang.note.renew_ms = 0;
  Renew(id);
}

// Figures that were kept though they are others now are renewed in time, though nothing else happens: it may have been
// an edit of a member, or one that went, that changed them.
void FigureRefresh::Keep(GangId id, const Refusal& before, Refusal* now) {
  Gang& gang = book_.at(id);
  const Millis for_ms = MaxAgeMs() / 2;
  if (!KeepFigures(before, for_ms, now) || gang.note.renew_ms != 0) return;
  gang.note.renew_ms = clock_.MonotonicMs() + for_ms;
  agenda_.At(id, gang.note.renew_ms, Agenda::Due::kRenew);
}

// What is older than the last round is of no gang that the round went through: nothing would bring that up to date.
Millis FigureRefresh::From(const Gang& gang) const {
  if (!gang.refusal || !gang.refusal->figures_stale) return from_ms_;
  return std::max(from_ms_, clock_.MonotonicMs() - MaxAgeMs() / 2);
}

void FigureRefresh::TakeTurns() {
  int64_t turns = 0;
  // Pods are counted again when they are told; but a turn is not free, whatever comes of it.
  int64_t back = 0;
  while (turns < kTurnsAtOnce) {
    const auto id = writes_.Take(clock_.MonotonicMs());
    if (!id) break;
    Gang& gang = book_.at(*id);
    if (!std::exchange(gang.note.awaits_figures, false)) continue;  // it went meanwhile
    gang.note.takes_figures = true;
    ++turns;
    writes_.Spend(std::max<int64_t>(1, std::ssize(gang.members)));
    back += std::max<int64_t>(1, std::ssize(gang.members)) - 1;
    const Refusal* refusal = gang.refusal ? &*gang.refusal : nullptr;
    if (refusal && refusal->certificate && refusal->certificate->figures_id != refusal->figures_id)
      agenda_.MarkReady(*id);
    agenda_.Touch(*id);
  }
  writes_.Spend(-back);
}

}  // namespace tutti::core
