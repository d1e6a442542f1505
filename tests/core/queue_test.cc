// SPDX-License-Identifier: Apache-2.0
// What is written about queues; tests/scenarios/dialects/queues.yaml has which gangs are admitted.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

TEST_CASE("A queue's status that is refused is written again after a pause, not at once") {
  std::vector<dialects::GangState> reports;
  Rig rig(Options::HalfBound::kRepair, &reports);
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

TEST_CASE("what is released in a queue concerns the gangs that fit now, not all that wait, however unlike they are") {
  std::vector<dialects::GangState> reports;
  Rig rig(Options::HalfBound::kRepair, &reports);
  rig.AddNode("n", 64);
  rig.AddPod("large", {.gang = "large", .queue = "four", .cpu = "3"});
  rig.AddPod("small", {.gang = "small", .queue = "four", .cpu = "1"});
  rig.Settle();
  for (int i = 0; i < 200; ++i)
    rig.AddPod(fmt::format("pod-{:03}", i),
               {.gang = fmt::format("g{:03}", i), .queue = "four", .cpu = fmt::format("{}m", 2'000 + i)});
  rig.Pass(10'000);
  const auto after = [&rig](const char* gone) {
    const uint64_t before = rig.scheduler->Done().gangs_counted;
    rig.Delete(gone);
    rig.Pass(150);  // before the figures of those that wait are renewed
    return rig.scheduler->Done().gangs_counted - before;
  };
  CHECK(after("small") < 10);  // which is too little for each of them
  CHECK(rig.NodeOf("pod-000").empty());
  CHECK(after("large") < 20);
  CHECK(rig.NodeOf("pod-000") == "n");
  CHECK(rig.NodeOf("pod-001").empty());  // 2 and 2.001 are more than 4
  rig.Pass(10'000);
  CHECK(rig.NodeOf("pod-001").empty());
}

}  // namespace
}  // namespace tutti::core
