// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/profiles.h"
#include "app/run.h"
#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

TEST_CASE("flags go before files, as kube-scheduler's do") {
  RunFlags flags;
  flags.leader_elect = false;
  flags.lease_duration = "30s";
  flags.resource_namespace = "kube-system";
  flags.kubeconfig = "/etc/kubeconfig";
  const auto config = EffectiveConfig(flags);
  REQUIRE(config);
  CHECK_FALSE(config->leader_election.leader_elect);
  CHECK(config->leader_election.lease_duration_ms == 30'000);
  CHECK(config->leader_election.resource_namespace == "kube-system");
  CHECK(config->leader_election.resource_name == "tutti");
  CHECK(config->client_connection.kubeconfig == "/etc/kubeconfig");
}

TEST_CASE("a flag that makes no sense is named") {
  RunFlags flags;
  flags.renew_deadline = "soon";
  CHECK(EffectiveConfig(flags).error().message.find("--leader-elect-renew-deadline: \"soon\"") == 0);
  flags.renew_deadline = "1m";
  CHECK(EffectiveConfig(flags).error().message.find("leaseDuration must be longer than renewDeadline") !=
        std::string::npos);
  flags.leader_elect = false;  // then it does not matter
  CHECK(EffectiveConfig(flags));
}

TEST_CASE("a file's times are judged together with the flags that go before them") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("tutti-times-" + std::to_string(getpid()) + ".yaml");
  const auto effective = [&](const std::string& times, const RunFlags& given = {}) {
    std::ofstream(file) << "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                        << "leaderElection: " << times << "\n";
    RunFlags flags = given;
    flags.config_files = {file};
    const auto config = EffectiveConfig(flags);
    return config ? "" : config.error().message;
  };
  CHECK_THAT(effective("{leaseDuration: 8s}"), Catch::Contains("longer than renewDeadline"));
  CHECK_THAT(effective("{leaseDuration: 900ms, renewDeadline: 600ms, retryPeriod: 100ms}"),
             Catch::Contains("a second at least"));
  CHECK(effective("{leaseDuration: 8s, leaderElect: false}").empty());
  RunFlags flags;
  flags.renew_deadline = "6s";
  CHECK(effective("{leaseDuration: 8s}", flags).empty());
  flags = {};
  flags.leader_elect = false;
  CHECK(effective("{leaseDuration: 8s}", flags).empty());
  std::filesystem::remove(file);
}

TEST_CASE("with no profile the names that KubeRay writes are served") {
  Config config;
  const auto profiles = MakeProfiles(config, DefaultSchedulerNames());
  REQUIRE(profiles);
  REQUIRE(profiles->size() == 5);
  CHECK((*profiles)[1].scheduler_name == "volcano");
  CHECK_FALSE((*profiles)[1].filters.empty());
  const auto json = base::Json::parse(ConfigJson(config));
  CHECK(json["componentconfig"]["profiles"][0]["schedulerName"] == "tutti");
  CHECK(json["componentconfig"]["kind"] == "KubeSchedulerConfiguration");
  CHECK(json["tutti.dev"]["apiVersion"] == "tutti.dev/v1alpha1");
  CHECK(json["componentconfig"]["leaderElection"]["leaseDuration"] == "15s");
}

// The entry of a list that is called `name`; null: there is none.
base::Json Named(const base::Json& list, const std::string& name) {
  for (const base::Json& one : list)
    if (one["name"] == name) return one;
  return nullptr;
}

TEST_CASE("/configz shows what is on, with the weights and the args that count") {
  Config config;
  REQUIRE(ReadConfig(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
      "- schedulerName: a\n  plugins: {multiPoint: {enabled: [{name: NodeAffinity, weight: 7}], disabled: [{name: "
      "ImageLocality}]}, score: {disabled: [{name: TaintToleration}]}}\n"
      "  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]\n"
      "- schedulerName: b\n",
      "c.yaml", &config));
  const auto profiles = base::Json::parse(ConfigJson(config))["componentconfig"]["profiles"];
  REQUIRE(profiles.size() == 2);
  const base::Json& a = profiles[0];
  const base::Json& on = a["plugins"]["multiPoint"]["enabled"];
  CHECK(Named(on, "NodeAffinity")["weight"] == 7);
  CHECK(Named(on, "TaintToleration")["weight"] == 3);
  CHECK(Named(on, "NodeName") == base::Json{{"name", "NodeName"}});
  CHECK(Named(on, "ImageLocality").is_null());
  CHECK(Named(on, "WholeNodes").is_null());
  CHECK(Named(on, "DynamicResources").is_null());  // not active here
  CHECK(a["plugins"]["score"]["disabled"][0]["name"] == "TaintToleration");
  const base::Json fit = Named(a["pluginConfig"], "NodeResourcesFit")["args"];
  CHECK(fit["kind"] == "NodeResourcesFitArgs");
  CHECK(fit["scoringStrategy"]["type"] == "MostAllocated");
  CHECK(fit["scoringStrategy"]["resources"][0]["name"] == "cpu");
  CHECK(Named(a["pluginConfig"], "VolumeBinding")["args"]["bindTimeoutSeconds"] == 600);
  CHECK(Named(profiles[1]["plugins"]["multiPoint"]["enabled"], "WholeNodes").is_object());
}

