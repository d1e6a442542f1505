// SPDX-License-Identifier: Apache-2.0
#include "app/driver.h"

#include <algorithm>
#include <functional>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::app {
namespace {

class Recorder final : public cluster::ClusterWriter {
 public:
  void Submit(std::vector<cluster::Command> commands) override {
    for (cluster::Command& command : commands) commands_.push_back(std::move(command));
  }
  const std::vector<cluster::Command>& commands() const { return commands_; }

 private:
  std::vector<cluster::Command> commands_;
};

// Whoever reads it is told of something first.
class TellingClock final : public base::Clock {
 public:
  explicit TellingClock(std::function<void()> tell) : tell_(std::move(tell)) {}
  base::Millis WallMs() const override { return machine_.WallMs(); }
  base::Millis MonotonicMs() const override {
    tell_();
    return machine_.MonotonicMs();
  }

 private:
  const std::function<void()> tell_;
  const base::SystemClock machine_;
};

// A scheduler of no profile: what counts here is how it is driven.
struct Rig {
  base::SystemClock clock;
  Recorder writer;
  Driver driver{clock};
  core::Scheduler scheduler{{}, dialects::MakeDialects(), writer, clock, nullptr};
};

TEST_CASE("a stop ends a quiet scheduler at once, and it leads no more") {
  Rig rig;
  rig.driver.Post(cluster::Leadership{.leading = true});
  std::thread other([&] { rig.driver.Stop(); });
  CHECK(rig.driver.Run(rig.scheduler, 60'000) == Driver::Ending::kDrained);
  other.join();
  CHECK_FALSE(rig.scheduler.leading());
  CHECK(rig.driver.stopping());
}

TEST_CASE("a lease that is lost ends it without another cycle") {
  Rig rig;
  std::thread other([&] {
    rig.driver.Post(cluster::Leadership{.leading = true});
    rig.driver.Post(cluster::Leadership{.leading = false});
  });
  CHECK(rig.driver.Run(rig.scheduler, 60'000) == Driver::Ending::kLost);
  other.join();
}

TEST_CASE("a lease that is lost before anybody led on it ends it too") {
  Rig rig;
  rig.driver.Post(cluster::Leadership{.leading = false});
  CHECK(rig.driver.Run(rig.scheduler, 60'000) == Driver::Ending::kLost);
}

TEST_CASE("a lease that is lost after a stop is no loss") {
  Rig rig;
  rig.driver.Stop();
  rig.driver.Post(cluster::Leadership{.leading = false});
  CHECK(rig.driver.Run(rig.scheduler, 60'000) == Driver::Ending::kDrained);
}

TEST_CASE("a lease that is won after a stop makes nobody lead") {
  Rig rig;
  std::function<void()> win;
  const TellingClock clock([&win] { win(); });
  Driver driver(clock);
  win = [&driver] { driver.Post(cluster::Leadership{.leading = true}); };
  driver.Stop();
  CHECK(driver.Run(rig.scheduler, 60'000) == Driver::Ending::kDrained);
  CHECK_FALSE(rig.scheduler.leading());
}

TEST_CASE("others see a running scheduler's state and its decisions") {
  Rig rig;
  rig.driver.Post(cluster::KindSynced{.kind_name = "pods"});
  rig.driver.Post(cluster::KindSynced{.kind_name = "nodes"});
  for (const model::ObjectKind& kind : rig.scheduler.Kinds()) {
    rig.driver.Post(cluster::KindSynced{.kind_name = kind.Name(), .served = false});
  }
  rig.driver.Post(cluster::Leadership{.leading = true});
  Driver::Ending ending = Driver::Ending::kLost;
  std::thread owner([&] { ending = rig.driver.Run(rig.scheduler, 1'000); });
  const auto decisions = rig.driver.Decisions();
  CHECK(decisions.empty());
  CHECK(rig.driver.synced());
  CHECK(rig.driver.leading());
  CHECK(rig.driver.SinceLastCycleMs() < 60'000);
  rig.driver.Stop();
  owner.join();
  CHECK(ending == Driver::Ending::kDrained);
}

TEST_CASE("decisions too many to be told of in one cycle are all there, sorted, and each once") {
  Rig rig;
  core::Options options;
  options.profiles.emplace_back().scheduler_name = "tutti";
  core::Scheduler scheduler(std::move(options), dialects::MakeDialects(), rig.writer, rig.clock, nullptr);
  constexpr int kPods = 3'000;
  for (int i = kPods; i-- > 0;) {
    auto pod = cluster::DecodePod(tests::PodManifest(
        {{"name", fmt::format("p{:04}", i)}, {"namespace", i % 3 == 0 ? "a" : "b"}, {"schedulerName", "tutti"}}));
    REQUIRE(pod);
    rig.driver.Post(cluster::PodChanged{std::make_shared<const model::Pod>(*std::move(pod))});
  }
  std::thread owner([&] { rig.driver.Run(scheduler, 1'000); });
  const auto all = rig.driver.Decisions();
  const auto some = rig.driver.Decisions("a");
  const auto one = rig.driver.Decisions("b", "p0001");
  rig.driver.Stop();
  owner.join();
  REQUIRE(all.size() == kPods);
  CHECK(std::ranges::adjacent_find(all, std::greater_equal(), &observe::Decision::gang) == all.end());
  CHECK(some.size() == kPods / 3);
  REQUIRE(one.size() == 1);
  CHECK(one[0].members.at(0).name == "p0001");
}

}  // namespace
}  // namespace tutti::app
