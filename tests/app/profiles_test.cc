// SPDX-License-Identifier: Apache-2.0
// Which profiles keep whole free nodes whole.
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

}  // namespace
}  // namespace tutti::app
