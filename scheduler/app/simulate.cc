// SPDX-License-Identifier: Apache-2.0
#include "app/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "app/config_extenders.h"
#include "app/embedded_cluster.h"
#include "app/manifest_check.h"
#include "app/output.h"
#include "app/profiles.h"
#include "app/simulation_notes.h"
#include "app/simulation_record.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/json_string.h"

namespace tutti::app {
namespace {

using Arrivals = std::map<base::Millis, std::vector<sim::Manifest>>;  // by time since the start

constexpr const char* kNoNode =
    "no Node was given, so nothing can start; add some, such as manifests/examples/offline/nodes.yaml, or a cluster's "
    "own: kubectl get nodes -o yaml | tutti simulate - ...";

// The figures in reasons are renewed seldom: nothing reads them during a simulation, and each renewal is one more step.
// At the end they are current.
constexpr base::Millis kFiguresMs = 60'000;

constexpr const char* kArriveAt = "sim.tutti.dev/arrive-at";

// No time of a file lies after the start, or ages would be negative.
constexpr base::Millis kEpochMs = 1'767'225'600'000;  // 2026-01-01T00:00:00Z

base::Millis StartTime(const std::vector<sim::Manifest>& manifests) {
  base::Millis start = kEpochMs;
  for (const sim::Manifest& one : manifests) {
    const std::string& created = sim::DigString(one.object, "metadata", "creationTimestamp");
    if (const auto time = base::ParseTime(created)) start = std::max(start, *time);
  }
  return start;
}

base::Result<Arrivals> SortByArrival(std::vector<sim::Manifest> manifests) {
  Arrivals arrivals;
  arrivals[0];
  for (sim::Manifest& one : manifests) {
    const std::string text = sim::AnnotationOf(one.object, kArriveAt);
    base::Millis at = 0;
    if (const base::Status checked = CheckLifetimes(one); !checked) return tl::make_unexpected(checked.error());
    if (!text.empty()) {
      const auto parsed = base::ParseSpan(text);
      if (!parsed) {
        return base::Invalid(fmt::format("{}: metadata.annotations[{}]: {}",
                                         one.WhereIs(fmt::format("metadata.annotations[{}]", kArriveAt)), kArriveAt,
                                         parsed.error().message));
      }
      at = *parsed;
    }
    arrivals[at].push_back(std::move(one));
  }
  return arrivals;
}

// Some of the scheduler's timers go on without end and change nothing. After so many in a row, only the time that some
// gang itself waits for is gone to; after as many again, the simulation ends.
constexpr int kQuietTimers = 100;

class Simulation {
 public:
  Simulation(base::VirtualClock& clock, EmbeddedCluster& cluster, Arrivals arrivals, base::Millis until_ms)
      : clock_(clock),
        cluster_(cluster),
        arrivals_(std::move(arrivals)),
        start_ms_(clock.MonotonicMs()),
        until_ms_(until_ms) {}

  base::Status Run() {
    for (int quiet = 0; quiet < 2 * kQuietTimers;) {
      const int64_t before = cluster_.store().resource_version();
      if (const base::Status arrived = Arrive(); !arrived) return arrived;
      if (!cluster_.RunUntilIdle()) return Endless();
      const auto next = quiet < kQuietTimers ? Next() : cluster_.scheduler()->NextOwnDeadline();
      if (!next || *next - start_ms_ > until_ms_) return {};
      const bool only_timers = arrivals_.empty() && !cluster_.NextWorldDeadline();
      quiet = only_timers && cluster_.store().resource_version() == before ? quiet + 1 : 0;
      clock_.AdvanceTo(std::max(*next, clock_.MonotonicMs()));
    }
    return {};
  }

