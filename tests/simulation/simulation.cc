// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/registry.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/workload.h"

namespace tutti::simulation {

using base::Millis;

namespace {

constexpr Millis kStart = 1'800'000'000'000;
constexpr Millis kBindTimeoutMs = 5'000;
constexpr Millis kRepairTimeoutMs = 15'000;
// A repair that times out, then an eviction of two writes that may each be lost a few times.
constexpr Millis kHalfLimitMs = kRepairTimeoutMs + 240'000;
constexpr int64_t kMostWritesPerChange = 20;
constexpr int kMostQuietTurns = 20'000;  // in which a world without faults must come to rest

std::string Describe(const cluster::Command& command) {
  struct Visitor {
    std::string operator()(const cluster::Bind& b) const {
      const std::string* evidence = model::Find(b.annotations, "tutti.dev/bind");
      return fmt::format("bind {} ({}) to {} {}", b.pod.name, b.pod.uid, b.node, evidence ? *evidence : "");
    }
    std::string operator()(const cluster::Delete& d) const {
      return fmt::format("delete {} {}", d.object.resource, d.object.name);
    }
    std::string operator()(const cluster::Patch& p) const {
      return fmt::format("patch {} {} {}", p.object.resource, p.object.name, p.body);
    }
    std::string operator()(const cluster::Create& c) const {
      return fmt::format("create {} {}", c.object.resource, c.object.name);
    }
    std::string operator()(const cluster::EmitEvent& e) const {
      return fmt::format("event {} {} {}: {}", e.regarding.kind, e.regarding.name, e.reason, e.note);
    }
  };
  return std::visit(Visitor{}, command.body);
}

core::Options CoreOptions() {
  core::Options options;
  options.repair_timeout_ms = kRepairTimeoutMs;
  options.bind_timeout_ms = kBindTimeoutMs;
  options.profiles.push_back(plugins::DefaultProfile("tutti"));
  return options;
}

class Simulation {
 public:
  explicit Simulation(const Run& run)
      : run_(run),
        world_(clock_, WorldOptionsOf(run.seed)),
        truth_(world_.store()),
        checks_(truth_, kHalfLimitMs),
        faults_(run.scenario, run.seed, run.without_faults, kBindTimeoutMs),
        workload_(run.scenario, world_),
        pace_(Mix(run.seed, "pace")) {}

  Outcome Go();

 private:
  struct Action {
    int64_t at_step;
    std::string name;
    uint64_t seed;
  };
  struct Repair {  // of a fault, when its time has come
    Millis at_ms;
    std::function<void()> mend;
  };
  // Told of what the faults' dice decided, and of what then came of it.
  struct Interceptor final : sim::Interceptor {
    explicit Interceptor(Simulation& s) : simulation(s) {}
    sim::Fate Decide(const cluster::Command& command) override { return simulation.faults_.Decide(command); }
    void Happened(const cluster::Command& command, const cluster::Answer& answer) override {
      simulation.checks_.OnHappened(command, answer);
      simulation.done_ += answer.outcome == cluster::Outcome::kDone;
    }
    Simulation& simulation;
  };

  static sim::WorldOptions WorldOptionsOf(uint64_t seed) {
    sim::WorldOptions options;
    options.seed = Mix(seed, "store");
    options.kubelet.start_ms = 20;
    return options;
  }

  void PlanActions();
  std::unique_ptr<Replica> Start(const std::string& name);
  void Turn();
  bool Move(size_t events, size_t commands);
  void DoActions();
  void ThrowDice();
  void ThrowWatchDice(Replica& replica);
  void ThrowProcessDice();
  void CrashLeader();
  void HandOver();
  void Promote(Millis plan_after_ms);
  void Bury(std::unique_ptr<Replica> replica);
  void PassTime(bool moved);
  void AdvanceTo(Millis at);
  std::optional<Millis> NextDeadline() const;
  void Mend(bool all);
  void Check();

  void Calm();
  bool Settle(Millis for_ms);
  void CheckFresh();
  void Note(const std::string& text);
  void Record(Replica& replica, const std::vector<cluster::Command>& commands);

  const Run& run_;
  Plant honest_;
  base::VirtualClock clock_{kStart};
  sim::World world_;
  Truth truth_;
  Checks checks_;
  Faults faults_;
  Workload workload_;
  base::Random pace_;
  Interceptor interceptor_{*this};

