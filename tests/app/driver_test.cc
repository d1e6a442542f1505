// SPDX-License-Identifier: Apache-2.0
#include "app/driver.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

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

// Each reader of it is told of something first.
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

std::shared_ptr<const model::Pod> NewPod(const std::string& ns, const std::string& name) {
  auto pod = cluster::DecodePod(tests::PodManifest({{"name", name}, {"namespace", ns}, {"schedulerName", "tutti"}}));
  REQUIRE(pod);
  return std::make_shared<const model::Pod>(*std::move(pod));
}

// Everything is listed, and the scheduler leads.
void Lead(Driver& driver, const core::Scheduler& scheduler) {
  for (const char* kind : {"pods", "nodes"}) driver.Post(cluster::KindSynced{.kind_name = kind});
  for (const model::ObjectKind& kind : scheduler.Kinds())
    driver.Post(cluster::KindSynced{.kind_name = kind.Name(), .served = false});
  driver.Post(cluster::Leadership{.leading = true});
}

core::Options WithProfile() {
  core::Options options;
  options.profiles.emplace_back().scheduler_name = "tutti";
  return options;
}

// A scheduler of one profile, which runs on a thread of its own from Start to Stop.
struct Running {
  Rig rig;
  core::Scheduler scheduler{WithProfile(), dialects::MakeDialects(), rig.writer, rig.clock, nullptr};
  std::thread owner;

  void Start() {
    owner = std::thread([this] { rig.driver.Run(scheduler, 1'000); });
  }
  void Stop() {
    rig.driver.Stop();
    owner.join();
  }
  Driver& driver() { return rig.driver; }
  Views& views() { return rig.driver.views(); }
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

TEST_CASE("a lease that is lost before it made a leader ends it too") {
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

TEST_CASE("a lease that is won after a stop makes no leader") {
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
  Lead(rig.driver, rig.scheduler);
  Driver::Ending ending = Driver::Ending::kLost;
  std::thread owner([&] { ending = rig.driver.Run(rig.scheduler, 1'000); });
  const auto decisions = rig.driver.views().Decisions();
  REQUIRE(decisions);
  CHECK(decisions->decisions.empty());
  CHECK(rig.driver.synced());
  CHECK(rig.driver.leading());
  CHECK(rig.driver.SinceLastCycleMs() < 60'000);
  rig.driver.Stop();
  owner.join();
  CHECK(ending == Driver::Ending::kDrained);
}

TEST_CASE("decisions too many to be told of in one cycle are all there, sorted, and each once") {
  Running running;
  constexpr int kPods = 3'000;
  for (int i = kPods; i-- > 0;)
    running.driver().Post(cluster::PodChanged{NewPod(i % 3 == 0 ? "a" : "b", fmt::format("p{:04}", i))});
  running.Start();
  const auto all = running.views().Decisions()->decisions;
  const auto some = running.views().Decisions("a")->decisions;
  const auto one = running.views().Decisions("b", "p0001")->decisions;
  running.Stop();
  REQUIRE(all.size() == kPods);
  CHECK(std::ranges::adjacent_find(all, std::greater_equal(), &observe::Decision::gang) == all.end());
  CHECK(some.size() == kPods / 3);
  REQUIRE(one.size() == 1);
  CHECK(one[0].members.at(0).name == "p0001");
}

TEST_CASE("a reader that follows the decisions is told what changed since a list, and that a number is of no use") {
  Running running;
  Lead(running.driver(), running.scheduler);
  running.Start();
  const uint64_t listed = running.views().Decisions()->sequence;
  const auto none = running.views().DecisionsAfter(listed);
  const auto unknown = running.views().DecisionsAfter(listed + 1);
  running.driver().Post(cluster::PodChanged{NewPod("a", "p")});
  const bool listed_later = running.views().Decisions()->decisions.size() == 1;
  const auto changes = running.views().DecisionsAfter(listed);
  running.Stop();
  REQUIRE(none);
  CHECK(none->decisions.empty());
  CHECK_FALSE(unknown);
  CHECK(listed_later);
  REQUIRE(changes);
  CHECK(changes->sequence > listed);
  REQUIRE(changes->decisions.size() == 1);
  CHECK(changes->decisions[0].gang.name == "p");
}

TEST_CASE("a reader that follows some decisions is told of these") {
  Running running;
  Lead(running.driver(), running.scheduler);
  running.Start();
  const uint64_t listed = running.views().Decisions()->sequence;
  for (const char* ns : {"a", "b"})
    for (const char* name : {"p", "q"}) running.driver().Post(cluster::PodChanged{NewPod(ns, name)});
  while (running.views().Decisions()->decisions.size() < 4) std::this_thread::yield();
  const auto all = running.views().DecisionsAfter(listed);
  const auto of_a = running.views().DecisionsAfter(listed, "a");
  const auto called_p = running.views().DecisionsAfter(listed, "", "p");
  const auto one = running.views().DecisionsAfter(listed, "b", "q");
  running.Stop();
  REQUIRE((all && of_a && called_p && one));
  CHECK(all->decisions.size() == 4);
  CHECK(of_a->decisions.size() == 2);
  CHECK(called_p->decisions.size() == 2);
  REQUIRE(one->decisions.size() == 1);
  CHECK(one->decisions[0].gang.ns == "b");
  CHECK(one->decisions[0].gang.name == "q");
  CHECK(one->sequence == all->sequence);
}

TEST_CASE("a caller that has given up is not told before others") {
  Rig rig;
  std::atomic<int> reads = 0;
  const TellingClock clock([&reads] { ++reads; });
  Driver driver(clock);
  constexpr int kMany = 40;
  std::vector<std::thread> many;
  for (int i = 0; i < kMany; ++i) many.emplace_back([&driver] { driver.views().DecisionsAfter(0); });
  for (std::thread& one : many) one.join();
  std::thread owner([&] { driver.Run(rig.scheduler, 1'000); });
  const auto told = driver.views().DecisionsAfter(0);
  const int until_told = reads;
  driver.Stop();
  owner.join();
  CHECK_FALSE(told);              // it was answered: no list has the number 0
  CHECK(until_told < kMany / 2);  // each cycle reads the clock, and tells one
}

}  // namespace
}  // namespace tutti::app
