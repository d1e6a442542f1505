// SPDX-License-Identifier: Apache-2.0
// Gangs whose searches are cut off: what they cost all other gangs, and each other.
#include "core/gangs/retry_schedule.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

constexpr int kMembers = 20;

// Members that were attempted and not placed: of all cycles, and the most of one.
class PerCycle final : public observe::Observer {
 public:
  void OnAttempt(std::string_view, std::string_view result, int64_t members, double) override {
    if (result != "unschedulable") return;
    all += members;
    now_ += members;
  }
  void OnCycle(double, int64_t, const Gauges&) override { most = std::max(most, std::exchange(now_, 0)); }

  int64_t all = 0, most = 0;

 private:
  int64_t now_ = 0;
};

// Two nodes a pool, and one more that is held. Gangs that wait there have unlike members and almost fit.
struct CutOffRig : Rig {
  CutOffRig() {
    Observe(&counts);
    for (const char* pool : {"a", "v"})
      for (int i = 0; i < 2; ++i) AddNode(fmt::format("{}{}", pool, i), 10, 0, {{"pool", pool}});
    AddNode("other", 1, 0, {{"pool", "other"}});
    AddNode("more", 10, 0, {{"pool", "v"}, {"more", "yes"}});
    AddPriorityClass("high", 100);
    AddPod("holder", {.cpu = "10", .spec = {{"nodeSelector", {{"more", "yes"}}}}});
    Settle();
  }
  static sim::Json Of(const std::string& pool) { return {{"nodeSelector", {{"pool", pool}}}}; }
  // `shift` tells gangs' members apart.
  void AddUnlike(const std::string& gang, const std::string& pool, int shift, const std::string& priority = {}) {
    for (int i = 0; i < kMembers; ++i)
      AddPod(fmt::format("{}-{}", gang, i), {.gang = gang,
                                             .min = std::to_string(kMembers),
                                             .cpu = fmt::format("{}m", 901 + i * 7919 % 200 + (i % 2 ? shift : -shift)),
                                             .priority_class = priority,
                                             .spec = Of(pool)});
  }
  // A pod that is in no gang's way comes and goes. As far as the scheduler knows, that may help gangs that wait.
  void Stir() {
    const std::string name = fmt::format("stir-{}", stirred_++);
    AddPod(name, {.cpu = "1m", .spec = Of("other")});
    Settle();
    Delete(name);
    Pass(100);
  }
  PerCycle counts;

 private:
  int stirred_ = 0;
};

TEST_CASE("Of n that always ask, each has a turn in n times 200 ms, and none twice in a second") {
  for (const uint32_t n : {1, 4, 5, 6, 40}) {
    RetrySchedule turns;
    std::vector<base::Millis> made_ms(n, 0);
    for (base::Millis now = 1; now < 20'000; ++now)
      for (uint32_t i = 0; i < n; ++i) {
        const model::GangId id(i);
        if (!turns.Take(id, made_ms[i], now)) continue;
        REQUIRE(now >= made_ms[i] + 1'000);
        REQUIRE(now <= made_ms[i] + std::max<base::Millis>(1'000, 200 * n) + 1'000);
        turns.OnCutOff(id, now);
        made_ms[i] = now;
      }
    CHECK(std::ranges::min(made_ms) > 10'000);
    for (uint32_t i = 0; i < n; ++i) turns.Leave(model::GangId(i));
    CHECK(turns.size() == 0);
    CHECK(!turns.DueAt());
  }
}

TEST_CASE_METHOD(CutOffRig,
                 "Of gangs whose searches were cut off, those ahead in the line take no turn from the others") {
  for (int i = 0; i < 5; ++i) AddUnlike(fmt::format("first-{}", i), "a", i + 1, "high");
  AddUnlike("last", "v", 0);
  Pass(2'000);
  for (const char* gang : {"first-0", "first-4", "last"})
    REQUIRE_THAT(Waits(fmt::format("{}-0", gang)), Catch::Contains("was cut short"));
  for (int i = 0; i < 20; ++i) Stir();
  Delete("holder");
  for (int i = 0; i < 30; ++i) Stir();
  CHECK(NodeOf("last-0") != "");
}

TEST_CASE_METHOD(CutOffRig, "Nor do gangs that come, and go, and come again") {
  AddUnlike("last", "v", 0);
  Pass(2'000);
  REQUIRE_THAT(Waits("last-0"), Catch::Contains("was cut short"));
  AddUnlike("comes", "a", 0, "high");
  Settle();
  Delete("holder");
  for (int i = 0; i < 30; ++i) {
    for (int k = 0; k < kMembers; ++k) Delete(fmt::format("comes-{}", k));
    AddUnlike("comes", "a", i, "high");
    Stir();
  }
  CHECK(NodeOf("last-0") != "");
}

TEST_CASE_METHOD(CutOffRig,
                 "However many searches are to be cut off, each has a cycle of its own, and binds leave before") {
  AddPod("lone", {.priority_class = "high", .spec = Of("v")});
  for (int i = 0; i < 10; ++i) AddUnlike(fmt::format("g{}", i), "a", i);
  for (int i = 0; i < 3 && NodeOf("lone").empty(); ++i) Step();
  CHECK(NodeOf("lone") != "");
  CHECK(Waits("g9-0").empty());
  Pass(2'000);
  CHECK(counts.most == kMembers);
  for (int i = 0; i < 10; ++i) CHECK_THAT(Waits(fmt::format("g{}-0", i)), Catch::Contains("was cut short"));

  Restart();  // another one takes over
  Pass(2'000);
  CHECK(counts.most == kMembers);
}

TEST_CASE_METHOD(CutOffRig,
                 "Figures that are brought up to date are no reason to repeat searches that were cut off faster") {
  for (int i = 0; i < 10; ++i) AddUnlike(fmt::format("g{}", i), "a", i);
  Pass(40'000);
  AddNode("elsewhere", 1, 0, {{"pool", "other"}});  // "0/N nodes" is another N a second later
  Settle();
  counts.all = 0;
  Pass(1'900);
  CHECK(counts.all <= 10 * kMembers);  // five searches a second
  Pass(10'000);
  for (int i = 0; i < 10; ++i) CHECK_THAT(Waits(fmt::format("g{}-0", i)), Catch::Contains("0/7 nodes"));
}

}  // namespace
}  // namespace tutti::core
