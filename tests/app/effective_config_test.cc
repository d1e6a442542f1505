// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

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
  CHECK(json["kubescheduler.config.k8s.io"]["profiles"][0]["schedulerName"] == "tutti");
  CHECK(json["kubescheduler.config.k8s.io"]["leaderElection"]["leaseDuration"] == "15s");
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
