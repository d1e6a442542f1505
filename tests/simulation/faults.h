// SPDX-License-Identifier: Apache-2.0
// Faults: dice for every kind of misfortune, and what may happen to a command on its way.
//
// A throw depends on the seed, its kind, what it is about, and the number of such throws before it. It does not depend
// on other throws. So a run that leaves out a kind of fault, or an action of the workload, has the same other throws.
// That is how a failing seed is shrunk.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "sim/port/interceptor.h"
#include "tests/simulation/scenario.h"

namespace tutti::simulation {

enum class Fault {
  // Per bind.
  kBindDrop,       // the request is lost
  kBindLoseReply,  // it took effect, and the answer is lost
  kBindLate,       // it arrives late, perhaps after the scheduler gave up
  kBindStray,      // it arrives long after the scheduler gave up, and takes effect all the same
  kBind429,        // nothing happened, and the API server says to come again
  kBind500,
  kBind503,
  kBind504,       // the API server says that it does not know in time
  kBindConflict,  // 409 though nothing changed
  kBindRefused,   // 422: not on this node
  kPodRefused,    // 422 for this pod on any node: for minutes, or without end
  // Per other write.
  kWriteDrop,
  kWriteLoseReply,
  kWriteLate,
  kWriteStray,
  kWriteRefused,
  kReplyLate,  // of any write
  // Per list and watch that is opened, where these go over the network.
  kReadDrop,
  kReadLate,
  kReadRefused,  // busy, or 410: too old
  // Per request about the lease.
  kLeaseDrop,  // it is lost, and those that follow for a while
  kLeaseLoseReply,
  kLeaseLate,
  // Per turn of the world.
  kWatchBreak,   // one kind's watch ends, and is listed again later
  kWatchStall,   // one kind's events come late
  kWatchSilent,  // one kind's watch says nothing for long, and has lost it all
  kListStale,    // one kind is listed, and the list comes late
  kDuplicate,    // an object is told twice
  kReorder,      // events of one kind are told before older ones of another
  kNodeLost,     // deleted; another of its name comes later, or not
  kNodeSilent,   // not ready for a while
  kCrash,        // the leader dies, with its commands in every stage
  kPause,        // a leader stands still, perhaps for longer than its lease
  kStandbyCrash,
  kHandover,      // voluntary release of the lease
  kLeaseDeleted,  // by a user; no replica starts soon after, for it could not know that one had the lease
  kClockStep,     // of the wall clock
  kKindRemoved,   // a CustomResourceDefinition goes, with all objects, and comes back
  kCount,
};

std::string FaultName(Fault fault);
std::vector<std::string> FaultNames();
// Returns a seed for a stream of its own.
uint64_t Mix(uint64_t seed, std::string_view stream);

class Faults {
 public:
  Faults(const Scenario& scenario, uint64_t seed, const std::set<std::string>& without, base::Millis write_timeout_ms);

  // Returns true as often as the scenario's rate says, while faults are on, and counts that as a fault. `about`: an
  // object or a process.
  bool Strikes(Fault fault, std::string_view about = {});
  // Returns the dice with which the last throw of the kind goes on.
  base::Random& dice(Fault fault) { return streams_[static_cast<size_t>(fault)].random; }
  // Notes that so many actions of the workload are over. Throws of each turn are counted from here on.
  void OnActions(size_t over);
  void set_on(bool on) { on_ = on; }
  bool on() const { return on_; }
  const std::map<std::string, uint64_t>& fired() const { return fired_; }
  // Takes a fault that was found to be impossible off the count.
  void TakeBack(Fault fault) { --fired_[FaultName(fault)]; }

  // Decides what becomes of a bind of the pod; of another write; of a list, or of a watch before its first event.
  // `about`: throws are counted by it, such as for all pods of one set.
  sim::Fate DecideBind(const std::string& pod, std::string_view about, base::Millis now);
  sim::Fate DecideWrite(std::string_view about);
  sim::Fate DecideRead(std::string_view about);

 private:
  struct Stream {
    int64_t one_in = 0;  // 0: never
    uint64_t seed = 0;
    base::Random random{0};
  };
  using Counts = std::unordered_map<uint64_t, uint64_t>;
  bool Refuses(Fault fault, int status, const char* message, std::string_view about, sim::Fate& fate);
  bool RefusesPod(const std::string& pod, base::Millis now, sim::Fate& fate);
  bool Delays(Fault fault, base::Millis least, base::Millis most, std::string_view about, sim::Fate& fate);
  void DelayReply(std::string_view about, sim::Fate& fate);

  std::array<Stream, static_cast<size_t>(Fault::kCount)> streams_;
  const base::Millis write_timeout_ms_;
  size_t actions_over_ = 0;
  Counts throws_, throws_since_;  // of all times, and of each turn since the last action
  std::unordered_map<std::string, base::Millis> refused_until_ms_;  // pods
  bool on_ = true;
  std::map<std::string, uint64_t> fired_;
};

}  // namespace tutti::simulation
