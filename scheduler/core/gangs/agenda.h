// SPDX-License-Identifier: Apache-2.0
// Agenda: what is to be done for which gang, and when. It is the one owner of "when": no other class keeps a timer of a
// gang.
//
// Invariants
//   (1) ready gangs of a queue, and those of no queue, are taken by priority, then those first whose minimum may lack
//       something, then age (the API server tells it in seconds), then class by class, because a class's ranking
//       catches up once for all of them, then name; whose turn it is among queues, ReadyLines says. A priority may
//       rise with time (model::GangRank);
//   (2) gangs refused alike (Refusal::shape) whose priorities rise alike wait in one group, of which only the first is
//       woken; when it leaves the group, the next is. So ten thousand equal gangs cost what one costs;
//   (3) a gang is touched at most once until TakeTouched. One thread.
#pragma once

#include <absl/container/btree_set.h>

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/gangs/gang_book.h"
#include "core/gangs/ready_lines.h"
#include "core/gangs/retry_schedule.h"

namespace tutti::core {

class Agenda {
 public:
  // `tree` and `order` are of the gangs' queues; both must outlive this.
  Agenda(GangBook& book, queue::QueueTree& tree, queue::Order& order, const base::Clock& clock)
      : book_(book), clock_(clock), ready_(book, tree, order, InOrder{&book}, clock) {}
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  // -- Ready: gangs to be considered. A gang is ready at most once. --
  void MarkReady(model::GangId id);
  // Marks the gang ready, though nothing happened to the gang itself.
  void MarkWoken(model::GangId id);
  // Puts a gang whose minimum lacks nothing behind all of its priority that may lack something. Returns true if some of
  // those are ready; then the gang is ready again. REQUIRES: it was taken.
  bool StandBehind(model::GangId id);
  // Ends that the gang stands behind others.
  void StandInFront(model::GangId id) { book_.at(id).line.besides = false; }
  bool AnyReady() const { return !ready_.empty(); }
  // Tells whether gangs of more than one queue are ready, so that it matters which queue's turn it is.
  bool AreQueuesRivals() const { return ready_.AreQueuesRivals(); }
  // Notes that some queue has another parent.
  void OnQueueMoved() { ready_.OnMoved(); }
  // Takes the next gang. REQUIRES: AnyReady()
  model::GangId TakeReady();
  // Notes that a pod of that priority joined the gang, and moves the gang in its line if that changed its priority or
  // age.
  void OnJoined(model::GangId id, int32_t pod_priority);
  // Notes that the gang's declaration changed, and moves the gang in its line accordingly.
  void OnDescribed(model::GangId id);

  // -- Waiting: gangs that a refusal keeps from being considered. --
  // Files the gang under its refusal, or under none. Where the first of a group that was woken left it, the next
  // becomes ready. Returns true if the figures in the refusals of the others of its group have changed.
  bool Regroup(model::GangId id);
  // Tells whether the gang is the first of those that wait as it does: it is considered for all of them.
  bool IsFirst(model::GangId id) const;
  // Calls f(id) for the gangs that wait as this one does, itself too.
  template <typename F>
  void ForEachLike(model::GangId id, F f) const {
    if (const uint32_t group = book_.at(id).line.group; group != AgendaEntry::kNoGroup)
      for (const model::GangId each : groups_[group].gangs) f(each);
  }
  // Makes ready the gangs that wait for something like what happened, or whose certificate is broken.
  void Wake(framework::Wake happened);

  // Returns when a placement was last sought for the group that has waited longest for that, or a little earlier;
  // nullopt: no gang waits for something to happen.
  std::optional<base::Millis> LongestWait() const;
  // Makes ready the first gang of one more group for which no placement has been sought since this instant, marks it as
  // flushed and returns the certificates by which it waits; they are to be ended. nullopt: there is no such group.
  std::optional<std::vector<std::shared_ptr<const Validity>>> Flush(base::Millis since_ms);
  // Returns true, once, if the gang that was taken is ready only because it has waited for long.
  bool TakeFlushed(model::GangId id) { return std::exchange(book_.at(id).line.flushed, false); }

  // -- Seeking: groups that wait for victims, as the first of each says (Gang::seeks). --
  bool AnySeeks() const { return !seeking_.empty(); }
  // Takes the groups that seek victims with every change, in the order of their first gangs.
  std::vector<uint32_t> TakeSeeking();
  // Takes the groups of that priority that seek victims with room.
  void TakeSeekingRoom(int32_t priority, std::deque<uint32_t>* groups);
  // Makes the first gang of the group ready, and the next once that has started. nullopt: no gang waits in it any more.
  std::optional<model::GangId> WakeSeeking(uint32_t group);
  // Has the next of those that wait as this gang does woken when it leaves them.
  void WakeNext(model::GangId id);

