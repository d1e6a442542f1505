// SPDX-License-Identifier: Apache-2.0
// Processes: the scheduler's replicas, and what operating systems and operators do to them. They are started, elected,
// stopped for a while, asked to stop, or killed with commands in every stage. Two may believe that they lead.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/api/api_handler.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/network.h"
#include "tests/simulation/replica.h"

namespace tutti::simulation {

class Processes {
 public:
  struct Parts {
    sim::Store& store;
    sim::Decoded& decoded;
    const base::Clock& clock;
    Faults& faults;
    Checks& checks;
    Plant& plant;
    core::Options options;
    uint64_t seed = 1;
    bool elect = false;  // two replicas and a lease; else one, which leads without election
    bool wire = false;   // they list and watch over the network
    std::function<void(Replica&, const std::vector<cluster::Command>&)> on_submit;
    std::function<void(const std::string&)> note;
    bool traced = false;  // what is noted is read
  };
  explicit Processes(Parts parts);
  ~Processes();

  // Lets each process hand over at most so many events, and carry out so many commands. Returns the number of steps.
  int64_t Move(size_t events, size_t commands, base::Random& pace);
  // Tells whether anything moved in the last Move.
  bool moved() const { return moved_; }
  void ThrowDice();
  std::optional<base::Millis> NextDeadline() const;

  // Ends what the faults began.
  void MendAll();
  // Tells whether a replica leads, and none is starting, stopping or standing still.
  bool calm() const;
  // Tells whether a replica leads and does not stand still.
  bool leads() const;
  // Tells whether a replica leads, sees, and may act.
  bool healthy() const;
  // Looks into every scheduler while the world rests with so many gangs: nothing is awaited, and nothing piles up.
  void CheckFootprints(size_t gangs) const;
  // Returns the order of nodes in the leader's core; empty: none leads.
  std::vector<std::string> NodeOrder() const;
  // Returns the number of commands that took effect.
  uint64_t done() const { return done_; }

 private:
  struct Process;

  void Start();
  void Bury(size_t at);
  int64_t CarryForTheDead();  // returns the number of writes
  size_t Turn(Process& process, size_t writes);
  void Elect(Process& process);
  void NoteQuota(const Replica& replica, const observe::Observer::QuotaStep& step);
  void ThrowWatchDice(Process& process);
  void ThrowLeaseDice();
  size_t Leader() const;  // its index; of two leaders, the one that does not stand still; past the end: none
  bool Stands(const Process& process) const;
  void Later(base::Millis least, base::Millis most, Fault fault, std::function<void()> mend);
  Process* Named(const std::string& name);

  Parts parts_;
  sim::Door door_;
  sim::ApiHandler api_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Process>> graveyard_;  // what these have sent may still arrive
  struct Repair {
    base::Millis at_ms;
    std::function<void()> mend;
  };
  std::vector<Repair> repairs_;
  std::vector<base::Millis> starts_;  // of processes that replace dead ones
  base::Millis no_start_before_ms_ = 0;
  int started_ = 0;
  base::Millis former_over_ms_ = 0;  // without election: when the writes of the last leader are over
  uint64_t done_ = 0;
  bool moved_ = false;
};

}  // namespace tutti::simulation
