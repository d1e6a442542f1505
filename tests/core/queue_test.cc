// SPDX-License-Identifier: Apache-2.0
// What is written about queues; tests/scenarios/dialects/queues.yaml has who is admitted.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

TEST_CASE("A queue's status that is refused is written again after a pause, not at once") {
  std::vector<dialects::GangState> reports;
  Rig rig(Options::Policy::kRepair, &reports);
  rig.AddNode("n1", 4);
  int writes = 0;
  rig.fate = [&](const cluster::Command& command) {
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    if (!patch || patch->object.resource != "queues") return sim::Fate{};
    ++writes;
    return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 403, .message = "no"};
  };
  rig.AddPod("p", {.queue = "four"});
  rig.Pass(20'000);
  CHECK(writes >= 3);
  CHECK(writes <= 5);
}

}  // namespace
}  // namespace tutti::core
