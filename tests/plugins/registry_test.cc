// SPDX-License-Identifier: Apache-2.0
#include "plugins/registry.h"

#include <fmt/format.h>

#include "base/json.h"
#include "tests/support/catch.h"

using namespace tutti;
using Catch::Matchers::Contains;
using json = base::Json;

namespace {

std::string Filters(const framework::Profile& profile) {
  std::string list;
  for (const auto& filter : profile.filters) list += std::string(filter->name()) + " ";
  return list;
}
std::string Scores(const framework::Profile& profile) {
  std::string list;
  for (const auto& score : profile.scores)
    list += std::string(score.plugin->name()) + ":" + std::to_string(score.weight) + " ";
  return list;
}
plugins::ProfileConfig Config() {
  plugins::ProfileConfig config;
  config.scheduler_name = "s";
  return config;
}
std::string ErrorOf(const plugins::ProfileConfig& config) {
  const auto made = plugins::MakeProfile(config);
  return made ? "" : made.error().message;
}
std::string ArgsError(const std::string& plugin, const char* args) {
  auto config = Config();
  config.plugin_config.emplace_back(plugin, std::make_shared<const json>(json::parse(args)));
  return ErrorOf(config);
}

}  // namespace

TEST_CASE("the default profile has kube-scheduler's plugins in its order, with its weights") {
  const auto profile = plugins::DefaultProfile("default-scheduler");
  CHECK_THAT(
      Filters(profile),
      Contains("Unsupported NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit"));
  CHECK_THAT(Scores(profile), Contains("TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1"));
  CHECK_THAT(Scores(profile), Contains("NodeResourcesBalancedAllocation:1 ImageLocality:1"));
}

TEST_CASE("a profile enables, disables and weighs as kube-scheduler merges it") {
  auto config = Config();
  config.plugins["score"].enabled = {{"ImageLocality", 7}};
  config.plugins["score"].disabled = {"TaintToleration"};
  config.plugins["filter"].disabled = {"NodePorts"};
  config.plugins["multiPoint"].disabled = {"NodeName"};
  const auto profile = plugins::MakeProfile(config);
  REQUIRE(profile);
  CHECK_THAT(Filters(*profile), !Contains("NodePorts") && !Contains("NodeName") && Contains("TaintToleration"));
  CHECK_THAT(Scores(*profile), Contains("ImageLocality:7") && !Contains("TaintToleration"));
}

TEST_CASE("disabling all leaves what is named, and the guard") {
  auto config = Config();
  config.plugins["multiPoint"].disabled = {"*"};
  config.plugins["multiPoint"].enabled = {{"NodeResourcesFit", 0}};
  const auto profile = plugins::MakeProfile(config);
  REQUIRE(profile);
  CHECK(Filters(*profile) == "Unsupported NodeResourcesFit ");
  CHECK(Scores(*profile) == "NodeResourcesFit:1 ");
}

TEST_CASE("an unknown plugin is an error that lists the known ones") {
  auto config = Config();
  config.plugins["filter"].enabled = {{"NoSuch", 0}};
  CHECK_THAT(ErrorOf(config), Contains("there is no plugin \"NoSuch\"") && Contains("NodeResourcesFit"));
}

TEST_CASE("a plugin is enabled where it has something to say, and nowhere else") {
  for (const auto& [point, plugin] : {std::pair("score", "NodeName"), std::pair("bind", "NodeName"),
                                      std::pair("filter", "ImageLocality"), std::pair("queueSort", "NodeAffinity")}) {
    auto config = Config();
    config.plugins[point].enabled = {{plugin, 0}};
    CHECK_THAT(ErrorOf(config),
               Contains(std::string("plugins.") + point + ".enabled: " + plugin + " does not extend " + point));
  }
  for (const auto& [point, plugin] :
       {std::pair("score", "NodeAffinity"), std::pair("bind", "DefaultBinder"), std::pair("reserve", "VolumeBinding"),
        std::pair("multiPoint", "NodeName"), std::pair("permit", "GangScheduling")}) {
    auto config = Config();
    config.plugins[point].enabled = {{plugin, 1}};
    CHECK(ErrorOf(config).empty());
  }
}

