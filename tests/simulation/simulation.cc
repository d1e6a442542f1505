// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cluster/json_text.h"
#include "plugins/registry.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/processes.h"
#include "tests/simulation/rewording.h"
#include "tests/simulation/victims.h"
#include "tests/simulation/workload.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using base::Millis;

namespace {

constexpr Millis kStart = 1'800'000'000'000;
constexpr Millis kBindTimeoutMs = 5'000;
constexpr Millis kRepairTimeoutMs = 15'000;
constexpr Millis kFlushMs = 140'000;  // later than the check for gangs that should have been woken
constexpr Millis kVictimTimeoutMs = 20'000;
constexpr Millis kVolumeTimeoutMs = 60'000;  // over when the world is at rest, as the default of 600 s would not be
// A repair that times out, then an eviction of two writes; each may be lost a few times while faults go on.
constexpr Checks::HalfLimits kHalfLimits{6 * kRepairTimeoutMs, kRepairTimeoutMs + 20'000};
constexpr int64_t kMostWritesPerChange = 6, kMostWritesPerTerm = 3;
// Nothing has changed for so long: figures of reasons follow the cluster in less, and no pod runs for longer.
constexpr Millis kAtRestMs = 130'000;
// Long enough to see that a gang that is not woken waits on.
constexpr Millis kFiguresMs = 30'000;
// The time in which a gang that room was made for starts: when pods must leave first, and when not. It is over before
// any gang is looked at again for its figures.
constexpr Millis kWokenMs = 15'000, kWokenAtOnceMs = 900;
constexpr int kMostTurnsPerStep = 10;
constexpr size_t kAll = 1'000;
constexpr int kMostQuietTurns = 20'000;  // in which a world without faults must come to rest

using Line = fmt::memory_buffer;

// Appends what a command says.
struct Describer {
  void operator()(const cluster::Bind& b) const {
    const std::string* evidence = model::Find(b.annotations, "tutti.dev/bind");
    Put("bind {} ({}) to {} {}", b.pod.name(), b.pod.uid(), b.node, evidence ? *evidence : "");
  }
  void operator()(const cluster::Delete& d) const { Put("delete {} {}", d.object.resource, d.object.name()); }
  void operator()(const cluster::Patch& p) const { Put("patch {} {} {}", p.object.resource, p.object.name(), p.body); }
  void operator()(const cluster::Create& c) const { Put("create {} {}", c.object.resource, c.object.name()); }
  void operator()(const cluster::EmitEvent& e) const {
    Put("event {} {} {}: {}", e.regarding.kind, e.regarding.name(), e.reason, e.note);
  }
  template <class... Args>
  void Put(fmt::format_string<Args...> form, Args&&... args) const {
    fmt::format_to(std::back_inserter(to), form, std::forward<Args>(args)...);
  }

  Line& to;
};

std::string Describe(const cluster::Command& command) {
  Line line;
  std::visit(Describer{line}, command.body);
  return fmt::to_string(line);
}

// It starts a gang, or gives it quota.
bool Starts(const std::string& command) {
  return command.starts_with("bind") ||
         (command.starts_with("patch workloads") && command.find("\"podSetAssignments\":[{") != std::string::npos);
}

// Fowler, Noll and Vo's hash, of eight bytes at a time.
uint64_t Hash(uint64_t hash, std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001B3ull;
  const auto take = [&hash](uint64_t word) {
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;  // what a word's high bytes say reaches the low bits, too
  };
  for (uint64_t word; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    take(word);
  }
  for (const char c : text) take(static_cast<unsigned char>(c));
  return hash;
}

core::Options CoreOptions(const Scenario& scenario) {
  core::Options options;
  options.queue_rule = scenario.queue_rule;
  options.repair_timeout_ms = kRepairTimeoutMs;
  options.figures_ms = kFiguresMs;
  options.bind_timeout_ms = kBindTimeoutMs;
  options.flush_after_ms = kFlushMs;
  options.victim_timeout_ms = kVictimTimeoutMs;
  if (scenario.victims) options.choose_victims = ChooseVictims;
  if (!scenario.gangs_preempt) options.gang_preemption = core::Options::GangPreemption::kNever;
  for (const char* name : {"tutti", "volcano"}) {  // without the latter, no PodGroup without pods would be looked at
    options.profiles.push_back(plugins::DefaultProfile(name));
    options.profiles.back().volume_timeout_ms = kVolumeTimeoutMs;
    if (!scenario.preempts && !scenario.gangs_evict()) options.profiles.back().preemption.reset();
  }
  return options;
}

class Simulation {
 public:
  explicit Simulation(const Run& run)
      : run_(run),
        world_(clock_, WorldOptionsOf(run)),
        truth_(world_.store()),
        checks_(truth_, kHalfLimits),
        faults_(run.scenario, run.seed, run.without_faults, kBindTimeoutMs),
        workload_(run.scenario, world_),
        pace_(Mix(run.seed, "pace")),
        relief_(Mix(run.seed, "relief")) {}

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

  static sim::WorldOptions WorldOptionsOf(const Run& run) {
    sim::WorldOptions options;
    options.seed = Mix(run.seed, "store");
    options.kubelet.start_ms = 20;
    options.events = sim::EventsWritten::kNone;  // they are not read
    options.event_log = 200;                     // over the wire some watches resume too late
    return options;
  }

  void PlanActions();
  void Turn();
  bool Move(size_t events, size_t commands);
  void DoActions();
  void ThrowDice();
  void PassTime(bool moved);
  void AdvanceTo(Millis at);
  std::optional<Millis> NextDeadline() const;
  void Mend(bool all);

  void Calm();
  int64_t Changes() { return world_.store().resource_version() - truth_.lease_writes(); }
  bool Settle(Millis for_ms);
  std::vector<std::string> FreshWants();
  void CheckFigures();
  void CheckPhases();
  void CheckStatus(const sim::Json& status, const TrueGang& gang, const std::string& name);
  void CheckFresh();
  void CheckWoken(const Workload::Relief& relief);
  void CheckWrites(const char* when);
  void Note(const std::string& text);
  void Record(Replica& replica, const std::vector<cluster::Command>& commands);
  Processes::Parts PartsOf(const Run& run);

  const Run& run_;
  Plant honest_;
  base::VirtualClock clock_{kStart};
  sim::World world_;
  Truth truth_;
  Checks checks_;
  Faults faults_;
  Workload workload_;
  base::Random pace_, relief_;
  std::optional<Processes> processes_;

  std::vector<Action> actions_;
  size_t next_action_ = 0;
  int64_t idle_ = 0;
  int64_t commands_before_ = 0, others_before_ = 0, terms_before_ = 0;  // at the last CheckWrites
  std::vector<Repair> repairs_;
  Millis healthy_ms_ = 0;
  Line line_;
  std::string last_command_;
  uint64_t log_hash_ = 0xCBF29CE484222325ull;
  Outcome outcome_;
};

void Simulation::Note(const std::string& text) {
  if (!run_.trace) return;
  std::string line = fmt::format("{:>6} {:>9.3f}s  {}", outcome_.steps,
                                 static_cast<double>(clock_.MonotonicMs() - kStart) / 1000.0, text);
  if (run_.tell)
    run_.tell(line);
  else
    outcome_.trace.push_back(std::move(line));
}

void Simulation::Record(Replica& replica, const std::vector<cluster::Command>& commands) {
  checks_.OnSubmit(replica, commands);
  for (const cluster::Command& command : commands) {
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "{} {} ", clock_.MonotonicMs(), replica.name());
    const size_t described = line_.size();
    std::visit(Describer{line_}, command.body);
    const std::string_view line(line_.data(), line_.size());
    log_hash_ = Hash(log_hash_, line);
    if (run_.trace) Note(fmt::format("{}: {}", replica.name(), line.substr(described)));
    if (!faults_.on()) last_command_ = line;
  }
}

Processes::Parts Simulation::PartsOf(const Run& run) {
  Plant& plant = run.plant ? *run.plant : honest_;
  return {world_.store(),
          world_.decoded(),
          clock_,
          faults_,
          checks_,
          plant,
          CoreOptions(run_.scenario),
          run.seed,
          run.scenario.standby,
          run.scenario.wire,
          [this](Replica& replica, const auto& commands) { Record(replica, commands); },
          [this](const std::string& text) { Note(text); },
          run.trace};
}

// The whole workload is drawn before the run, each action with a seed of its own.
void Simulation::PlanActions() {
  base::Random random(Mix(run_.seed, "workload"));
  const auto draw = [&](std::string_view prefix) -> std::string {
    int64_t sum = 0;
    for (const auto& [name, weight] : run_.scenario.workload) sum += name.starts_with(prefix) ? weight : 0;
    int64_t throw_at = static_cast<int64_t>(random.Below(static_cast<uint64_t>(std::max<int64_t>(sum, 1))));
    for (const auto& [name, weight] : run_.scenario.workload)
      if (name.starts_with(prefix) && (throw_at -= weight) < 0) return name;
    return {};
  };
  for (int64_t i = 0; i < run_.scenario.begin; ++i)
    if (const std::string name = draw("arrive"); !name.empty()) actions_.push_back({0, name, random.Next()});
  // Where nothing happens they come sooner, and there must be some left.
  for (int64_t at = 0; at < 3 * run_.scenario.steps; at += random.Between(0, 2 * run_.scenario.every))
    actions_.push_back({at, draw(""), random.Next()});
}

Outcome Simulation::Go() {
  PlanActions();
  base::Random setup(Mix(run_.seed, "setup"));
  workload_.Setup(setup);
  if (run_.scenario.gangs_evict()) checks_.JudgeVictims();
  processes_.emplace(PartsOf(run_));
  int64_t next_calm = run_.scenario.calm_every;
  while (outcome_.steps < run_.scenario.steps && !checks_.violation()) {
    Turn();
    if (outcome_.turns > kMostTurnsPerStep * run_.scenario.steps)
      checks_.Fail("the world goes on", fmt::format("{} steps in {} turns", outcome_.steps, outcome_.turns));
    if (outcome_.steps >= next_calm || outcome_.steps >= run_.scenario.steps) {
      Calm();
      next_calm = outcome_.steps + run_.scenario.calm_every;
    }
  }
  outcome_.violation = checks_.violation();
  if (outcome_.violation) Note("VIOLATION " + outcome_.violation->invariant + ": " + outcome_.violation->message);
  outcome_.faults = faults_.fired();
  for (const auto& [invariant, asked] : checks_.asked()) outcome_.asked.emplace(invariant, asked);
  outcome_.log_hash = log_hash_;
  outcome_.commands = static_cast<int64_t>(checks_.commands());
  return std::move(outcome_);
}

void Simulation::Turn() {
  DoActions();
  ThrowDice();
  Mend(false);
  const size_t events = 1 + pace_.Below(pace_.OneIn(12) ? 64 : 4);
  const size_t commands = 1 + pace_.Below(pace_.OneIn(12) ? 64 : 4);
  const bool moved = Move(events, commands);
  idle_ += !moved;  // where nothing happens, the next action comes sooner
  outcome_.node_sum += static_cast<int64_t>(truth_.node_count());
  outcome_.gang_sum += static_cast<int64_t>(truth_.gang_count());
  outcome_.turns_of_all_kinds += workload_.HasAllKinds();
  ++outcome_.turns;
  PassTime(moved);
}

// Lets each part do at most so much. False: nothing was left to do.
bool Simulation::Move(size_t events, size_t commands) {
  const bool moved = world_.Pump();
  (faults_.on() ? outcome_.steps : outcome_.calm_steps) += processes_->Move(events, commands, pace_);
  checks_.AfterStep(healthy_ms_);
  return moved || processes_->moved();
}

void Simulation::DoActions() {
  for (; next_action_ < actions_.size() && actions_[next_action_].at_step <= outcome_.steps + idle_; ++next_action_) {
    if (run_.without_actions.contains(next_action_)) continue;
    base::Random random(actions_[next_action_].seed);
    const std::string done = workload_.Do(actions_[next_action_].name, random, next_action_);
    if (done.empty()) continue;
    ++outcome_.actions;
    Note("user: " + done);
  }
  faults_.OnActions(next_action_);
}

// --- Faults ---

void Simulation::ThrowDice() {
  processes_->ThrowDice();
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
    // Soon, mostly: without their kinds most gangs wait for those, and for nothing else.
    const Millis longest = faults_.dice(Fault::kKindRemoved).OneIn(4) ? 20'000 : 1'000;
    repairs_.push_back({later(Fault::kKindRemoved, 1, longest), [this, kind] {
                          workload_.RestoreKind(kind);
                          Note(kind + " is restored");
                        }});
  }
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
  consider(processes_->NextDeadline());
  for (const Repair& repair : repairs_) consider(repair.at_ms);
  return next;
}

