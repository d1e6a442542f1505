// SPDX-License-Identifier: Apache-2.0
// What the metrics are told.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

class Counts final : public observe::Observer {
 public:
  void OnFilledUp() override { ++filled_up; }
  void OnCycle(double, int64_t applied, const Gauges& now) override {
    ++cycles;
    events += applied;
    gauges = now;
  }

  int64_t filled_up = 0, cycles = 0, events = 0;
  Gauges gauges;
};

struct ObservedRig : Rig {
  ObservedRig() {
    observer = &counts;
    Restart();
  }
  Counts counts;
};

TEST_CASE_METHOD(ObservedRig, "Every cycle and every event counts, and the gauges are those of the last cycle") {
  AddNode("n1", 4);
  Settle();
  const int64_t filled_up = 0, cycles = counts.cycles, events = counts.events;
  CHECK(counts.gauges.nodes == 1);
  AddNode("n2", 4);
  AddNode("n3", 4);
  Step();
  CHECK(counts.cycles == cycles + 1);
  CHECK(counts.events == events + 2);
  CHECK(counts.gauges.nodes == 3);
}

TEST_CASE_METHOD(ObservedRig, "Members above the minimum fill the gang up") {
  AddNode("n1", 3);
  AddGang("g", 5, 2);
  Pass(1'000);
  CHECK(Bound() == 3);
  CHECK(counts.filled_up == 1);
}

}  // namespace
}  // namespace tutti::core
