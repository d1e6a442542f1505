// SPDX-License-Identifier: Apache-2.0
// Which profiles keep whole free nodes whole, and what is said of plugins that cannot be made.
#include "app/profiles.h"

#include <algorithm>

#include "tests/support/catch.h"

namespace tutti::app {
namespace {

bool KeepsNodesWhole(const std::string& text, const std::string& name) {
  Config config;
  REQUIRE(ReadConfig(text, "config.yaml", &config));
  const auto profiles = MakeProfiles(config, {"tutti", "default-scheduler"});
  REQUIRE(profiles);
  const auto profile = std::ranges::find(*profiles, name, &framework::Profile::scheduler_name);
  REQUIRE(profile != profiles->end());
  return std::ranges::any_of(profile->scores, [](const auto& score) { return score.plugin->name() == "WholeNodes"; });
}

constexpr const char* kOurs = "apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\n";
constexpr const char* kStock =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n";

TEST_CASE("whole free nodes are kept whole where no plugins are configured, but for default-scheduler") {
  CHECK(KeepsNodesWhole(kOurs, "tutti"));
  CHECK_FALSE(KeepsNodesWhole(kOurs, "default-scheduler"));
  CHECK_FALSE(KeepsNodesWhole(std::string(kOurs) + "keepNodesWhole: false\n", "tutti"));
  CHECK(KeepsNodesWhole(std::string(kStock) + "- schedulerName: a\n", "a"));
  CHECK_FALSE(KeepsNodesWhole(std::string(kStock) + "- schedulerName: default-scheduler\n", "default-scheduler"));
  CHECK_FALSE(KeepsNodesWhole(
      std::string(kStock) + "- schedulerName: a\n  plugins: {score: {disabled: [{name: ImageLocality}]}}\n", "a"));
}

TEST_CASE("args that a plugin does not take are refused with the line of the args") {
  Config config;
  REQUIRE(ReadConfig(std::string(kStock) +
                         "- schedulerName: a\n  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"
                         "      scoringStrategi: {type: MostAllocated}\n",
                     "config.yaml", &config));
  const auto profiles = MakeProfiles(config, {});
  REQUIRE_FALSE(profiles);
  CHECK_THAT(profiles.error().message,
             Catch::StartsWith("config.yaml:8: profiles[0].pluginConfig[0].args: profile a: pluginConfig: ") &&
                 Catch::Contains("scoringStrategi"));
}

}  // namespace
}  // namespace tutti::app
