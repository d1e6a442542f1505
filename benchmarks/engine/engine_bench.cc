// SPDX-License-Identifier: Apache-2.0
// engine_bench: measures the cost of a decision without an API server, on one thread, through core::Scheduler itself. A
// decision lasts from applying the event to emitting the command. The cost of its answer and of the bound pod is shown
// beside it. Prints a table; --out DIR also writes engine.csv, scale.csv and scale.svg there.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <functional>
#include <map>

#include "benchmarks/engine/cases.h"
#include "benchmarks/engine/svg_plot.h"
#include "benchmarks/engine/victims.h"

namespace {

using namespace tutti::bench;

struct Row {
  std::string name, unit;
  bool at_least = false;  // otherwise at most
  double target = 0, value = 0;
  bool reached() const { return at_least ? value >= target : value <= target; }
};

// Runs each row in a process of its own, so that the rows' heaps are separate.
std::vector<double> Apart(const std::function<std::vector<double>()>& measure) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<double> values = measure();
    const auto bytes = static_cast<ssize_t>(values.size() * sizeof(double));
    _exit(write(ends[1], values.data(), static_cast<size_t>(bytes)) == bytes ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> values;
  for (double value; read(ends[0], &value, sizeof value) == sizeof value;) values.push_back(value);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? values : std::vector<double>{};
}

struct Case {
  std::string key;
  std::vector<Row> rows;
  std::function<std::vector<double>()> measure;  // a value for each row
};

std::vector<Case> Cases() {
  const auto rate = [](Mix mix, size_t nodes, size_t before, size_t pods) {
    const PerPod seconds = SecondsPerPod(mix, nodes, before, pods);
    return std::vector<double>{1 / seconds.decided, 1 / (seconds.decided + seconds.followed)};
  };
  const auto growth = [](Mix mix, size_t pods) {
    const double small = SecondsPerPod(mix, 1000, 10, pods).decided;
    return std::vector<double>{SecondsPerPod(mix, 100'000, 10, pods).decided / small};
  };
  const Row also{"... with the answer and the pod seen bound", "pods/s", true, 0};
  return {
      {"identical",
       {{"identical lone pods, 5k nodes, default plugins", "decisions/s", true, 300'000}, also},
       [=] { return rate(Mix::kIdentical, 5000, 0, 100'000); }},
      {"distinct",
       {{"1,000 distinct pod classes, mixed, 5k nodes", "decisions/s", true, 30'000}, also},
       [=] { return rate(Mix::kDistinct, 5000, 0, 40'000); }},
      {"spread",
       {{"zone and host spread, preferred and required anti-affinity, 5k nodes", "decisions/s", true, 20'000}, also},
       [=] { return rate(Mix::kSpread, 5000, 0, 40'000); }},
      {"growth",
       {{"growth per pod from 1k to 100k nodes, 10 pods a node", "times", false, 2}},
       [=] { return growth(Mix::kIdentical, 50'000); }},
      {"growth-distinct",
       {{"... of 1,000 distinct pod classes", "times", false, 2}},
       [=] { return growth(Mix::kDistinct, 4'000); }},
      {"growth-spread",
       {{"... of spread and anti-affinity", "times", false, 2}},
       [=] { return growth(Mix::kSpread, 4'000); }},
      {"rack",
       {{"512 one-GPU members in one of 50 racks, 5k nodes", "ms", false, 10}},
       [] { return std::vector<double>{1e3 * SecondsToStartGang(512, 5000, "rack")}; }},
      {"proof",
       {{"prove that 80 GPUs cannot fit on 500 full 8-GPU nodes", "ms", false, 1},
        {"... and attempts while 1,000 irrelevant things happen", "attempts", false, 0}},
       [] {
         const Proof proof = ProveThatGpusDoNotFit();
         return std::vector<double>{1e3 * proof.first_seconds, proof.later_attempts};
       }},
      {"jobs",
       {{"4,000 one-GPU jobs, 500 nodes x 8", "ms", false, 50}},
       [] { return std::vector<double>{1e3 * SecondsForOneGpuJobs(4000, 500)}; }},
      {"waiting",
       {{"50,000 waiting gangs of 500 classes, 1,000 events/s", "% of a core", false, 5},
        {"... from an event to the start it allows, slowest", "ms", false, 5},
        {"... members started meanwhile", "pods", true, 1}},
       [] {
         const Waiting waiting = WaitingGangs(50'000, 500, 10);
         return std::vector<double>{100 * waiting.share_of_core, 1e3 * waiting.slowest_start_seconds,
                                    double(waiting.started)};
       }},
      {"preempt",
       {{"a lone pod preempts, 5k nodes x 10 pods, identical", "decisions/s", true, 20'000},
        {"... of 1,000 classes", "decisions/s", true, 2'000},
        {"no room even with all of 4,000 possible victims gone", "ms", false, 1}},
       [] {
         return std::vector<double>{1 / SecondsPerPreemption(1, 10'000), 1 / SecondsPerPreemption(1000, 4'000),
                                    1e3 * SecondsToFindNoVictims()};
       }},
      {"victims-proof",
       {{"prove that none of 4,000 victims help, 500 nodes x 8", "ms", false, 1},
        {"... where what they hold was read before", "ms", false, 1}},
       [] {
         return std::vector<double>{1e3 * ProveThatNoVictimsHelp().seconds,
                                    1e3 * ProveThatNoVictimsHelpAgain().seconds};
       }},
      {"victims-in-vain",
       {{"1,000 gangs that cannot preempt, 100 pods end a second", "% of a core", false, 10},
        {"... searches for victims", "a second", true, 0},
        {"... where it is not proven that they cannot", "% of a core", false, 10},
        {"... searches for victims", "a second", true, 0}},
       [] {
         const Searches proven = GangsWithoutVictims(Hopeless::kByAmounts, 1000, 60);
         const Searches open = GangsWithoutVictims(Hopeless::kByAffinity, 1000, 60);
         return std::vector<double>{100 * proven.share_of_core, proven.searches, 100 * open.share_of_core,
                                    open.searches};
       }},
      {"victims-rack",
       {{"80 GPUs in one of 50 racks, among 4,000 one-GPU victims", "ms", false, 50}},
       [] { return std::vector<double>{1e3 * MakeRoomInOneRack().seconds}; }},
      {"victims-all",
       {{"4,000 one-GPU victims for one gang of 500 pods", "ms", false, 50}},
       [] { return std::vector<double>{1e3 * MakeRoomOnAllNodes().seconds}; }},
      {"victims-gangs",
       {{"gangs of 10 for 50 gangs of 10, the slowest", "ms", false, 50}},
       [] { return std::vector<double>{1e3 * MakeRoomForManyGangs().seconds}; }},
      {"reclaim-all",
       {{"4,000 GPUs taken back for one gang of 500 pods", "ms", false, 50}},
       [] { return std::vector<double>{1e3 * TakeBackAllNodes().seconds}; }},
      {"reclaim-gangs",
       {{"gangs of 10 taken back for 50 gangs of 10, the slowest", "ms", false, 50}},
       [] { return std::vector<double>{1e3 * TakeBackForManyGangs().seconds}; }},
      {"memory",
       {{"memory, 100k nodes and 1M bound pods", "MiB", false, 1024}},
       [] { return std::vector<double>{static_cast<double>(ResidentBytes(100'000, 1'000'000)) / (1 << 20)}; }},
  };
}

// Returns the highest peak of all rows; each row ran in a process of its own.
double PeakMiB() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void Print(const Row& row, const char* reached) {
  fmt::print("{:<72} {:>14.5g} {} {:>12g}  {:<12} {}\n", row.name, row.value, row.at_least ? ">" : "<", row.target,
             row.unit, reached);
  std::fflush(stdout);
}

int PrintTable(std::vector<Case> cases, const std::vector<std::string>& only, std::ostream* csv) {
  int missed = 0;
  fmt::print("{:<72} {:>14} {:>14}  {:<12} {}\n", "case", "measured", "to reach", "", "reached");
  for (Case& one : cases) {
    if (!only.empty() && std::ranges::find(only, one.key) == only.end()) continue;
    const std::vector<double> values = Apart(one.measure);
    for (size_t i = 0; i < one.rows.size(); ++i) {
      Row& row = one.rows[i];
      const bool ran = i < values.size();
      row.value = ran ? values[i] : -1;
      const bool reached = ran && row.reached();
      missed += !reached;
      Print(row, !ran ? "failed" : reached ? "yes" : "no");
      if (csv) *csv << fmt::format("\"{}\",{},{},{},{}\n", row.name, row.value, row.target, row.unit, reached);
    }
  }
  const Row peak{"peak memory of these rows", "MiB", false, 1024, PeakMiB()};
  Print(peak, peak.reached() ? "yes" : "no");
  return missed + !peak.reached();
}

void Scale(const std::vector<size_t>& sizes, const std::string& folder) {
  const std::map<Mix, std::string> names{
      {Mix::kIdentical, "identical pods"}, {Mix::kDistinct, "1,000 classes"}, {Mix::kSpread, "spread, anti-affinity"}};
  std::ofstream csv(folder + "/scale.csv");
  csv << "mix,nodes,us_per_pod\n";
  std::vector<Series> plot;
  for (const auto& [mix, name] : names) {
    Series series{name, {}};
    for (const size_t nodes : sizes) {
      const size_t pods = mix == Mix::kIdentical ? 20'000 : 4'000;
      const std::vector<double> value =
          Apart([&, mix = mix] { return std::vector<double>{1e6 * SecondsPerPod(mix, nodes, 10, pods).decided}; });
      if (value.empty()) continue;
      series.points.emplace_back(static_cast<double>(nodes), value[0]);
      csv << fmt::format("{},{},{:.3f}\n", name, nodes, value[0]);
      fmt::print("{:<24} {:>7} nodes {:>10.2f} us/pod\n", name, nodes, value[0]);
      std::fflush(stdout);
    }
    plot.push_back(std::move(series));
  }
  std::ofstream(folder + "/scale.svg") << SvgPlot("Cost of a decision, 10 pods a node before", "nodes", "µs per pod",
                                                  plot);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What a decision costs: the engine alone, on one thread.");
  std::vector<std::string> only;
  std::vector<size_t> sizes{1000, 2000, 5000, 10'000, 30'000, 100'000};
  std::string out;
  app.add_option(
      "--only", only,
      "Run these cases: identical distinct spread growth growth-distinct growth-spread rack proof jobs "
      "waiting preempt victims-proof victims-rack victims-all victims-gangs reclaim-all reclaim-gangs memory");
  app.add_option("--out", out, "Write engine.csv, scale.csv and scale.svg into this folder");
  app.add_option("--sizes", sizes, "Nodes of the clusters in scale.svg");
  CLI11_PARSE(app, argc, argv);

  std::ofstream csv;
  if (!out.empty()) csv.open(out + "/engine.csv"), csv << "case,measured,target,unit,reached\n";
  const int missed = PrintTable(Cases(), only, out.empty() ? nullptr : &csv);
  if (!out.empty()) Scale(sizes, out);
  return missed == 0 ? 0 : 1;
}
