// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kube/lease.h"
#include "kube/writer.h"

namespace tutti::simulation {

using base::Millis;

namespace {

constexpr Millis kPatienceMs = 20'000;  // of a process that is asked to stop
constexpr Millis kLongestRenewalMs = 10'000;
constexpr int kMostSpareSeconds = 3;  // after which the lease ends
constexpr Millis kLongestLeaseMs = kLongestRenewalMs + 1'000 * kMostSpareSeconds;

}  // namespace

struct Processes::Process {
  Process(Processes& all, const std::string& name)
      : network({all.parts_.store, all.api_, all.parts_.clock, all.parts_.faults, all.parts_.checks, all.parts_.plant,
                 name, all.done_, all.parts_.wire, all.parts_.traced ? all.parts_.note : nullptr}),
        random(Mix(all.parts_.seed, name)),
        replica(std::make_unique<Replica>(
            Replica::Parts{all.parts_.store, [&](cluster::EventSink& sink) { return MakeSource(all.parts_, sink); },
                           all.parts_.clock, all.parts_.plant, all.parts_.options, name, all.parts_.on_submit,
                           [&checks = all.parts_.checks](const model::GangKey& gang) {
                             checks.Fail("no gang is placed by a flush alone", gang.name);
                           },
                           [&all](const Replica& decides, const auto& step) { all.NoteQuota(decides, step); }})),
        writer(WriterOptions(all.parts_.options), network, network, random, replica->source().kinds(), *replica) {
    replica->set_writer(&writer);
  }
  std::unique_ptr<Source> MakeSource(const Parts& parts, cluster::EventSink& sink) {
    if (parts.wire) return std::make_unique<WireSource>(parts.store, network, random, sink);
    return std::make_unique<StoreSource>(parts.store, parts.decoded, sink);
  }
  static kube::KubeWriter::Options WriterOptions(const core::Options& options) {
    kube::KubeWriter::Options result;
    result.write_timeout_ms = options.bind_timeout_ms;
    result.instance = "tutti-simulated";
    return result;
  }

