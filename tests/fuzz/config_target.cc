// SPDX-License-Identifier: Apache-2.0
// The file given to --config: a KubeSchedulerConfiguration, a TuttiConfiguration, or anything else.
#include "app/config.h"
#include "base/check.h"
#include "tests/fuzz/target.h"

TUTTI_FUZZ_TARGET(config) {
  using namespace tutti;
  app::Config config;
  const auto read = app::ReadConfig(std::string(input), "scheduler.yaml", &config);
  if (!read) {
    TUTTI_CHECK(!read.error().message.empty(), "a refusal without a reason");
    return;
  }
  (void)app::CheckTimes(config.leader_election);
}