TEST_CASE("args are read strictly, to their last field") {
  const char* kRequired = R"({"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": %s}})";
  const auto required = [&](const std::string& text) {
    std::string args = kRequired;
    return ArgsError("NodeAffinity", args.replace(args.find("%s"), 2, text).c_str());
  };
  CHECK_THAT(ArgsError("NodeAffinity", R"({"addedAffinity": ["a"]})"), Contains("addedAffinity: must be an object"));
  CHECK_THAT(ArgsError("NodeAffinity", R"({"addedAffinity": {"requiredDuringScheduling": null}})"),
             Contains("unknown field \"requiredDuringScheduling\""));
  CHECK_THAT(required(R"({"nodeSelectorTerms": [{"matchExpresions": []}]})"),
             Contains("nodeSelectorTerms[0]: unknown field \"matchExpresions\""));
  CHECK_THAT(required(R"({"nodeSelectorTerms": {}})"), Contains("nodeSelectorTerms: must be a list"));
  CHECK_THAT(required(R"({"nodeSelectorTerms": [{"matchExpressions": [{"keys": "a"}]}]})"),
             Contains("matchExpressions[0]: unknown field \"keys\""));
  CHECK(required(R"({"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]})").empty());
  CHECK_THAT(ArgsError("NodeAffinity", R"({"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
                                           [{"weight": 1, "preference": {"match": []}}]}})"),
             Contains("preference: unknown field \"match\""));

  CHECK_THAT(ArgsError("PodTopologySpread", R"({"defaultingType": "List", "defaultConstraints":
                                                [{"maxSkew": 1, "topolgyKey": "zone"}]})"),
             Contains("defaultConstraints[0]: unknown field \"topolgyKey\""));
  CHECK_THAT(ArgsError("PodTopologySpread", R"({"defaultingType": "List", "defaultConstraints": {"a": 1}})"),
             Contains("defaultConstraints: must be a list"));
  json many = {{"defaultingType", "List"}};
  for (int i = 0; i <= 64; ++i)
    many["defaultConstraints"].push_back(
        {{"maxSkew", 1}, {"topologyKey", fmt::format("key-{}", i)}, {"whenUnsatisfiable", "DoNotSchedule"}});
  CHECK_THAT(ArgsError("PodTopologySpread", many.dump().c_str()),
             Contains("defaultConstraints[64]: no more than 64 with one whenUnsatisfiable"));
  many["defaultConstraints"][64]["whenUnsatisfiable"] = "ScheduleAnyway";
  CHECK(ArgsError("PodTopologySpread", many.dump().c_str()).empty());
  CHECK_THAT(ArgsError("VolumeBinding", R"({"bindTimeoutSeconds": 9223372036854775807})"),
             Contains("must not be more than"));
  CHECK_THAT(ArgsError("VolumeBinding", R"({"kind": "NodeAffinityArgs"})"), Contains("write VolumeBindingArgs"));
  CHECK_THAT(ArgsError("VolumeBinding", R"({"apiVersion": "v1"})"), Contains("write kubescheduler.config.k8s.io/v1"));
  CHECK(ArgsError("VolumeBinding", R"({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "VolumeBindingArgs"})")
            .empty());
  CHECK_THAT(ArgsError("NodeResourcesFit", R"({"scoringStrategy": {"type": "MostAllocated", "kind": "x"}})"),
             Contains("unknown field \"kind\""));
}

TEST_CASE("plugins that are not active yet are accepted with a warning") {
  auto config = Config();
  config.plugins["multiPoint"].enabled = {{"NodeDeclaredFeatures", 0}, {"DynamicResources", 2}};
  std::vector<std::string> warnings;
  REQUIRE(plugins::MakeProfile(config, &warnings));
  REQUIRE(warnings.size() == 2);
  CHECK_THAT(warnings[0], Contains("NodeDeclaredFeatures is not active yet"));
}