  // Returns a sentence about the manifests that were to arrive after the end; empty if there are none.
  std::string NotArrived() const {
    size_t count = 0;
    for (const auto& [at, manifests] : arrivals_) count += manifests.size();
    if (count == 0) return "";
    const auto& [at, manifests] = *arrivals_.begin();
    const sim::Json& first = manifests.front().object;
    return fmt::format("{} to arrive after --until never came; the first is {} {}, at {} s",
                       count == 1 ? "1 object" : fmt::format("{} objects", count), sim::DigString(first, "kind"),
                       sim::KeyOf(first), at / 1000);
  }

 private:
  base::Status Arrive() {
    while (!arrivals_.empty() && start_ms_ + arrivals_.begin()->first <= clock_.MonotonicMs()) {
      auto node = arrivals_.extract(arrivals_.begin());
      if (const base::Status loaded = cluster_.Load(std::move(node.mapped())); !loaded) return loaded;
    }
    return {};
  }

  std::optional<base::Millis> Next() {
    std::optional<base::Millis> next = cluster_.NextDeadline();
    if (!arrivals_.empty()) {
      const base::Millis arrival = start_ms_ + arrivals_.begin()->first;
      next = next ? std::min(*next, arrival) : arrival;
    }
    return next;
  }

  base::Status Endless() const {
    return base::Fail(
        base::ErrorCode::kInternal,
        fmt::format("at {} s the cluster does not come to rest: something is made and removed without end",
                    (clock_.MonotonicMs() - start_ms_) / 1000));
  }

  base::VirtualClock& clock_;
  EmbeddedCluster& cluster_;
  Arrivals arrivals_;
  const base::Millis start_ms_;
  const base::Millis until_ms_;
};

// Drops the scheduler's Events: the result has what they say of a gang or pod.
class DropsEvents final : public sim::Interceptor {
 public:
  sim::Fate Decide(const cluster::Command& command) override {
    sim::Fate fate;
    if (std::holds_alternative<cluster::EmitEvent>(command.body)) fate.kind = sim::Fate::Kind::kDrop;
    return fate;
  }
};

// Passes on what the scheduler says of quota.
class QuotaWatcher final : public observe::Observer {
 public:
  void Tell(SimulationRecord* record) { record_ = record; }
  void OnQuota(const QuotaStep& step) override {
    if (record_ != nullptr) record_->Note(step);
  }

 private:
  SimulationRecord* record_ = nullptr;
};

// Reports the progress once a second of real time.
class ProgressTeller {
 public:
  ProgressTeller(const std::function<void(const SimulationProgress&)>& tell, const base::Clock& clock,
                 const SimulationRecord& record)
      : tell_(tell), clock_(clock), record_(record), start_ms_(clock.MonotonicMs()) {}