void Simulation::AdvanceTo(Millis at) {
  const Millis by = std::max<Millis>(0, at - clock_.MonotonicMs());
  if (processes_->healthy()) healthy_ms_ += by;
  if (faults_.on()) outcome_.hostile_ms += by;
  clock_.Advance(by);
}

void Simulation::PassTime(bool moved) {
  const Millis now = clock_.MonotonicMs();
  // While no replica leads, users and nodes go on, but not for the hundreds of turns that a lease lasts.
  if (moved && processes_->leads() && !pace_.OneIn(static_cast<uint64_t>(run_.scenario.rest_every)))
    return AdvanceTo(now + static_cast<Millis>(pace_.Below(4)));
  // Now and then a long time passes, deadline by deadline, or nothing else would ever time out. What has left arrives
  // in it, and is heard of.
  if (moved) Move(kAll, kAll);
  const Millis most = now + (pace_.OneIn(8) ? 5'000 : run_.scenario.rest_ms);
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
  processes_->MendAll();
  checks_.OnFaults(false, healthy_ms_);
  if (!Settle(400'000)) return;
  for (int i = 0; i < 20 && !processes_->calm(); ++i)
    if (!Settle(20'000)) return;
  int64_t seen = -1;
  for (int i = 0; i < 20 && seen != Changes(); ++i) {
    seen = Changes();
    if (!Settle(kAtRestMs)) return;
  }
  if (!processes_->calm()) return checks_.Fail("a replica leads", "none does, 800 s after the last fault");
  checks_.AtRest();
  processes_->CheckFootprints(truth_.gang_count() + truth_.CountPodGroupsWithoutPods() + checks_.quotas().workloads());
  CheckPhases();
  CheckFresh();
  ++outcome_.calms;
  CheckWrites("while faults went on");
  if (!Settle(150'000)) return;
  CheckWrites("at rest");
  CheckWoken(workload_.MakeRoom(relief_));
  CheckFigures();
  CheckPhases();                           // of those that room has made whole again
  if (!Settle(150'000)) return;            // the new nodes cause no further looks
  CheckWoken(workload_.Relieve(relief_));  // those that room does not help
  faults_.set_on(true);
  checks_.OnFaults(true, healthy_ms_);
  Note("the faults go on");
}

// Compares our writes since the last time with changes by others, and with what a new leader says again.
void Simulation::CheckWrites(const char* when) {
  const auto commands = static_cast<int64_t>(checks_.commands()), terms = static_cast<int64_t>(checks_.terms());
  const int64_t others = Changes() - static_cast<int64_t>(processes_->done());
  const int64_t changes = std::max<int64_t>(0, others - others_before_), writes = commands - commands_before_;
  const auto all = static_cast<int64_t>(truth_.pods().size() + truth_.gang_count() + checks_.quotas().workloads());
  const std::string figures = fmt::format("{}: {} commands, {} changes by others, {} terms begun, {} pods and gangs",
                                          when, writes, changes, terms - terms_before_, all);
  Note(figures);
  if (writes > kMostWritesPerChange * changes + kMostWritesPerTerm * all * (terms - terms_before_))
    checks_.Fail("no write without a cause", fmt::format("{}; the last: {}", figures, last_command_));
  commands_before_ = commands;
  others_before_ = others;
  terms_before_ = terms;
}

// Lets time pass until nothing moves and at least `for_ms` are over. False: a violation.
bool Simulation::Settle(Millis for_ms) {
  const Millis end = clock_.MonotonicMs() + for_ms;
  for (int turns = 0; !checks_.violation(); ++turns) {
    if (turns > kMostQuietTurns) {
      checks_.Fail("the world comes to rest", fmt::format("it moves on without faults after {} turns", turns));
      return false;
    }
    if (Move(kAll, kAll)) continue;
    const Millis now = clock_.MonotonicMs();
    if (now >= end) return true;
    const auto next = NextDeadline();
    AdvanceTo(std::clamp(next.value_or(end), now + 1, end));
  }
  return false;
}

// What a scheduler that remembers nothing would write, were its nodes numbered as the leader's: of equals either takes
// the first, and what is said of others depends on that.
std::vector<std::string> Simulation::FreshWants() {
  std::vector<std::string> wanted;
  std::set<std::string> preempted;  // Workloads, for others: as with pods, that is not looked for again and again
  core::Options options = CoreOptions(run_.scenario);
  options.choose_victims = nullptr;  // victims are not looked for again and again
  options.gang_preemption = core::Options::GangPreemption::kNever;
  options.queue_rule.reclaim = false;
  const auto source = [this](cluster::EventSink& sink) {
    return std::make_unique<StoreSource>(world_.store(), world_.decoded(), sink);
  };
  const auto is_of_preempted = [&](const cluster::Command& command) {
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    return patch && patch->object.resource == kWorkloads.resource && preempted.contains(patch->object.name());
  };
  Replica fresh({world_.store(), source, clock_, honest_, std::move(options), "fresh",
                 [&](Replica&, const auto& commands) {
                   for (const cluster::Command& command : commands)
                     if (!std::holds_alternative<cluster::EmitEvent>(command.body) && !OnlyTouches(command, truth_) &&
                         !OnlyRewords(command, world_.store()) && !is_of_preempted(command))
                       wanted.push_back(Describe(command));
                 },
                 {},
                 [&](const Replica&, const observe::Observer::QuotaStep& step) {
                   if (step.by) preempted.insert(step.gang.name);
                 }});
  fresh.Lead(0);
  base::Random random(1);
  fresh.Look();
  fresh.SortNodes(processes_->NodeOrder());
  while (fresh.HasEvents()) {
    fresh.Work(100'000, Replica::Order::kAnyKind, random);
    fresh.Look();
  }
  fresh.scheduler().Audit();
  for (const std::string& command : wanted) Note("fresh: " + command);
  return wanted;
}

// What is said counts what is there, a little while after the last change of anything.
void Simulation::CheckFigures() {
  int64_t seen = -1;
  for (int i = 0; i < 20 && seen != Changes(); ++i) {
    seen = Changes();
    if (!Settle(kFiguresMs + 1'000)) return;
  }
  for (const std::string& command : FreshWants())
    if (command.starts_with("patch pods"))
      return checks_.Fail("a figure is current", fmt::format("{} ms after the last change a scheduler that remembers "
                                                             "nothing would {}",
                                                             kFiguresMs + 1'000, command));
}

// Volcano's controllers wait for it, pods or none.
void Simulation::CheckPhases() {
  if (checks_.violation()) return;
  for (const sim::Object& group : world_.store().All(kVolcanoPodGroups)) {
    if (sim::DigString(*group, "status", "phase").empty())
      return checks_.Fail("every PodGroup has its phase", fmt::format("PodGroup {} has none", sim::NameOf(*group)));
    const auto gang = truth_.gangs().find(fmt::format("volcano/{}/{}", sim::NamespaceOf(*group), sim::NameOf(*group)));
    if (gang != truth_.gangs().end()) CheckStatus(sim::Child(*group, "status"), gang->second, gang->first);
  }
}

// What is said of a gang is so: Running, it has its minimum; and the newest of its conditions is of that kind.
void Simulation::CheckStatus(const sim::Json& status, const TrueGang& gang, const std::string& name) {
  const std::string phase = sim::DigString(status, "phase");
  const Truth::Standing standing = truth_.StandingOf(gang);
  if (phase == "Running" && !standing.whole && standing.held > 0)
    return checks_.Fail("a PodGroup's phase is true",
                        fmt::format("{} is Running: {} bound, {} needed", name, standing.bound, gang.min));
  if (standing.whole && standing.held > 0 && phase != "Running")
    return checks_.Fail("a PodGroup's phase is true",
                        fmt::format("{} is {}: {} bound, {} needed", name, phase, standing.bound, gang.min));
  if (phase != "Running" && phase != "Unknown") return;
  std::string newest, time;
  for (const sim::Json& condition : sim::ArrayOf(sim::Dig(status, "conditions"))) {
    const std::string type = sim::DigString(condition, "type"), at = sim::DigString(condition, "lastTransitionTime");
    if ((type == "Scheduled" || type == "Unschedulable") && at > time) newest = type, time = at;
  }
  if (!newest.empty() && newest != (phase == "Running" ? "Scheduled" : "Unschedulable"))
    checks_.Fail("the newest condition is true",
                 fmt::format("{} is {}, and its newest condition is {}", name, phase, newest));
}

void Simulation::CheckFresh() {
  if (checks_.violation()) return;
  const std::vector<std::string> wanted = FreshWants();
  if (wanted.empty()) return;
  const bool starts = std::ranges::any_of(wanted, Starts);
  const bool says = wanted.front().starts_with("patch pods");
  checks_.Fail(starts ? "nothing is forgotten"
               : says ? "a reason is current"
                      : "a status is current",
               fmt::format("a scheduler that remembers nothing would {}", wanted.front()));
}

// Something gets better in a world at rest: a gang that waited for that starts at once, not only when its reason
// is next brought up to date.
void Simulation::CheckWoken(const Workload::Relief& relief) {
  if (checks_.violation() || relief.done.empty()) return;
  Note("user: " + relief.done);
  const bool some_evict =
      QueueUsers::AreIn(run_.scenario) || run_.scenario.victims || run_.scenario.gangs_evict();
  const Millis within_ms = relief.at_once && !some_evict ? kWokenAtOnceMs : kWokenMs;
  std::vector<std::string> waited;
  for (const auto& [uid, pod] : truth_.pods())
    if (!pod.bound() && !pod.foreign) waited.push_back(uid);
  if (!Settle(within_ms)) return;
  const auto is_bound = [this](const std::string& uid) {
    const TruePod* pod = truth_.Pod(uid);
    return pod && pod->bound();
  };
  Outcome::Reliefs& reliefs = outcome_.reliefs[relief.kind];
  ++reliefs.times;
  reliefs.of_use += std::ranges::any_of(waited, is_bound);
  for (const std::string& command : FreshWants())
    if (command.starts_with("bind"))
      return checks_.Fail(
          "a gang that can start is woken",
          fmt::format("{}; {} ms later a scheduler that remembers nothing would {}", relief.done, within_ms, command));
}

}  // namespace

Outcome Simulate(const Run& run) { return Simulation(run).Go(); }

// Taking a world apart costs a quarter of its run.
Outcome SimulateLast(const Run& run) { return (new Simulation(run))->Go(); }

}  // namespace tutti::simulation
