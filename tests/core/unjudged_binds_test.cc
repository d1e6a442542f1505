// SPDX-License-Identifier: Apache-2.0
// Binds that the API server does not judge, since it asks for quiet or what it asks is down: when they are repeated, and
// what their pods say.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

// Whose API server says how long it wants quiet.
struct QuietRig : Rig {
  void Post(cluster::FeedEvent event) override {
    if (auto* reply = std::get_if<cluster::CommandReply>(&event); reply && reply->http_status == 429)
      reply->retry_after_ms = 30'000;
    Rig::Post(std::move(event));
  }
};

// Counts binds, each of which the API server answers with this.
std::function<sim::Fate(const cluster::Command&)> FailBinds(int* binds, int http_status, std::string message) {
  return [=](const cluster::Command& command) {
    if (!std::holds_alternative<cluster::Bind>(command.body)) return sim::Fate{};
    ++*binds;
    return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = http_status, .message = message};
  };
}

TEST_CASE("No bind is repeated before the API server says, also if its pod changes, and pods say why they wait") {
  QuietRig rig;
  rig.AddNode("n1", 8);
  int binds = 0;
  rig.fate = FailBinds(&binds, 429, "too many requests");
  rig.AddGang("g", 4, 4);
  rig.AddPod("a", {});
  rig.Pass(29'000);
  CHECK(binds == 4);  // the gang's last one is for later
  CHECK_THAT(rig.Waits("a"), Catch::Equals("SchedulerError: binding to node \"n1\" failed: too many requests"));
  rig.Annotate("a", "any", "thing");
  rig.Pass(900);
  CHECK(binds == 4);
  rig.fate = nullptr;
  rig.Pass(1'000);
  CHECK(rig.Bound() == 5);
}

TEST_CASE("A bind that fails again and again, whose room may be another's meanwhile, is repeated ever more rarely") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.AddNode("n2", 4);
  int binds = 0;
  rig.fate = FailBinds(&binds, 500, "failed calling webhook");
  rig.AddPod("a", {});
  rig.Pass(100);
  CHECK_THAT(rig.Waits("a"), Catch::Contains("failed: failed calling webhook"));
  rig.Pass(60'000);
  CHECK(binds >= 7);
  CHECK(binds <= 12);
  CHECK_THAT(rig.Waits("a"), Catch::Contains("failed: failed calling webhook"));
  rig.fate = nullptr;
  rig.Pass(10'000);
  CHECK(rig.Bound() == 1);
}

}  // namespace
}  // namespace tutti::core
