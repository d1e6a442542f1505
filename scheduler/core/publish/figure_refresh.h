// SPDX-License-Identifier: Apache-2.0
// FigureRefresh: how the numbers in waiting gangs' reasons follow the cluster, and at what cost.
//
// What does not help a waiting gang may still change the figures in its reason. They are brought up to date in rounds
// through all gangs, a few of them at a time. A round begins a quarter of the time that figures have after a change,
// and half of it after the last one at the earliest. While nothing changes there is none.
#pragma once

#include <algorithm>
#include <optional>

#include "core/gangs/agenda.h"
#include "core/options.h"
#include "core/publish/figure_writes.h"
#include "core/publish/tallies.h"

namespace tutti::core {

class FigureRefresh {
 public:
  FigureRefresh(const Options& options, GangBook& book, Agenda& agenda, const Tallies& tallies,
                const base::Clock& clock)
      : options_(options), book_(book), agenda_(agenda), tallies_(tallies), clock_(clock) {}

  // Notes that something happened that changes figures: a round is due.
  void OnChange();
  // Takes the next step of a round, if one is due. `work`: what searches have done so far.
  void Step(int64_t work);
  // Puts a gang that was considered where it waits. Where what its refusal counts was counted again, those that wait as
  // it does are told in their turn.
  void Regroup(model::GangId id);
  // Renews what is said of the gang: it is considered again, at the latest when its search has its turn.
  void Renew(model::GangId id);
  // Renews it if the timer that is due at `at_ms` is the one that stands.
  void OnTimer(model::GangId id, base::Millis at_ms);
  // Lets the gang keep the figures of its last reason for a while, if `now` differs from it in figures alone.
  void Keep(model::GangId id, const Refusal& before, Refusal* now);

  // Returns how old figures may be.
  base::Millis MaxAgeMs() const;
  // Returns when what is said about the gang must have been found at the earliest (monotonic).
  base::Millis From(const Gang& gang) const;

  // Touches the gangs whose turn it is to be told new figures.
  void TakeTurns();
  FigureWrites& writes() { return writes_; }

  std::optional<base::Millis> NextDeadline() const {
    std::optional<base::Millis> next = writes_.DueAt();
    if (at_ms_ != 0) next = std::min(next.value_or(at_ms_), at_ms_);
    return next;
  }

 private:
  // Tells whether what is said of the gang is brought up to date by itself, and not by another one that waits as it
  // does.
  bool IsRenewedByItself(model::GangId id) const;

  const Options& options_;
  GangBook& book_;
  Agenda& agenda_;
  const Tallies& tallies_;
  const base::Clock& clock_;
  FigureWrites writes_;
  uint32_t slot_ = 0;            // the gang at which the round goes on
  base::Millis at_ms_ = 0;       // when it does; 0: figures are up to date
  base::Millis next_at_ms_ = 0;  // when the next round begins, for what changed during this one; 0: nothing did
  base::Millis from_ms_ = 0;     // when the last round began: older figures will not do
  int64_t work_ = 0;             // of searches, at the last step
};

}  // namespace tutti::core
