// SPDX-License-Identifier: Apache-2.0
#include "app/upstream_flags.h"

#include <algorithm>

#include "app/feature_gate_names.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

using Notes = std::vector<std::string>;

TEST_CASE("a flag that asks for what is so anyway is taken in silence; another is said to have no effect") {
  CHECK(NotesOnFlags({{"profiling", "false"}, {"contention-profiling", "0"}, {"log-flush-frequency", "5000ms"}})
            ->empty());
  CHECK(*NotesOnFlags({{"profiling", "true"}}) == Notes{"--profiling has no effect: there is no /debug/pprof"});
  CHECK(NotesOnFlags({{"kube-api-qps", "50"}})->size() == 1);
  CHECK(NotesOnFlags({})->empty());
}

TEST_CASE("a flag without effect has its type all the same") {
  CHECK(NotesOnFlags({{"profiling", "maybe"}}).error().message == "--profiling: \"maybe\": write true or false");
  CHECK(NotesOnFlags({{"kube-api-burst", "many"}}).error().message ==
        "--kube-api-burst: \"many\": write a whole number");
  CHECK(NotesOnFlags({{"kube-api-qps", ""}}).error().message == "--kube-api-qps: \"\": write a number");
  CHECK_FALSE(NotesOnFlags({{"log-flush-frequency", "soon"}}));
}

TEST_CASE("feature gates are read as kube-scheduler reads them, and an unknown one is named") {
  CHECK(NotesOnFeatureGates({})->empty());
  CHECK(NotesOnFeatureGates({"GangScheduling"}).error().message ==
        "--feature-gates: GangScheduling has no value; write GangScheduling=true or GangScheduling=false");
  CHECK(NotesOnFeatureGates({"GangScheduling=on"}).error().message ==
        "--feature-gates: GangScheduling: \"on\" is neither true nor false");
  const auto notes =
      NotesOnFeatureGates({"kube:GangScheduling=true", "AllAlpha=F", "GangSchedulin=1", "Qwertyuiop=true"});
  REQUIRE(notes);
  CHECK(*notes ==
        Notes{"--feature-gates: GangSchedulin is no feature gate of kube-scheduler 1.36; did you mean "
              "GangScheduling?",
              "--feature-gates: Qwertyuiop is no feature gate of kube-scheduler 1.36",
              "--feature-gates kube:GangScheduling=true,AllAlpha=F has no effect: nothing in Tutti is behind a "
              "gate of Kubernetes"});
}

TEST_CASE("the names of gates are sorted, so that they are found") { CHECK(std::ranges::is_sorted(kFeatureGateNames)); }

}  // namespace
}  // namespace tutti::app
