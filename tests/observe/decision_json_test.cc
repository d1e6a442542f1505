// SPDX-License-Identifier: Apache-2.0
#include "observe/decision_json.h"

#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::observe {
namespace {

TEST_CASE("a decision says which gang waits, in which state and why") {
  Decision decision;
  decision.gang = {"volcano", "test", "ray-test-cluster-1-pg"};
  decision.queue = "kuberay-test-queue";
  decision.scheduler_name = "volcano";
  decision.min_member = 3;
  decision.state = GangState::kWaitingForQueue;
  decision.reason = "QueueFull";
  decision.message = "queue kuberay-test-queue is full";
  decision.since_ms = 1'700'000'000'000;
  decision.members = {{.ns = "test",
                       .name = "head",
                       .uid = "u1",
                       .role = "headgroup",
                       .node = "",
                       .bound = false,
                       .finished = false,
                       .reason = "Unschedulable",
                       .message = "full"}};
  const auto json = ToJson(DecisionChanges{.decisions = {decision}});
  const auto& one = json["decisions"][0];
  CHECK(one["state"] == "waiting-for-queue");
  CHECK(one["since"] == "2023-11-14T22:13:20Z");
  CHECK(one["members"][0]["reason"] == "Unschedulable");
  CHECK(one["members"][0]["node"] == "");
  CHECK(ToJson(DecisionChanges{.sequence = 7, .gone = {{"volcano", "ns", "g"}}}).dump() ==
        R"({"sequence":7,"decisions":[],"gone":[{"dialect":"volcano","namespace":"ns","name":"g"}]})");
}

}  // namespace
}  // namespace tutti::observe
