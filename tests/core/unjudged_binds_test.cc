// SPDX-License-Identifier: Apache-2.0
// Binds that the API server does not judge, since it asks for quiet or what it asks is down: when they are repeated,
// what their pods say, and that other pods do not wait for them.
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

TEST_CASE("A gang that the API server keeps waiting is not undone for that") {
  QuietRig rig;
  rig.AddNode("n1", 8);
  int binds = 0;
  rig.fate = [&binds](const cluster::Command& command) {
    if (!std::holds_alternative<cluster::Bind>(command.body) || ++binds == 1) return sim::Fate{};
    return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 429, .message = "too many requests"};
  };
  rig.AddGang("g", 4, 4);
  rig.Pass(200'000);
  CHECK(rig.Bound() == 1);
  CHECK(binds > 4);
  rig.fate = nullptr;
  rig.Pass(31'000);
  CHECK(rig.Bound() == 4);
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

TEST_CASE("Pods whose binds fail, however many, do not keep others from being bound") {
  Rig rig;
  for (int i = 0; i < 11; ++i) rig.AddNode(fmt::format("n{}", i), 1'000);
  for (int i = 0; i < 1'100; ++i) rig.AddPod(fmt::format("doomed-{}", i), {});
  // As where a webhook for them is down. That they are not bound is known only after a while.
  rig.fate = [&rig](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (!bind || !bind->pod.name().starts_with("doomed")) return sim::Fate{};
    rig.Post(cluster::CommandDelayed{command.id});
    rig.Post(cluster::CommandDelayed{command.id});
    return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .reply_delay_ms = 7'000, .http_status = 500};
  };
  rig.Settle();
  rig.AddPod("fine", {});
  rig.Settle();
  CHECK(!rig.NodeOf("fine").empty());
  rig.fate = nullptr;
  rig.Pass(30'000);
  CHECK(rig.Bound() == 1'101);
}

}  // namespace
}  // namespace tutti::core