TEST_CASE("what --write-config-to writes is read as it stands, and means the same") {
  Config config, again;
  config.leader_election.lease_duration_ms = 25'500;
  config.max_in_flight = 7;
  REQUIRE(ReadConfig(ConfigYaml(config), "written.yaml", &again));
  CHECK(again.leader_election.lease_duration_ms == 25'500);
  CHECK(again.max_in_flight == 7);
  CHECK(again.notes.empty());
  CHECK(ConfigJson(again) == ConfigJson(config));
}

// Tells whether all that `part` says is in `whole`, lists element by element.
bool Has(const base::Json& whole, const base::Json& part) {
  if (part.is_object())
    return std::ranges::all_of(part.items(), [&](const auto& item) {
      return whole.is_object() && whole.contains(item.key()) && Has(whole[item.key()], item.value());
    });
  if (!part.is_array()) return whole == part;
  return whole.is_array() &&
         std::ranges::equal(whole, part, [](const base::Json& a, const base::Json& b) { return Has(a, b); });
}

TEST_CASE("each field of a TuttiConfiguration, and each extender, is shown and written as it was read") {
  const base::Json ours = base::Json::parse(R"({
    "apiVersion": "tutti.dev/v1alpha1", "kind": "TuttiConfiguration", "policy": "keep", "repairTimeoutSeconds": 61,
    "bindTimeoutSeconds": 11, "quotaReason": "QuotaExceeded", "gangPreemption": "Never", "fit": "auto",
    "autoscaledLabels": ["a/b"], "minRuntimeSeconds": 7, "maxInFlight": 81, "rankingMemoryMiB": 257,
    "keepNodesWhole": false, "queues": {"rule": "capacity", "reclaim": true, "ancestorReclaimLevel": 2},
    "kueue": {"words": "0.8", "fairSharing": {"enable": true, "preemptionStrategies": ["LessThanInitialShare"]},
              "waitForPodsReady": {"enable": true, "timeout": "60s", "recoveryTimeout": "30s", "requeuingStrategy":
                {"timestamp": "Creation", "backoffLimitCount": 3, "backoffBaseSeconds": 6, "backoffMaxSeconds": 60}}}
  })");
  const base::Json upstream = base::Json::parse(R"({
    "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
    "extenders": [{"urlPrefix": "http://127.0.0.1:80/base", "filterVerb": "f", "prioritizeVerb": "p", "bindVerb": "b",
                   "preemptVerb": "v", "weight": 3, "httpTimeout": "2s", "nodeCacheCapable": true, "ignorable": true,
                   "managedResources": [{"name": "a.b/c", "ignoredByScheduler": true}],
                   "tlsConfig": {"serverName": "x"}}]
  })");
  Config config, again;
  REQUIRE(ReadConfig(upstream.dump() + "\n---\n" + ours.dump(), "given.yaml", &config));
  const base::Json shown = base::Json::parse(ConfigJson(config));
  CHECK(Has(shown["tutti.dev"], ours));
  CHECK(Has(shown["componentconfig"], upstream));
  REQUIRE(ReadConfig(ConfigYaml(config), "written.yaml", &again));
  CHECK(ConfigJson(again) == ConfigJson(config));
}

TEST_CASE("an extender's key is written to the file that is asked for, and shown nowhere else") {
  Config config, again;
  kube::ExtenderSpec& extender = config.extenders.emplace_back();
  extender.url_prefix = "https://x";
  extender.key_pem = "secret";
  CHECK_THAT(ConfigYaml(config), Catch::Contains("keyData: c2VjcmV0"));
  CHECK_FALSE(Catch::Contains("keyData").match(ConfigJson(config)));
}

TEST_CASE("how the log is written is a flag that is checked") {
  RunFlags flags;
  flags.logging_format = "xml";
  CHECK(ApplyLogging(flags).error().message == "--logging-format: \"xml\" is not known; write json or text");
  flags.logging_format = "json";
  flags.verbosity = "loud";
  CHECK(ApplyLogging(flags).error().message == "-v: \"loud\": write a whole number");
}

TEST_CASE("lease times that contradict each other are refused with their place, with no flags too") {
  Config config;
  REQUIRE(
      ReadConfig("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                 "leaderElection: {leaseDuration: 5s}\n",
                 "c.yaml", &config));
  CHECK(CheckElection(config.leader_election).error().message ==
        "c.yaml:3: leaderElection: leaseDuration must be longer than renewDeadline; the defaults are 15s and 10s");
}

TEST_CASE("a profile that cannot be made is named with its place") {
  Config config;
  REQUIRE(
      ReadConfig("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
                 "- schedulerName: a\n  plugins: {filter: {enabled: [{name: ImageLocality}]}}\n",
                 "c.yaml", &config));
  const auto profiles = MakeProfiles(config, {});
  REQUIRE_FALSE(profiles);
  CHECK(profiles.error().message.find("c.yaml:4: profiles[0]: ") == 0);
  CHECK(profiles.error().message.find("ImageLocality does not extend filter") != std::string::npos);
}

}  // namespace
}  // namespace tutti::app
