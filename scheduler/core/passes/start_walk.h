// SPDX-License-Identifier: Apache-2.0
// StartWalk: goes through the time to come until a gang that waits can start.
//
// What runs ends when its limits or the runs of others like it say (gangs/ends.h), one after another, in a trial. At
// each instant the gangs of the line have their turn as in a cycle: what starts takes its room, and ends in its time as
// well. The next instant at which one of them can start is sought by halves, for more room does no harm. One thread.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "core/gangs/ends.h"
#include "core/gangs/gang_book.h"
#include "core/passes/trial.h"
#include "core/place/planner.h"
#include "model/gang_draft.h"
#include "observe/prospect.h"

namespace tutti::core {

class StartWalk {
 public:
  // So many gangs of a line are looked at.
  static constexpr size_t kMostGangs = 64;
  // Why there is no estimate where no more may be spent.
  static constexpr const char* kCutShort =
      "So much runs or waits here that a question ends before an estimate is found.";
  // Looks whether a guest can start now, takes its places in the trial if it can, and returns what it found.
  using Look = std::function<observe::Prospect(model::GangId, const model::GangDraft&, Trial&)>;

  // All must outlive it, and the trial is the one that was begun last. `line`: drafts in the order of their turns;
  // `ids`: the guests that they are in the trial. `asked`: a place in the line. `most_work`: what may be spent, in
  // units of the budget (core/place/problem.h).
  StartWalk(const cluster::ClusterState& state, const GangBook& book, const RunLengths& lengths, Planner& planner,
            base::Millis now_ms, const std::vector<model::GangDraft>& line, const std::vector<model::GangId>& ids,
            size_t asked, int64_t most_work, Trial& trial, const Look& look);
  ~StartWalk();
  StartWalk(const StartWalk&) = delete;
  StartWalk& operator=(const StartWalk&) = delete;

  // Returns when the gang that is asked about can start. Once.
  observe::StartEstimate Run();
  // What may still be spent.
  int64_t left() const { return left_ + searched_ - planner_.work(); }

 private:
  // Something that ends.
  struct Ending {
    End end;
    size_t guest = kNone;  // its place in the line, if it is a guest that has started
    Trial::Taken taken;    // by the guest
  };
  static constexpr size_t kNone = ~size_t{0};

  bool exhausted() const { return left() < 0; }
  // Where the walk is: now, until something has ended.
  base::Millis here_ms() const { return next_ == instants_.begin() ? now_ms_ : std::prev(next_)->first; }
  // Takes up when what runs ends. What is over by now has ended.
  void Begin();
  void Forward();
  void Back();
  // Goes to the first instant at which a gang of the line can start. Returns false if there is none, or no more may be
  // spent.
  bool Advance();
  // Has each gang that can start take its room, in their order. Returns true if the one that is asked about has.
  bool Start();
  void FollowStarted(size_t guest);
  bool AnyStarts();
  // Tells whether a gang that was refused asks for the same as this one, which is then refused, too. The gang that is
  // asked about is always looked at.
  bool IsRefusedAlike(size_t guest, const std::vector<size_t>& refused) const;
  bool AskAlike(size_t a, size_t b) const;
  observe::Prospect LookAt(size_t guest);
  observe::StartEstimate Found() const;
  observe::StartEstimate NotFound() const;
  // Tells whether what ended held room where the gang that is asked about has its places, or quota of its queue.
  bool IsInItsWay(const Ending& ending, const absl::flat_hash_set<model::NodeId>& nodes) const;

  const cluster::ClusterState& state_;
  const GangBook& book_;
  const RunLengths& lengths_;
  Planner& planner_;
  const base::Millis now_ms_;
  const std::vector<model::GangDraft>& line_;
  const std::vector<model::GangId>& ids_;
  const size_t asked_;
  int64_t left_;
  const int64_t searched_;  // before the walk
  Trial& trial_;
  const Look& look_;
  std::vector<char> started_;  // by place in the line
  std::map<base::Millis, std::vector<Ending>> instants_;
  decltype(instants_)::iterator next_ = instants_.end();
  std::vector<model::GangKey> endless_, endless_guests_;
  observe::Prospect last_;                           // of the gang that is asked about
  bool by_queue_ = false;                            // its queue was the first to refuse it
  std::vector<std::unique_ptr<Trial::Step>> steps_;  // each within the one before
};

}  // namespace tutti::core
