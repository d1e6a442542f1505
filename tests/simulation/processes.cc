// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/processes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::simulation {

using base::Millis;

namespace {

constexpr Millis kPatienceMs = 20'000;  // of a process that is asked to stop

}  // namespace

// Told of what the faults' dice decided about one process's commands, and of what then came of it.
struct Hearer final : sim::Interceptor {
  Hearer(std::string process, Faults& dice, Checks& checker, uint64_t& counter)
      : name(std::move(process)), faults(dice), checks(checker), done(counter) {}
  sim::Fate Decide(const cluster::Command& command) override {
    const sim::Fate fate = faults.Decide(command);
    if (fate.stray) checks.ExpectStray(command);
    return fate;
  }
  void Happened(const cluster::Command& command, const cluster::Answer& answer) override {
    checks.OnHappened(name, command, answer);
    done += answer.outcome == cluster::Outcome::kDone;
  }
  const std::string name;
  Faults& faults;
  Checks& checks;
  uint64_t& done;
};

struct Processes::Process {
  std::unique_ptr<Hearer> hearer;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<Election> election;
  Millis paused_until_ms = 0;
  Millis stops_at_ms = 0;  // asked to stop: then it ends, drained or not
  bool lost = false;       // its lease
  bool released = false, releasing = false;
};

struct Processes::Orphan {
  std::unique_ptr<Hearer> hearer;
  std::unique_ptr<sim::Writer> writer;
};

Processes::Processes(Parts parts) : parts_(std::move(parts)), door_(parts_.store), api_(door_) {
  for (int i = 0; i < (parts_.elect ? 2 : 1); ++i) Start();
}

Processes::~Processes() = default;

void Processes::Start() {
  auto process = std::make_unique<Process>();
  const std::string name = fmt::format("tutti-{}", ++started_);
  process->hearer = std::make_unique<Hearer>(name, parts_.faults, parts_.checks, done_);
  process->replica =
      std::make_unique<Replica>(Replica::Parts{parts_.store, parts_.decoded, parts_.clock, *process->hearer,
                                               parts_.plant, parts_.options, name, parts_.on_submit});
  if (parts_.elect) {
    Process& it = *process;
    it.replica->writer().SetWritable(0, 0);
    it.election = std::make_unique<Election>(api_, parts_.clock, parts_.faults, name, Mix(parts_.seed, name),
                                             Election::Callbacks{[this, &it](Millis until_ms, Millis over_ms) {
                                                                   it.replica->writer().SetWritable(
                                                                       parts_.plant.Writable(until_ms),
                                                                       parts_.plant.Over(over_ms));
                                                                 },
                                                                 [this, &it] {
                                                                   parts_.note(it.replica->name() + " has the lease");
                                                                   it.replica->Lead(parts_.clock.MonotonicMs());
                                                                 },
                                                                 [&it] { it.lost = true; }});
    it.election->Start();
  } else {
    process->replica->Lead(former_over_ms_);
  }
  processes_.push_back(std::move(process));
}

// What is on its way still arrives, and nobody hears.
void Processes::Bury(size_t at) {
  Process& process = *processes_[at];
  process.election.reset();
  orphans_.push_back({std::move(process.hearer), process.replica->Die()});
  if (process.replica->has_led()) parts_.checks.OnSchedulerDied();
  former_over_ms_ =
      parts_.clock.MonotonicMs() + (process.stops_at_ms > 0 && process.released ? 0 : parts_.options.bind_timeout_ms);
  graveyard_.push_back(std::move(process.replica));
  processes_.erase(processes_.begin() + static_cast<ptrdiff_t>(at));
  starts_.push_back(parts_.clock.MonotonicMs());
}

bool Processes::Stands(const Process& process) const { return parts_.clock.MonotonicMs() < process.paused_until_ms; }

// --- Work ---

