// SPDX-License-Identifier: Apache-2.0
// How a gang that is whole is filled up: who is tried, in what parts, and what those are told that find no place.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

TEST_CASE("A member of a whole gang whose node comes back stays, though another member is just being bound") {
  Rig rig;
  rig.AddNode("n1", 1);
  rig.AddPod("a", {.gang = "g"});
  rig.Settle();
  REQUIRE(rig.NodeOf("a") == "n1");
  rig.AddNode("n2", 1);
  rig.fate = [](const cluster::Command& command) {
    return sim::Fate{.request_delay_ms = std::holds_alternative<cluster::Bind>(command.body) ? 5'000 : 0};
  };
  rig.AddPod("c", {.gang = "g"});
  rig.Settle();
  REQUIRE(rig.NodeOf("c").empty());
  rig.DeleteNode("n1");
  rig.Pass(2'000);
  rig.AddNode("n1", 1);
  rig.Pass(10'000);
  CHECK(rig.NodeOf("a") == "n1");
  CHECK(rig.NodeOf("c") == "n2");
}

}  // namespace
}  // namespace tutti::core