  // -- Timers; all instants are monotonic. --
  enum class Due : uint8_t {
    kConsider,
    kTell,   // what there is to tell of it, which costs no search
    kRenew,  // the figures in what is said of it; see GangNote::renew_ms
  };
  struct Timer {
    base::Millis at_ms = 0;
    model::GangId gang;
    Due due = Due::kConsider;
    auto operator<=>(const Timer&) const = default;
  };
  void At(model::GangId id, base::Millis at_ms, Due due = Due::kConsider) {
    (due == Due::kRenew ? renewals_ : timers_).insert({at_ms, id, due});
  }
  void Cancel(model::GangId id, base::Millis at_ms) { timers_.erase({at_ms, id}); }
  // Takes the next timer that is due; nullopt: none is. A gang that is gone has none.
  std::optional<Timer> TakeDue(base::Millis now_ms);
  // Returns the schedule of searches that were cut off, each of which is repeated in its turn.
  RetrySchedule& retries() { return retries_; }
  // Returns when the first timer, or turn, is due; nullopt: there is none. Cut-off searches wait while some gang is
  // ready.
  std::optional<base::Millis> NextDeadline() const;
  // When the first timer is due that does not only renew figures; nullopt: there is none.
  std::optional<base::Millis> NextOwnDeadline() const;
  size_t timers() const { return timers_.size() + renewals_.size() + retries_.size(); }

  // -- Touched: gangs about which there may be something to say. --
  // Sets whether this replica leads. While another one leads, no gang is touched.
  void SetSpeaking(bool speaks) { speaks_ = speaks; }
  void Touch(model::GangId id);
  // Takes the gangs touched since the last call, by id. A gang that was closed meanwhile is left out: see Untouch.
  std::vector<model::GangId> TakeTouched();
  // Unmarks the gang. Returns true if it was touched.
  bool Untouch(model::GangId id) { return std::exchange(book_.at(id).line.touched, false); }

  // Forgets the gang, but for its timers. REQUIRES: it is about to be closed.
  void Forget(model::GangId id);

 private:
  struct InOrder {
    const GangBook* book;
    base::Millis now_ms = 0;  // wall; it makes a difference between gangs of different slopes alone
    bool operator()(model::GangId a, model::GangId b) const;
  };
  struct WaitingGroup {
    std::string shape;
    std::set<model::GangId, InOrder> gangs;
    framework::Wake wakes = framework::Wake::kNothing;          // of the last refusal
    std::shared_ptr<const Validity> certificate;                // likewise; may be null
    std::vector<std::shared_ptr<const Validity>> certificates;  // likewise
    bool woken = false;
    SeeksVictims seeks = SeeksVictims::kNo;
    int32_t seeks_priority = 0;  // of the first gang then
    base::Millis tried_ms = 0;   // when a placement was last sought for one of them
    uint64_t figures_id = 0;     // of the last refusal of one that was in the group
    base::Millis queued_ms = 0;  // its key in by_wait_: tried_ms, or an earlier instant
  };
  void PutInLine(model::GangId id);
  void SetKey(Gang& gang) const;
  void Resort(model::GangId id);
  void LeaveGroup(model::GangId id);
  void TakeRefusal(WaitingGroup& group, const Refusal& refusal) const;
  void Queue(uint32_t group, base::Millis at_ms);
  // Has what one of its gangs said last count for the group, if that is its first, or asks for more.
  void TakeSeeks(uint32_t group, model::GangId id);
  void SetSeeks(uint32_t group, SeeksVictims seeks, int32_t priority);
  void WakeFirst(const WaitingGroup& group) { MarkWoken(*group.gangs.begin()); }

  GangBook& book_;
  const base::Clock& clock_;
  ReadyLines<InOrder> ready_;
  std::deque<WaitingGroup> groups_;
  std::vector<uint32_t> free_groups_;
  std::unordered_map<std::string, uint32_t> group_of_;          // by shape
  absl::btree_set<std::pair<base::Millis, uint32_t>> by_wait_;  // every group that is in use
  absl::btree_set<uint32_t> seeking_;                           // kWithChange
  absl::btree_set<std::pair<int32_t, uint32_t>> seeking_room_;  // kWithRoom, by priority
  absl::btree_set<Timer> timers_, renewals_;                    // those that are not kRenew, and those that are
  RetrySchedule retries_;
  std::vector<model::GangId> touched_;
  bool speaks_ = false;
};

}  // namespace tutti::core