int64_t Processes::Move(size_t events, size_t commands, base::Random& pace) {
  const Millis now = parts_.clock.MonotonicMs();
  moved_ = false;
  std::vector<Repair> due;
  std::erase_if(repairs_, [&](Repair& repair) {
    if (repair.at_ms > now) return false;
    due.push_back(std::move(repair));
    return true;
  });
  for (const Repair& repair : due) repair.mend();
  for (const Millis at : std::exchange(starts_, {})) {
    if (at <= now)
      Start();
    else
      starts_.push_back(at);
  }

  int64_t steps = 0;
  for (const auto& process : processes_) {
    Replica& replica = *process->replica;
    if (Stands(*process)) continue;
    // The lease's thread and the scheduler's may wake in any order.
    const bool lease_first = !process->election || pace.OneIn(2);
    if (lease_first) moved_ = Turn(*process) || moved_;
    replica.Look();
    replica.writer().PumpAnswers();
    moved_ = moved_ || replica.HasEvents();
    const size_t handed = replica.Work(events, pace);
    replica.scheduler().Audit();
    const size_t carried = replica.writer().PumpCommands(commands);
    steps += static_cast<int64_t>(handed + carried);
    if (!lease_first) moved_ = Turn(*process) || moved_;
  }
  for (const Orphan& orphan : orphans_) steps += static_cast<int64_t>(orphan.writer->PumpCommands());
  std::erase_if(orphans_, [](const Orphan& orphan) { return orphan.writer->Idle(); });
  for (size_t at = processes_.size(); at-- > 0;) {
    const Process& process = *processes_[at];
    const bool ended = process.stops_at_ms > 0 && (process.released || process.stops_at_ms <= now);
    if (!process.lost && !ended) continue;
    parts_.note(process.replica->name() + (process.lost       ? " has lost the lease and ends"
                                           : process.released ? " has stopped"
                                                              : " is stopped"));
    Bury(at);
    moved_ = true;
  }
  moved_ = moved_ || steps > 0;
  return steps;
}

bool Processes::Turn(Process& process) {
  bool any = process.election && process.election->Turn();
  if (process.stops_at_ms == 0 || process.releasing) return any;
  Replica& replica = *process.replica;
  if (replica.leading() || !replica.scheduler().quiet()) return any;
  replica.writer().SetWritable(0, 0);
  if (replica.writer().InFlight()) return any;
  process.releasing = true;
  if (process.election)
    process.election->Release([&process] { process.released = true; });
  else
    process.released = true;
  return true;
}