TEST_CASE("on how many nodes victims are sought is DefaultPreemption's argument, and disabling it ends preemption") {
  auto config = Config();
  const auto stock = plugins::MakeProfile(config);
  REQUIRE(stock->preemption);
  CHECK(stock->preemption->min_candidates_percent == 10);
  CHECK(stock->preemption->min_candidates == 100);
  config.plugin_config.emplace_back(
      "DefaultPreemption",
      std::make_shared<const json>(json{{"minCandidateNodesPercentage", 5}, {"minCandidateNodesAbsolute", 3}}));
  const auto given = plugins::MakeProfile(config);
  CHECK(given->preemption->min_candidates_percent == 5);
  CHECK(given->preemption->min_candidates == 3);
  config.plugins["postFilter"].disabled = {"DefaultPreemption"};
  CHECK_FALSE(plugins::MakeProfile(config)->preemption);
}

TEST_CASE("DefaultPreemption's arguments are bounded as kube-scheduler's are") {
  CHECK_THAT(ArgsError("DefaultPreemption", R"({"minCandidateNodesPercentage": 101})"),
             Contains("minCandidateNodesPercentage: not in valid range [0, 100]"));
  CHECK_THAT(ArgsError("DefaultPreemption", R"({"minCandidateNodesAbsolute": -1})"),
             Contains("minCandidateNodesAbsolute: not in valid range [0, inf)"));
  CHECK_THAT(ArgsError("DefaultPreemption", R"({"minCandidateNodesAbsolute": 0, "minCandidateNodesPercentage": 0})"),
             Contains("cannot use both"));
  CHECK_THAT(ArgsError("DefaultPreemption", R"({"minimum": 1})"), Contains("unknown field \"minimum\""));
}

TEST_CASE("how long volumes may take is VolumeBinding's argument") {
  auto config = Config();
  CHECK(plugins::MakeProfile(config)->volume_timeout_ms == 600'000);
  config.plugin_config.emplace_back("VolumeBinding", std::make_shared<const json>(json{{"bindTimeoutSeconds", 30}}));
  CHECK(plugins::MakeProfile(config)->volume_timeout_ms == 30'000);
}

TEST_CASE("arguments that a plugin does not take name the field") {
  CHECK_THAT(ArgsError("NodeResourcesFit", R"({"scoringStrategy":{"type":"Least"}})"),
             Contains("scoringStrategy.type"));
  CHECK_THAT(ArgsError("NodeResourcesFit", R"({"scoringStrategy":{"type":"RequestedToCapacityRatio"}})"),
             Contains("must be specified when type is RequestedToCapacityRatio"));
  CHECK_THAT(ArgsError("NodeResourcesFit", R"({"ignoredResourceGroups":["a/b"]})"), Contains("can't contain '/'"));
  CHECK_THAT(ArgsError("NodeResourcesFit",
                       R"({"scoringStrategy":{"type":"LeastAllocated","resources":[{"name":"cpu","weight":101}]}})"),
             Contains("not in valid range (0, 100]"));
  CHECK_THAT(ArgsError("NodeResourcesBalancedAllocation", R"({"resources":[{"name":"cpu","weight":2}]})"),
             Contains("must be 1"));
  CHECK_THAT(ArgsError("NodeAffinity", R"({"addedAffinty":{}})"), Contains("unknown field \"addedAffinty\""));
  CHECK_THAT(ArgsError("NodeName", R"({"a":1})"), Contains("takes no arguments"));
  CHECK_THAT(ArgsError("VolumeBinding", R"({"bindTimeoutSeconds":-1})"), Contains("should not be a negative value"));
  CHECK_THAT(ArgsError("VolumeBinding", R"({"shape":[{"utilization":0,"score":1}]})"),
             Contains("StorageCapacityScoring"));
}
