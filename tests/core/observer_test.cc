// SPDX-License-Identifier: Apache-2.0
// What the metrics are told.
#include <map>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

class Counts final : public observe::Observer {
 public:
  void OnAttempt(std::string_view, std::string_view result, int64_t members, double) override {
    attempts[std::string(result)] += members;
  }
  void OnBound(double waited_seconds, int64_t tries) override {
    waited.push_back(waited_seconds);
    attempts_of.push_back(tries);
  }
  void OnFilledUp() override { ++filled_up; }
  void OnCycle(double, int64_t applied, const Gauges& now) override {
    ++cycles;
    events += applied;
    gauges = now;
    if (now.refused) refused = *now.refused;
  }

  void OnHappening(const Happening& now) override {
    constexpr const char* kWords[] = {"waits", "bound", "started", "undone", "evicted", "gone"};
    ++happened[fmt::format("{} {}{}{}", now.gang.name, kWords[static_cast<int>(now.step)],
                           now.step == Step::kWaits ? " " : "", now.reason)];
  }

  std::map<std::string, int64_t> happened;  // "g waits NoPlacement"
  std::map<std::string, int64_t> attempts;
  std::vector<double> waited;
  std::vector<int64_t> attempts_of;
  int64_t filled_up = 0, cycles = 0, events = 0;
  Gauges gauges;
  std::vector<RefusedPods> refused;  // as last told
};

struct ObservedRig : Rig {
  ObservedRig() { Observe(&counts); }
  // Its gates are gone.
  void Ungate(const std::string& name) {
    REQUIRE(store.Modify(sim::kPods, "default", name, [](sim::Json& pod) { pod["spec"].erase("schedulingGates"); }));
  }
  using Attempts = std::map<std::string, int64_t>;
  Counts counts;
};

TEST_CASE_METHOD(ObservedRig, "Every cycle and every event counts, and the gauges are those of the last cycle") {
  AddNode("n1", 4);
  Settle();
  const int64_t cycles = counts.cycles, events = counts.events;
  CHECK(counts.gauges.nodes == 1);
  AddNode("n2", 4);
  AddNode("n3", 4);
  Step();
  CHECK(counts.cycles == cycles + 1);
  CHECK(counts.events == events + 2);
  CHECK(counts.gauges.nodes == 3);
}

TEST_CASE_METHOD(ObservedRig, "What happens to a gang is told step by step, and its pods count by what refuses them") {
  AddNode("n1", 1);
  AddGang("g", 2, 2);
  Settle();
  CHECK(counts.happened["g waits NoPlacement"] >= 1);
  REQUIRE(counts.refused.size() >= 1);
  CHECK(counts.refused.back().plugins == std::vector<std::string>{"NodeResourcesFit"});
  CHECK(counts.refused.back().pods == 2);
  AddNode("n2", 4);
  Settle();
  CHECK(counts.happened["g bound"] == 2);
  CHECK(counts.happened["g started"] == 1);
  CHECK(counts.happened["g gone"] == 0);
  CHECK(counts.refused.back().pods == 0);
  for (const char* name : {"g-0", "g-1"}) Delete(name);
  Settle();
  CHECK(counts.happened["g gone"] == 1);
  CHECK(counts.happened.size() == 4);
}

TEST_CASE_METHOD(ObservedRig, "A search that was cut off is not repeated at each event, and is when that may help") {
  for (const char* name : {"n1", "n2"}) AddNode(name, 10);
  AddNode("other", 1, 0, {{"kubernetes.io/hostname", "other"}});
  const sim::Json elsewhere = {{"nodeSelector", {{"kubernetes.io/hostname", "other"}}}};
  AddPod("most", {.cpu = "500m", .spec = elsewhere});
  for (int i = 0; i < 20; ++i) AddPod(fmt::format("short-{}", i), {.cpu = "1m", .spec = elsewhere});
  Settle();
  for (int i = 0; i < 20; ++i)
    AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "20", .cpu = fmt::format("{}m", 900 + i * 7919 % 200)});
  Settle();
  REQUIRE_THAT(Waits("g-0"), Catch::Contains("was cut short"));
  const int64_t before = counts.attempts["unschedulable"];
  for (int i = 0; i < 20; ++i) {
    Delete(fmt::format("short-{}", i));
    Pass(100);
  }
  CHECK(counts.attempts["unschedulable"] - before <= 2 * 20);  // of 20 members, in 2 s
  Delete("most");
  Pass(4'000);
  CHECK(NodeOf("g-0") != "");
}

TEST_CASE_METHOD(ObservedRig, "Members above the minimum are attempted, and fill the gang up") {
  AddNode("n1", 3);
  AddGang("g", 5, 2);
  Pass(1'000);
  CHECK(Bound() == 3);
  CHECK(counts.attempts["scheduled"] == 3);
  CHECK(counts.attempts["unschedulable"] >= 2);
  CHECK(counts.filled_up == 1);
  CHECK(counts.attempts_of == std::vector<int64_t>{1, 1, 1});
}

TEST_CASE_METHOD(ObservedRig, "Of a gang whose minimum is gated, or does not exist, nothing is attempted") {
  AddNode("n1", 9);
  AddPod("alone", {.gate = "later"});
  AddPod("g-0", {.gang = "g", .min = "2"});
  AddPod("g-1", {.gang = "g", .min = "2", .gate = "later"});
  AddGang("h", 1, 2);
  Pass(30'000);
  CHECK(counts.attempts == Attempts());
  Ungate("g-1");
  Settle();
  CHECK(counts.attempts == Attempts{{"scheduled", 2}});
}

TEST_CASE_METHOD(ObservedRig, "A pod's wait begins when its last gate goes") {
  AddNode("n1", 1);
  AddPod("p", {.gate = "later"});
  Pass(8'000);
  Ungate("p");
  Settle();
  AddPod("q", {});
  Pass(5'000);
  AddNode("n2", 1);
  Settle();
  REQUIRE(counts.waited.size() == 2);
  CHECK(counts.waited[0] < 1);
  CHECK(counts.waited[1] >= 5);
  CHECK(counts.attempts_of == std::vector<int64_t>{1, 2});
}

}  // namespace
}  // namespace tutti::core