std::optional<Millis> Processes::NextDeadline() const {
  std::optional<Millis> next;
  const auto consider = [&next](std::optional<Millis> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  for (const auto& process : processes_) {
    if (Stands(*process)) {
      consider(process->paused_until_ms);
      continue;
    }
    consider(process->replica->NextDeadline());
    if (process->election) consider(process->election->NextDeadline());
    if (process->stops_at_ms > 0) consider(process->stops_at_ms);
  }
  for (const Orphan& orphan : orphans_) consider(orphan.writer->NextDeadline());
  for (const Repair& repair : repairs_) consider(repair.at_ms);
  for (const Millis at : starts_) consider(at);
  return next;
}

// --- Faults ---

size_t Processes::Leader() const {
  return static_cast<size_t>(std::ranges::find_if(processes_, [](const auto& p) { return p->replica->leading(); }) -
                             processes_.begin());
}

Processes::Process* Processes::Named(const std::string& name) {
  const auto at = std::ranges::find_if(processes_, [&](const auto& p) { return p->replica->name() == name; });
  return at == processes_.end() ? nullptr : at->get();
}

void Processes::Later(Millis least, Millis most, Fault fault, std::function<void()> mend) {
  repairs_.push_back({parts_.clock.MonotonicMs() + parts_.faults.dice(fault).Between(least, most), std::move(mend)});
}

void Processes::ThrowDice() {
  Faults& faults = parts_.faults;
  for (const auto& process : processes_) ThrowWatchDice(*process);
  const size_t leader = Leader();
  if (leader == processes_.size()) return;
  Process& process = *processes_[leader];
  const std::string& name = process.replica->name();
  if (processes_.size() > 1 && faults.Strikes(Fault::kStandbyCrash)) {
    parts_.note("fault: a standby is killed");
    return Bury(1 - leader);
  }
  if (faults.Strikes(Fault::kCrash)) {
    parts_.note("fault: " + name + " is killed");
    return Bury(leader);
  }
  if (!Stands(process) && faults.Strikes(Fault::kPause)) {
    process.paused_until_ms =
        parts_.clock.MonotonicMs() + faults.dice(Fault::kPause).Between(10, parts_.elect ? 60'000 : 20'000);
    parts_.note("fault: " + name + " stands still");
  }
  if (process.stops_at_ms == 0 && faults.Strikes(Fault::kHandover)) {
    parts_.note("fault: " + name + " is asked to stop");
    process.stops_at_ms = parts_.clock.MonotonicMs() + kPatienceMs;
    process.replica->StepDown();
  }
}

void Processes::ThrowWatchDice(Process& process) {
  Replica& replica = *process.replica;
  Faults& faults = parts_.faults;
  const std::vector<std::string>& kinds = replica.KindNames();
  const auto pick = [&](Fault fault) {  // pods and nodes as often as all others together
    base::Random& random = faults.dice(fault);
    return random.OneIn(2) ? kinds[random.Below(2)] : kinds[random.Below(kinds.size())];
  };
  const auto until = [&](Fault fault, Millis most) {
    return parts_.clock.MonotonicMs() + faults.dice(fault).Between(1, most);
  };
  for (const auto& [fault, longest] :
       {std::pair(Fault::kWatchBreak, Millis{5'000}), {Fault::kWatchSilent, Millis{60'000}}})
    if (faults.Strikes(fault)) {
      const std::string kind = pick(fault), name = replica.name();
      replica.BreakWatch(kind);
      parts_.note(fmt::format("fault: {} loses its watch of {}", name, kind));
      Later(1, longest, fault, [this, kind, name] {
        if (Process* it = Named(name))
          it->replica->MendWatch(kind), parts_.note(fmt::format("{} lists {} again", name, kind));
      });
    }
  if (faults.Strikes(Fault::kWatchStall)) replica.Stall(pick(Fault::kWatchStall), until(Fault::kWatchStall, 3'000));
  if (faults.Strikes(Fault::kListStale)) replica.ListStale(pick(Fault::kListStale), until(Fault::kListStale, 3'000));
  if (faults.Strikes(Fault::kDuplicate) && !replica.Duplicate(pick(Fault::kDuplicate)))
    faults.TakeBack(Fault::kDuplicate);
}

// --- Rest ---

void Processes::MendAll() {
  for (const Repair& repair : std::exchange(repairs_, {})) repair.mend();
  for (const auto& process : processes_) {
    process->paused_until_ms = 0;
    process->replica->MendAll();
  }
}

bool Processes::calm() const {
  return Leader() != processes_.size() && starts_.empty() && orphans_.empty() &&
         std::ranges::none_of(processes_, [&](const auto& p) { return Stands(*p) || p->stops_at_ms > 0 || p->lost; });
}

void Processes::CheckFootprints() const {
  for (const auto& process : processes_) {
    const core::Scheduler::Footprint holds = process->replica->scheduler().Holds();
    if (holds.awaited > 0 && process->replica->leading())
      parts_.checks.Fail("memory is bounded", fmt::format("{} awaits {} answers that will not come",
                                                          process->replica->name(), holds.awaited));
    if (holds.timers > 8 * holds.gangs + 64 || holds.shapes > holds.gangs)
      parts_.checks.Fail("memory is bounded",
                         fmt::format("{} holds {} timers and {} refused shapes for {} gangs", process->replica->name(),
                                     holds.timers, holds.shapes, holds.gangs));
  }
}

bool Processes::leads() const {
  return std::ranges::any_of(processes_, [&](const auto& p) { return p->replica->leading() && !Stands(*p); });
}

bool Processes::healthy() const {
  return std::ranges::any_of(
      processes_, [&](const auto& p) { return p->replica->leading() && !p->replica->blind() && !Stands(*p); });
}

}  // namespace tutti::simulation
