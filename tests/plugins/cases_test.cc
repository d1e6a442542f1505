// SPDX-License-Identifier: Apache-2.0
// Runs cases/*.yaml: a cluster, a pod, a profile, and what each node answers.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

#include "base/json_fwd.h"
#include "framework/ranking.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace {

using namespace tutti;
using json = base::Json;

json ToJson(const YAML::Node& yaml) {
  if (yaml.IsSequence()) {
    json list = json::array();
    for (const auto& item : yaml) list.push_back(ToJson(item));
    return list;
  }
  if (yaml.IsMap()) {
    json map = json::object();
    for (const auto& item : yaml) map[item.first.as<std::string>()] = ToJson(item.second);
    return map;
  }
  if (!yaml.IsScalar()) return nullptr;
  if (yaml.Tag() == "!") return yaml.Scalar();  // quoted
  if (int64_t number; YAML::convert<int64_t>::decode(yaml, number)) return number;
  if (bool truth; YAML::convert<bool>::decode(yaml, truth)) return truth;
  return yaml.Scalar();
}

plugins::ProfileConfig ConfigOf(const json& test) {
  plugins::ProfileConfig config;
  config.scheduler_name = "default-scheduler";
  const json plugins_said = test.value("plugins", json::object());
  for (const auto& [point, set] : plugins_said.items()) {
    auto& out = config.plugins[point];
    for (const json& p : set.value("enabled", json::array()))
      out.enabled.push_back({p.at("name"), p.value("weight", 0)});
    for (const json& name : set.value("disabled", json::array())) out.disabled.push_back(name);
  }
  const json args_said = test.value("args", json::object());
  for (const auto& [name, args] : args_said.items())
    config.plugin_config.emplace_back(name, std::make_shared<const json>(args));
  return config;
}

void CheckRefused(const framework::Ranking& ranking, model::NodeId n, const json& refused) {
  const framework::NodeVerdict verdict = ranking.Explain(n);
  CHECK_FALSE(ranking.Feasible(n));
  CHECK(std::string(verdict.plugin) == refused.at("by").get<std::string>());
  CHECK((verdict.verdict == framework::Verdict::kNever) == refused.value("never", false));
  std::vector<std::string> reasons = refused.at("reasons");
  std::vector<std::string> found = verdict.reasons;
  std::ranges::sort(reasons);
  std::ranges::sort(found);
  CHECK(found == reasons);
}

void CheckScore(const framework::Ranking& ranking, model::NodeId n, const std::string& plugin, const json& expected) {
  const auto scores = ranking.Scores(n);
  const auto at = std::ranges::find(scores, plugin, &framework::NodeScore::plugin);
  if (expected.is_null()) {
    CHECK(at == scores.end());
    return;
  }
  REQUIRE(at != scores.end());
  CHECK(at->raw == expected.at(0).get<int64_t>());
  CHECK(at->normalized == expected.at(1).get<int64_t>());
}

void Run(const json& test) {
  tests::TestCluster cluster;
  for (const json& node : test.value("nodes", json::array())) cluster.AddNode(node);
  for (const json& object : test.value("storage", json::array())) cluster.AddStorage(object);
  for (const json& object : test.value("selections", json::array())) cluster.AddSelection(object);
  for (const json& pod : test.value("pods", json::array())) cluster.AddPod(pod);
  const auto profile = plugins::MakeProfile(ConfigOf(test));
  if (!profile) FAIL(profile.error().message);
  const framework::Ranking ranking(*profile, cluster.Class(test.at("pod")), cluster.snapshot());

  const json feasible = test.value("feasible", json::array());
  for (const json& name : feasible) {
    INFO("node " << name);
    const framework::NodeVerdict verdict = ranking.Explain(cluster.Node(name));
    if (!verdict.reasons.empty()) INFO(verdict.reasons[0]);
    CHECK(ranking.Feasible(cluster.Node(name)));
  }
  if (test.contains("feasible")) CHECK(ranking.feasible_count() == feasible.size());
  const json refused = test.value("refused", json::object());
  for (const auto& [name, expected] : refused.items()) {
    INFO("node " << name);
    CheckRefused(ranking, cluster.Node(name), expected);
  }
  const json scores = test.value("scores", json::object());
  for (const auto& [plugin, nodes] : scores.items())
    for (const auto& [name, expected] : nodes.items()) {
      INFO(plugin << " on " << name);
      CheckScore(ranking, cluster.Node(name), plugin, expected);
    }
  if (test.contains("best")) CHECK(cluster.snapshot().node(ranking.Best()).name == test["best"].get<std::string>());
  if (test.contains("sentence")) CHECK(ranking.Explain().Sentence() == test["sentence"].get<std::string>());
}

}  // namespace

TEST_CASE("plugins answer as their cases say") {
  size_t ran = 0;
  for (const auto& file : std::filesystem::directory_iterator(TUTTI_CASES)) {
    if (file.path().extension() != ".yaml") continue;
    const json cases = ToJson(YAML::LoadFile(file.path().string()));
    for (const json& test : cases) {
      const std::string name = file.path().stem().string() + ": " + test.at("name").get<std::string>();
      DYNAMIC_SECTION(name) { Run(test); }
      ++ran;
    }
  }
  CHECK(ran > 0);
}
