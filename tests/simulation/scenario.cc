// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/objects/yaml.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/workload.h"

namespace tutti::simulation {
namespace {

using sim::Json;

// The counts of a mapping whose keys must be known; false, with `problem`, otherwise.
bool ReadCounts(const Json& from, const std::vector<std::string>& known, std::map<std::string, int64_t>* out,
                std::string* problem) {
  for (const auto& [name, value] : sim::MapOf(from).items()) {
    if (std::ranges::find(known, name) == known.end() || !value.is_number_integer() || value.get<int64_t>() < 1) {
      *problem = fmt::format("{}: {} is not known, or no whole number from 1", name, value.dump());
      return false;
    }
    (*out)[name] = value.get<int64_t>();
  }
  return true;
}

// By which rule queues share: one of the known names, or nothing; false otherwise.
bool ReadQueueRule(const Json& name, core::QueueRule* rule) {
  using Kind = core::QueueRule::Kind;
  static const std::map<Json, Kind> kinds{{nullptr, Kind::kCapability},
                                          {"capability", Kind::kCapability},
                                          {"capacity", Kind::kCapacity},
                                          {"proportion", Kind::kProportion}};
  const auto at = kinds.find(name);
  if (at == kinds.end()) return false;
  rule->kind = at->second;
  return true;
}

}  // namespace

base::Result<Scenario> ReadScenario(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return base::Invalid(path + ": cannot be read");
  const auto yaml = sim::ParseYaml(text.str());
  if (!yaml) return base::Invalid(path + ": " + yaml.error().message);
  const Json& root = yaml->value;
  const std::set<std::string> known{"name",     "nodes",         "most",    "standby",    "wire",
                                    "victims",  "begin",         "every",   "rest-every", "rest-ms",
                                    "workload", "faults",        "steps",   "calm-every", "share-by",
                                    "preempts", "gangs-preempt", "reclaim", "budgets"};
  for (const auto& [field, value] : sim::MapOf(root).items())
    if (!known.contains(field)) return base::Invalid(fmt::format("{}: {} is not known", path, field));

  Scenario scenario;
  scenario.name = std::filesystem::path(path).stem().string();
  const auto read = [&root](int64_t* out, const auto&... keys) { *out = sim::IntOf(sim::Dig(root, keys...), *out); };
  read(&scenario.nodes, "nodes", "count");
  read(&scenario.cpu, "nodes", "cpu");
  read(&scenario.gpu, "nodes", "gpu");
  read(&scenario.most_gangs, "most", "gangs");
  read(&scenario.most_pods, "most", "pods");
  read(&scenario.begin, "begin");
  read(&scenario.every, "every");
  read(&scenario.rest_every, "rest-every");
  read(&scenario.rest_ms, "rest-ms");
  read(&scenario.steps, "steps");
  read(&scenario.calm_every, "calm-every");
  scenario.standby = sim::BoolOf(sim::Child(root, "standby"));
  scenario.wire = sim::BoolOf(sim::Child(root, "wire"));
  scenario.victims = sim::BoolOf(sim::Child(root, "victims"));
  if (const Json& rule = sim::Child(root, "share-by"); !ReadQueueRule(rule, &scenario.queue_rule))
    return base::Invalid(fmt::format("{}: share-by: {} is not known", path, rule.dump()));
  scenario.preempts = sim::BoolOf(sim::Child(root, "preempts"));
  scenario.gangs_preempt = sim::BoolOf(sim::Child(root, "gangs-preempt"));
  scenario.queue_rule.reclaim = sim::BoolOf(sim::Child(root, "reclaim"));
  scenario.budgets = sim::BoolOf(sim::Child(root, "budgets"));
  std::string problem;
  if (!ReadCounts(sim::Child(root, "workload"), Workload::Names(), &scenario.workload, &problem) ||
      !ReadCounts(sim::Child(root, "faults"), FaultNames(), &scenario.faults, &problem))
    return base::Invalid(path + ": " + problem);
  if (scenario.workload.empty()) return base::Invalid(path + ": workload is missing");
  return scenario;
}

base::Result<std::vector<Scenario>> ReadScenarios(const std::string& folder, const std::string& only) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  if (paths.empty()) return base::Invalid(folder + ": there is no *.yaml");
  std::vector<Scenario> scenarios;
  for (const std::string& path : paths) {
    auto scenario = ReadScenario(path);
    if (!scenario) return tl::make_unexpected(scenario.error());
    if (only.empty() || scenario->name == only) scenarios.push_back(*std::move(scenario));
  }
  if (scenarios.empty()) return base::Invalid("there is no scenario " + only);
  return scenarios;
}

}  // namespace tutti::simulation