  Network network;
  base::Random random;
  std::unique_ptr<Replica> replica;
  kube::KubeWriter writer;
  std::unique_ptr<kube::LeaderElection> election;
  Millis paused_until_ms = 0;
  Millis stops_at_ms = 0;  // asked to stop: then it ends, drained or not
  bool lost = false;       // its lease
  bool released = false, releasing = false;
};

Processes::Processes(Parts parts) : parts_(std::move(parts)), door_(parts_.store), api_(door_) {
  for (int i = 0; i < (parts_.elect ? 2 : 1); ++i) Start();
}

Processes::~Processes() = default;

void Processes::Start() {
  auto process = std::make_unique<Process>(*this, fmt::format("tutti-{}", ++started_));
  if (parts_.elect) {
    Elect(*process);
  } else {
    constexpr Millis kForever = std::numeric_limits<Millis>::max();
    process->writer.SetWritable(kForever, kForever);
    parts_.checks.OnLead(process->replica->name());
    process->replica->Lead(parts_.plant.Begins(former_over_ms_));
  }
  processes_.push_back(std::move(process));
}

void Processes::Elect(Process& it) {
  kube::LeaseOptions options;
  options.ns = "default";
  options.identity = it.replica->name();
  // As operators may choose them: from the usual ones to such as leave hardly anything between the leader's last write
  // and the end of its lease.
  base::Random random(Mix(parts_.seed, "lease"));
  options.retry_period_ms = random.Between(500, 2'000);
  options.renew_deadline_ms =
      random.Between(std::max<Millis>(1'500, options.retry_period_ms * 5 / 4), kLongestRenewalMs);
  options.lease_duration_ms = (options.renew_deadline_ms / 1'000 + random.Between(1, kMostSpareSeconds)) * 1'000;
  it.election = std::make_unique<kube::LeaderElection>(
      options, it.network, it.network, it.random,
      kube::LeaderElection::Callbacks{[this, &it](Millis until_ms, Millis over_ms) {
                                        it.writer.SetWritable(parts_.plant.Writable(until_ms),
                                                              parts_.plant.Over(over_ms));
                                      },
                                      [this, &it] {
                                        parts_.note(it.replica->name() + " has the lease");
                                        parts_.checks.OnLead(it.replica->name());
                                        it.replica->Lead(parts_.clock.MonotonicMs());
                                      },
                                      [&it] {
                                        it.lost = true;
                                        it.replica->StepDown();
                                      }});
  it.election->Start();
}

void Processes::NoteQuota(const Replica& replica, const observe::Observer::QuotaStep& step) {
  static constexpr const char* kWords[] = {"is given quota", "is admitted", "is to give its quota back",
                                           "has given its quota back"};
  if (parts_.traced)
    parts_.note(fmt::format("{} decides: {} {}{}{}", replica.name(), step.gang.name,
                            kWords[static_cast<size_t>(step.kind)], step.reason.empty() ? "" : ": ", step.reason));
  parts_.checks.OnQuota(replica, step);
}

// What is on its way still arrives, and no answer is heard.
void Processes::Bury(size_t at) {
  std::unique_ptr<Process> process = std::move(processes_[at]);
  processes_.erase(processes_.begin() + static_cast<ptrdiff_t>(at));
  const Millis now = parts_.clock.MonotonicMs();
  if (process->replica->has_led()) parts_.checks.OnSchedulerDied();
  former_over_ms_ = now + (process->released ? 0 : parts_.options.bind_timeout_ms + kube::KubeWriter::kGraceMs);
  process->replica->Die();
  process->network.Die();
  graveyard_.push_back(std::move(process));
  starts_.push_back(std::max(now, no_start_before_ms_));
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
  // What the dead have sent may come before what the living send, or after.
  const bool dead_first = pace.OneIn(2);
  if (dead_first) steps += CarryForTheDead();
  for (const auto& process : processes_) {
    if (Stands(*process)) {
      steps += static_cast<int64_t>(process->network.Carry(commands));
      continue;
    }
    // The network's thread and the scheduler's may wake in any order.
    const bool network_first = pace.OneIn(2);
    if (network_first) steps += static_cast<int64_t>(Turn(*process, commands));
    Replica& replica = *process->replica;
    replica.Look();
    moved_ = moved_ || replica.HasEvents();
    const bool reorder = replica.KindsWithEvents() > 1 && parts_.faults.Strikes(Fault::kReorder, replica.name());
    if (reorder && parts_.traced) parts_.note("fault: " + replica.name() + " hears of some kinds before others");
    steps +=
        static_cast<int64_t>(replica.Work(events, reorder ? Replica::Order::kAnyKind : Replica::Order::kOldest, pace));
    replica.scheduler().Audit();
    if (!network_first) steps += static_cast<int64_t>(Turn(*process, commands));
  }
  if (!dead_first) steps += CarryForTheDead();
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

int64_t Processes::CarryForTheDead() {
  int64_t carried = 0;
  for (const auto& process : graveyard_) carried += static_cast<int64_t>(process->network.Bury());
  std::erase_if(graveyard_, [](const auto& process) { return process->network.Idle(); });
  return carried;
}

// Returns how many writes were carried.
size_t Processes::Turn(Process& process, size_t writes) {
  const size_t carried = process.network.Turn(writes, &moved_);
  if (process.stops_at_ms == 0 || process.releasing) return carried;
  if (process.replica->leading() || !process.replica->scheduler().quiet()) return carried;
  process.releasing = moved_ = true;
  process.writer.Drain([&process] {
    if (process.election)
      process.election->Release([&process] { process.released = true; });
    else
      process.released = true;
  });
  return carried;
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
    consider(process->network.NextDeadline());
    if (process->stops_at_ms > 0) consider(process->stops_at_ms);
  }
  for (const auto& process : graveyard_) consider(process->network.NextDeadline());
  for (const Repair& repair : repairs_) consider(repair.at_ms);
  for (const Millis at : starts_) consider(at);
  return next;
}

// --- Faults ---

size_t Processes::Leader() const {
  const auto first = [this](auto&& leads) {
    return static_cast<size_t>(std::ranges::find_if(processes_, leads) - processes_.begin());
  };
  const size_t awake = first([this](const auto& p) { return p->replica->leading() && !Stands(*p); });
  return awake < processes_.size() ? awake : first([](const auto& p) { return p->replica->leading(); });
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
  if (parts_.elect) ThrowLeaseDice();
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
    if (faults.Strikes(fault, replica.name())) {
      const std::string kind = pick(fault), name = replica.name();
      if (fault == Fault::kWatchBreak)
        replica.source().Break(kind, faults.dice(fault));
      else
        replica.source().Silence(kind);
      parts_.note(fmt::format("fault: {} loses its watch of {}", name, kind));
      Later(1, longest, fault, [this, kind, name] {
        if (Process* it = Named(name))
          it->replica->source().Mend(kind), parts_.note(fmt::format("{} lists {} again", name, kind));
      });
    }
  const auto note = [&](const char* what, const std::string& kind) {
    if (parts_.traced) parts_.note(fmt::format("fault: {} {} {}", replica.name(), what, kind));
  };
  if (faults.Strikes(Fault::kWatchStall, replica.name())) {
    const std::string kind = pick(Fault::kWatchStall);
    replica.Stall(kind, until(Fault::kWatchStall, 3'000));
    note("hears late of", kind);
  }
  if (faults.Strikes(Fault::kListStale, replica.name())) {
    const std::string kind = pick(Fault::kListStale);
    replica.ListStale(kind, until(Fault::kListStale, 3'000));
    note("lists, and is told late,", kind);
  }
  if (faults.Strikes(Fault::kDuplicate, replica.name())) {
    const std::string kind = pick(Fault::kDuplicate);
    if (replica.Duplicate(kind))
      note("is told again of", kind);
    else
      faults.TakeBack(Fault::kDuplicate);
  }
}

void Processes::ThrowLeaseDice() {
  const Millis now = parts_.clock.MonotonicMs();
  const bool all_know = std::ranges::all_of(processes_, [](const auto& p) { return p->network.knows_lease(); });
  if (now < no_start_before_ms_ || processes_.size() < 2 || !all_know || !parts_.faults.Strikes(Fault::kLeaseDeleted))
    return;
  if (!parts_.store.Delete(sim::kLeases, "default", "tutti")) return parts_.faults.TakeBack(Fault::kLeaseDeleted);
  parts_.note("fault: the Lease is deleted");
  for (const auto& process : processes_) process->network.ForgetLease();
  no_start_before_ms_ = now + kLongestLeaseMs;
  for (Millis& at : starts_) at = std::max(at, no_start_before_ms_);
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
  return Leader() != processes_.size() && starts_.empty() &&
         std::ranges::all_of(graveyard_, [](const auto& p) { return p->network.Idle(); }) &&
         std::ranges::none_of(processes_, [&](const auto& p) { return Stands(*p) || p->stops_at_ms > 0 || p->lost; });
}

void Processes::CheckFootprints(size_t gangs) const {
  for (const auto& process : processes_) {
    const core::Scheduler::Footprint holds = process->replica->scheduler().Holds();
    if (holds.awaited > 0 && process->replica->leading())
      parts_.checks.Fail("memory is bounded", fmt::format("{} awaits {} answers that will not come",
                                                          process->replica->name(), holds.awaited));
    if (holds.gangs > gangs)
      parts_.checks.Fail("memory is bounded",
                         fmt::format("{} holds {} gangs of {}", process->replica->name(), holds.gangs, gangs));
    if (holds.timers > 8 * holds.gangs + 64 || holds.shapes > holds.gangs)
      parts_.checks.Fail("memory is bounded",
                         fmt::format("{} holds {} timers and {} refused shapes for {} gangs", process->replica->name(),
                                     holds.timers, holds.shapes, holds.gangs));
  }
}

std::vector<std::string> Processes::NodeOrder() const {
  const size_t leader = Leader();
  return leader < processes_.size() ? processes_[leader]->replica->scheduler().NodeOrder() : std::vector<std::string>();
}

bool Processes::leads() const {
  return std::ranges::any_of(processes_, [&](const auto& p) { return p->replica->leading() && !Stands(*p); });
}

bool Processes::healthy() const {
  return std::ranges::any_of(
      processes_, [&](const auto& p) { return p->replica->leading() && !p->replica->blind() && !Stands(*p); });
}

}  // namespace tutti::simulation