  void Tell() {
    if (!tell_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kEvery;
    const std::chrono::duration<double> took = now - begun_;
    tell_({clock_.MonotonicMs() - start_ms_, record_.gangs(), record_.whole_gangs(), took.count()});
  }

 private:
  static constexpr std::chrono::seconds kEvery{1};
  const std::function<void(const SimulationProgress&)>& tell_;
  const base::Clock& clock_;
  const SimulationRecord& record_;
  const base::Millis start_ms_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point next_ = begun_ + kEvery;
};

// Keeps the cluster until the process ends. The leak checker still finds it.
void Leave(std::unique_ptr<EmbeddedCluster> cluster) {
  static auto& left = *new std::vector<EmbeddedCluster*>;
  left.push_back(cluster.release());
}

std::string Text(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : base::PrintOrdered(value);
}

// Renders `list` as a table with these fields of each item.
std::string TableOf(const nlohmann::ordered_json& list,
                    const std::vector<std::pair<const char*, const char*>>& columns) {
  std::vector<std::string> header;
  for (const auto& [title, field] : columns) header.emplace_back(title);
  Table table(header);
  for (const auto& item : list) {
    std::vector<std::string> row;
    for (const auto& [title, field] : columns) row.push_back(Text(item[field]));
    table.Add(std::move(row));
  }
  return table.empty() ? "none\n" : table.Text();
}

}  // namespace

base::Result<nlohmann::ordered_json> Simulate(std::vector<sim::Manifest> manifests, SimulateOptions options) {
  NoteExtendersAreNotAsked(&options.config);
  auto core_options = MakeOptions(options.config, OfflineSchedulerNames());
  if (!core_options) return tl::make_unexpected(core_options.error());
  core_options->figures_ms = kFiguresMs;
  std::vector<std::string> served;
  for (const framework::Profile& profile : core_options->profiles) served.push_back(profile.scheduler_name);
  if (const base::Status checked = CheckQuantities(manifests); !checked) return tl::make_unexpected(checked.error());
  const bool has_node = std::ranges::any_of(
      manifests, [](const sim::Manifest& one) { return sim::DigString(one.object, "kind") == "Node"; });
  base::VirtualClock clock(StartTime(manifests));
  auto arrivals = SortByArrival(std::move(manifests));
  if (!arrivals) return tl::make_unexpected(arrivals.error());

  options.world.event_log = 0;                           // no client resumes a watch
  options.world.events = sim::EventsWritten::kWarnings;  // for the notes
  static DropsEvents drops_events;                       // outlives what is left behind
  QuotaWatcher watcher;
  auto owned = std::make_unique<EmbeddedCluster>(clock, EmbeddedCluster::Options{.world = options.world,
                                                                                 .scheduler = *std::move(core_options),
                                                                                 .dialects = options.config.dialects,
                                                                                 .loose_definitions = true,
                                                                                 .strict_kinds = options.strict_kinds,
                                                                                 .observer = &watcher,
                                                                                 .interceptor = &drops_events});
  EmbeddedCluster& cluster = *owned;
  SimulationRecord record(cluster.store(), clock);
  watcher.Tell(&record);
  ProgressTeller progress(options.on_progress, clock, record);
  cluster.on_decided = [&] {
    record.Note(*cluster.scheduler());
    progress.Tell();
  };
  Simulation simulation(clock, cluster, *std::move(arrivals), options.until_ms);
  if (const base::Status ran = simulation.Run(); !ran) return tl::make_unexpected(ran.error());
  if (options.notes != nullptr) {
    *options.notes = std::move(options.config.notes);
    for (std::string& note : cluster.NotesOfLoading()) options.notes->push_back(std::move(note));
    for (std::string& note : SimulationNotes(cluster.store(), served)) options.notes->push_back(std::move(note));
    if (std::string note = simulation.NotArrived(); !note.empty()) options.notes->push_back(std::move(note));
    if (!has_node) options.notes->emplace_back(kNoNode);
  }
  const std::vector<observe::Decision> decisions = cluster.scheduler()->Decisions();
  if (options.summary != nullptr) *options.summary = record.Summary(decisions);
  auto result = std::move(record).Result(decisions);
  if (options.leave_memory) Leave(std::move(owned));
  return result;
}

std::string SimulationTable(const nlohmann::ordered_json& result) {
  return "GANGS\n" +
         TableOf(result["gangs"], {{"NAMESPACE", "namespace"},
                                   {"NAME", "name"},
                                   {"DIALECT", "dialect"},
                                   {"QUEUE", "queue"},
                                   {"MIN", "minMember"},
                                   {"MEMBERS", "members"},
                                   {"BOUND", "bound"},
                                   {"STATE", "state"},
                                   {"MESSAGE", "message"}}) +
         "\nPODS\n" +
         TableOf(result["pods"], {{"NAMESPACE", "namespace"},
                                  {"NAME", "name"},
                                  {"STATE", "state"},
                                  {"NODE", "node"},
                                  {"REASON", "reason"}}) +
         "\nTIMELINE\n" +
         TableOf(result["timeline"],
                 {{"SECOND", "atSeconds"}, {"ACTION", "action"}, {"POD", "pod"}, {"NODE", "node"}, {"GANG", "gang"}});
}

}  // namespace tutti::app