  std::vector<Action> actions_;
  size_t next_action_ = 0;
  int64_t idle_ = 0;
  std::unique_ptr<Replica> leader_, standby_;
  std::vector<std::unique_ptr<sim::Writer>> orphans_;  // of dead processes
  std::vector<Repair> repairs_;
  int processes_ = 0;
  Millis paused_until_ = 0;
  bool stepping_down_ = false;
  Millis healthy_ms_ = 0;
  uint64_t done_ = 0;  // commands that took effect
  std::string last_command_;
  uint64_t log_hash_ = 0xCBF29CE484222325ull;
  Outcome outcome_;
};

void Simulation::Note(const std::string& text) {
  if (run_.trace)
    outcome_.trace.push_back(fmt::format("{:>6} {:>9.3f}s  {}", outcome_.steps,
                                         static_cast<double>(clock_.MonotonicMs() - kStart) / 1000.0, text));
}

void Simulation::Record(Replica& replica, const std::vector<cluster::Command>& commands) {
  checks_.OnSubmit(replica, commands);
  for (const cluster::Command& command : commands) {
    const std::string line = fmt::format("{} {} {}", clock_.MonotonicMs(), replica.name(), Describe(command));
    for (const char c : line) log_hash_ = (log_hash_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
    if (run_.trace) Note(fmt::format("{}: {}", replica.name(), Describe(command)));
    if (!faults_.on()) last_command_ = line;
  }
}

std::unique_ptr<Replica> Simulation::Start(const std::string& name) {
  Plant& plant = run_.plant ? *run_.plant : honest_;
  return std::make_unique<Replica>(
      Replica::Parts{world_.store(), clock_, interceptor_, plant, CoreOptions(), name,
                     [this](Replica& replica, const auto& commands) { Record(replica, commands); }});
}

// The whole workload is drawn before the run, each action with a seed of its own.
void Simulation::PlanActions() {
  base::Random random(Mix(run_.seed, "workload"));
  int64_t sum = 0;
  for (const auto& [name, weight] : run_.scenario.workload) sum += weight;
  for (int64_t at = 0; at < run_.scenario.steps; at += random.Between(0, 2 * run_.scenario.every)) {
    int64_t throw_at = static_cast<int64_t>(random.Below(static_cast<uint64_t>(sum)));
    for (const auto& [name, weight] : run_.scenario.workload)
      if ((throw_at -= weight) < 0) {
        actions_.push_back({at, name, random.Next()});
        break;
      }
  }
}

Outcome Simulation::Go() {
  PlanActions();
  base::Random setup(Mix(run_.seed, "setup"));
  workload_.Setup(setup);
  leader_ = Start(fmt::format("tutti-{}", ++processes_));
  leader_->Lead(clock_.MonotonicMs());
  if (run_.scenario.standby) standby_ = Start(fmt::format("tutti-{}", ++processes_));
  int64_t next_calm = run_.scenario.calm_every;
  while (outcome_.steps < run_.scenario.steps && outcome_.turns < 10 * run_.scenario.steps && !checks_.violation()) {
    Turn();
    if (outcome_.steps >= next_calm || outcome_.steps >= run_.scenario.steps) {
      Calm();
      next_calm = outcome_.steps + run_.scenario.calm_every;
    }
  }
  outcome_.violation = checks_.violation();
  if (outcome_.violation) Note("VIOLATION " + outcome_.violation->invariant + ": " + outcome_.violation->message);
  outcome_.faults = faults_.fired();
  outcome_.log_hash = log_hash_;
  outcome_.commands = static_cast<int64_t>(checks_.commands());
  return std::move(outcome_);
}

void Simulation::Turn() {
  DoActions();
  ThrowDice();
  Mend(false);
  const size_t events = 1 + pace_.Below(pace_.OneIn(4) ? 64 : 8);
  const size_t commands = 1 + pace_.Below(pace_.OneIn(4) ? 64 : 6);
  const bool moved = Move(events, commands);
  idle_ += !moved;  // where nothing happens, the next action comes sooner
  outcome_.node_sum += static_cast<int64_t>(truth_.nodes().size());
  outcome_.gang_sum += static_cast<int64_t>(truth_.gangs().size());
  ++outcome_.turns;
  PassTime(moved);
}

// Everybody does something, at most so much of it. False: nobody had anything to do.
bool Simulation::Move(size_t events, size_t commands) {
  bool moved = world_.Pump();
  for (Replica* replica : {leader_.get(), standby_.get()}) {
    if (!replica) continue;
    replica->Look();
    replica->writer().PumpAnswers();
    if (replica == leader_.get() && clock_.MonotonicMs() < paused_until_) continue;
    const size_t handed = replica->Work(events, pace_);
    replica->scheduler().Audit();
    outcome_.steps += static_cast<int64_t>(handed);
    moved = moved || handed > 0;
    const size_t carried = replica->writer().PumpCommands(commands);
    outcome_.steps += static_cast<int64_t>(carried);
    moved = moved || carried > 0;
  }
  for (const auto& orphan : orphans_) outcome_.steps += static_cast<int64_t>(orphan->PumpCommands());
  std::erase_if(orphans_, [](const auto& orphan) { return orphan->Idle(); });
  Check();
  return moved;
}

void Simulation::Check() { checks_.AfterStep(healthy_ms_); }

void Simulation::DoActions() {
  for (; next_action_ < actions_.size() && actions_[next_action_].at_step <= outcome_.steps + idle_; ++next_action_) {
    if (run_.without_actions.contains(next_action_)) continue;
    base::Random random(actions_[next_action_].seed);
    const std::string done = workload_.Do(actions_[next_action_].name, random);
    if (done.empty()) continue;
    ++outcome_.actions;
    Note("user: " + done);
  }
}

// --- Faults ---

void Simulation::ThrowDice() {
  for (Replica* replica : {leader_.get(), standby_.get()})
    if (replica) ThrowWatchDice(*replica);
  ThrowProcessDice();
  const auto later = [this](Fault fault, Millis least, Millis most) {
    return clock_.MonotonicMs() + faults_.dice(fault).Between(least, most);
  };
  if (faults_.Strikes(Fault::kNodeLost)) {
    const std::string node = workload_.LoseNode(faults_.dice(Fault::kNodeLost));
    if (node.empty()) return faults_.TakeBack(Fault::kNodeLost);
    Note("fault: node " + node + " is lost");
    repairs_.push_back({later(Fault::kNodeLost, 1, 60'000), [this, node] {
                          workload_.ReturnNode(node);
                          Note("node " + node + " is back");
                        }});
  }
  if (faults_.Strikes(Fault::kNodeSilent)) {
    const auto nodes = world_.store().All(sim::kNodes);
    if (nodes.empty()) return faults_.TakeBack(Fault::kNodeSilent);
    const std::string node = sim::NameOf(*nodes[faults_.dice(Fault::kNodeSilent).Below(nodes.size())]);
    world_.nodes().Silence(node);
    Note("fault: node " + node + " is silent");
    repairs_.push_back({later(Fault::kNodeSilent, 1, 60'000), [this, node] {
                          if (world_.store().Find(sim::kNodes, "", node)) world_.nodes().Revive(node);
                        }});
  }
  if (faults_.Strikes(Fault::kClockStep)) {
    const Millis by = faults_.dice(Fault::kClockStep).Between(-3'600'000, 3'600'000);
    clock_.StepWall(by);
    Note(fmt::format("fault: the wall clock steps by {} ms", by));
  }
  if (faults_.Strikes(Fault::kKindRemoved)) {
    const std::string kind = workload_.RemoveKind(faults_.dice(Fault::kKindRemoved));
    if (kind.empty()) return faults_.TakeBack(Fault::kKindRemoved);
    Note("fault: " + kind + " is removed");
    repairs_.push_back({later(Fault::kKindRemoved, 1, 20'000), [this, kind] {
                          workload_.RestoreKind(kind);
                          Note(kind + " is restored");
                        }});
  }
}

void Simulation::ThrowWatchDice(Replica& replica) {
  const std::vector<std::string>& kinds = replica.KindNames();
  const auto pick = [&](Fault fault) {  // pods and nodes as often as all others together
    base::Random& random = faults_.dice(fault);
    return random.OneIn(2) ? kinds[random.Below(2)] : kinds[random.Below(kinds.size())];
  };
  if (faults_.Strikes(Fault::kWatchBreak)) {
    const std::string kind = pick(Fault::kWatchBreak), name = replica.name();
    replica.BreakWatch(kind);
    Note(fmt::format("fault: {} loses its watch of {}", name, kind));
    repairs_.push_back({clock_.MonotonicMs() + faults_.dice(Fault::kWatchBreak).Between(1, 5'000), [this, kind, name] {
                          for (Replica* each : {leader_.get(), standby_.get()})
                            if (each && each->name() == name)
                              each->MendWatch(kind), Note(fmt::format("{} lists {} again", name, kind));
                        }});
  }
  if (faults_.Strikes(Fault::kWatchStall))
    replica.Stall(pick(Fault::kWatchStall), clock_.MonotonicMs() + faults_.dice(Fault::kWatchStall).Between(1, 3'000));
  if (faults_.Strikes(Fault::kDuplicate) && !replica.Duplicate(pick(Fault::kDuplicate)))
    faults_.TakeBack(Fault::kDuplicate);
}

void Simulation::ThrowProcessDice() {
  const Millis now = clock_.MonotonicMs();
  if (stepping_down_) {
    if (leader_->scheduler().quiet() && !leader_->leading()) {
      stepping_down_ = false;
      Note(leader_->name() + " has handed over");
      Bury(std::move(leader_));
      Promote(now);
    }
    return;
  }
  if (faults_.Strikes(Fault::kCrash)) return CrashLeader();
  if (standby_ && faults_.Strikes(Fault::kStandbyCrash)) {
    Bury(std::move(standby_));
    standby_ = Start(fmt::format("tutti-{}", ++processes_));
  }
  if (faults_.Strikes(Fault::kPause)) {
    paused_until_ = now + faults_.dice(Fault::kPause).Between(10, 20'000);
    Note(fmt::format("fault: {} stands still", leader_->name()));
  }
  if (standby_ && leader_->leading() && faults_.Strikes(Fault::kHandover)) {
    stepping_down_ = true;
    leader_->StepDown();
    Note("fault: " + leader_->name() + " is asked to stop");
  }
}

// The process is gone in the middle of its commands; whoever leads next waits until its last write cannot arrive any
// more.
void Simulation::CrashLeader() {
  Note("fault: " + leader_->name() + " is killed");
  Bury(std::move(leader_));
  Promote(clock_.MonotonicMs() + kBindTimeoutMs);
}

void Simulation::Bury(std::unique_ptr<Replica> replica) {
  orphans_.push_back(replica->Die());
  if (replica->told_to_lead()) checks_.OnSchedulerDied();
  paused_until_ = 0;
  stepping_down_ = false;
}

void Simulation::Promote(Millis plan_after_ms) {
  if (standby_) {
    leader_ = std::move(standby_);
    standby_ = Start(fmt::format("tutti-{}", ++processes_));
  } else {
    leader_ = Start(fmt::format("tutti-{}", ++processes_));
  }
  leader_->Lead(plan_after_ms);
  Note(fmt::format("{} leads from {:.3f}s on", leader_->name(), static_cast<double>(plan_after_ms - kStart) / 1000.0));
}

void Simulation::Mend(bool all) {
  const Millis now = clock_.MonotonicMs();
  std::vector<Repair> due;
  std::erase_if(repairs_, [&](Repair& repair) {
    if (!all && repair.at_ms > now) return false;
    due.push_back(std::move(repair));
    return true;
  });
  for (const Repair& repair : due) repair.mend();
}

// --- Time ---

std::optional<Millis> Simulation::NextDeadline() const {
  std::optional<Millis> next = world_.NextDeadline();
  const auto consider = [&next](std::optional<Millis> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  for (const Replica* replica : {leader_.get(), standby_.get()})
    if (replica) {
      consider(const_cast<Replica*>(replica)->writer().NextDeadline());
      consider(const_cast<Replica*>(replica)->scheduler().NextDeadline());
    }
  for (const auto& orphan : orphans_) consider(orphan->NextDeadline());
  for (const Repair& repair : repairs_) consider(repair.at_ms);
  return next;
}

void Simulation::AdvanceTo(Millis at) {
  const Millis by = std::max<Millis>(0, at - clock_.MonotonicMs());
  const bool healthy = leader_ && leader_->leading() && !leader_->blind() && clock_.MonotonicMs() >= paused_until_;
  if (healthy) healthy_ms_ += by;
  clock_.Advance(by);
}

void Simulation::PassTime(bool moved) {
  const Millis now = clock_.MonotonicMs();
  if (moved && !pace_.OneIn(40)) return AdvanceTo(now + static_cast<Millis>(pace_.Below(4)));
  // Now and then a long time passes, deadline by deadline, or nothing else would ever time out.
  const Millis most = now + (pace_.OneIn(8) ? 5'000 : 200);
  const auto next = NextDeadline();
  AdvanceTo(next && *next > now && *next < most ? *next : most);
}

// --- Rest ---

// The faults stop: the world comes to rest, and then nothing is forgotten, nothing is written, nothing more could
// start.
void Simulation::Calm() {
  if (checks_.violation()) return;
  Note("the faults stop");
  faults_.set_on(false);
  Mend(true);
  paused_until_ = 0;
  for (Replica* replica : {leader_.get(), standby_.get()})
    if (replica) replica->MendAll();
  if (stepping_down_) {
    while (!(leader_->scheduler().quiet() && !leader_->leading())) {
      if (!Move(1000, 1000)) AdvanceTo(NextDeadline().value_or(clock_.MonotonicMs() + 1));
    }
    Bury(std::move(leader_));
    Promote(clock_.MonotonicMs());
  }
  if (!Settle(400'000)) return;
  checks_.AtRest(healthy_ms_);
  CheckFresh();
  ++outcome_.calms;
  const uint64_t commands = checks_.commands(), done = done_;
  const int64_t version = world_.store().resource_version();
  if (!Settle(600'000)) return;
  const int64_t by_others =
      std::max<int64_t>(0, world_.store().resource_version() - version - static_cast<int64_t>(done_ - done));
  if (static_cast<int64_t>(checks_.commands() - commands) > kMostWritesPerChange * by_others)
    checks_.Fail("no write without a cause", fmt::format("{} commands at rest, {} changes by others; the last: {}",
                                                         checks_.commands() - commands, by_others, last_command_));
  faults_.set_on(true);
  Note("the faults go on");
}

// Lets time pass until nothing moves and at least `for_ms` are over. False: a violation.
bool Simulation::Settle(Millis for_ms) {
  const Millis end = clock_.MonotonicMs() + for_ms;
  for (int turns = 0; !checks_.violation(); ++turns) {
    if (turns > kMostQuietTurns) {
      checks_.Fail("the world comes to rest", fmt::format("it moves on without faults after {} turns", turns));
      return false;
    }
    if (Move(1000, 1000)) continue;
    const Millis now = clock_.MonotonicMs();
    if (now >= end) return true;
    const auto next = NextDeadline();
    AdvanceTo(std::clamp(next.value_or(end), now + 1, end));
  }
  return false;
}

// A scheduler that remembers nothing finds nothing to do.
void Simulation::CheckFresh() {
  if (checks_.violation()) return;
  struct Nowhere final : sim::Interceptor {
    sim::Fate Decide(const cluster::Command&) override { return {.kind = sim::Fate::Kind::kDrop}; }
  } nowhere;
  std::vector<std::string> wanted;
  core::Options options = CoreOptions();
  Replica fresh(
      {world_.store(), clock_, nowhere, honest_, std::move(options), "fresh", [&](Replica&, const auto& commands) {
         for (const cluster::Command& command : commands)
           if (!std::holds_alternative<cluster::EmitEvent>(command.body)) wanted.push_back(Describe(command));
       }});
  fresh.Lead(clock_.MonotonicMs());
  base::Random random(1);
  do fresh.Look();
  while (fresh.Work(100'000, random) > 0);
  fresh.scheduler().Audit();
  if (wanted.empty()) return;
  for (const std::string& command : wanted) Note("fresh: " + command);
  const bool starts =
      std::ranges::any_of(wanted, [](const std::string& command) { return command.starts_with("bind"); });
  const bool says = wanted.front().starts_with("patch pods");
  checks_.Fail(starts ? "nothing is forgotten"
               : says ? "a reason is current"
                      : "a status is current",
               fmt::format("a scheduler that remembers nothing would {}", wanted.front()));
}

}  // namespace

Outcome Simulate(const Run& run) { return Simulation(run).Go(); }

// Taking a world apart costs a quarter of its run.
Outcome SimulateLast(const Run& run) { return (new Simulation(run))->Go(); }

}  // namespace tutti::simulation
