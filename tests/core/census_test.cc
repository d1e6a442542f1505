// SPDX-License-Identifier: Apache-2.0
// A gang's census is taken when something about the gang changed, not each time that it is asked for. The rig
// compares what is kept with what there is after each step.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

uint64_t CensusesOfBinding(int members) {
  Rig rig;
  rig.AddNode("n", 200);
  rig.AddGang("g", members, members);
  rig.Settle();
  CHECK(rig.Bound() == static_cast<size_t>(members));
  return rig.scheduler->Done().censuses;
}

}  // namespace

TEST_CASE("a gang that is bound is counted a few times, however many members it has") {
  const uint64_t few = CensusesOfBinding(8);
  CHECK(few > 0);
  CHECK(few <= 8);
  CHECK(CensusesOfBinding(64) <= few + 1);
}

TEST_CASE("a pod of its own is counted once for each of its changes") {
  Rig rig;
  rig.AddNode("n", 200);
  for (int i = 0; i < 100; ++i) rig.AddPod(fmt::format("p{}", i), {});
  rig.Settle();
  CHECK(rig.Bound() == 100);
  CHECK(rig.scheduler->Done().censuses <= 300);  // it came, has a place held, and its bind is acknowledged
}

TEST_CASE("while nothing about a gang changes, its members are not counted again") {
  Rig rig;
  rig.AddNode("n", 1);
  for (int i = 0; i < 20; ++i) rig.AddGang(fmt::format("g{}", i), 3, 3);
  rig.Pass(10'000);
  const uint64_t before = rig.scheduler->Done().censuses;
  const auto after = [&] { return rig.scheduler->Done().censuses - before; };
  rig.AddNode("other", 1);
  rig.Pass(10'000);  // all of them are considered again, and told new figures; that changes their pods
  CHECK(after() <= 20);
}

TEST_CASE("a node that comes back under the name of one that went holds its pods again") {
  Rig rig;
  rig.AddNode("n", 4);
  rig.AddGang("g", 3, 3);
  rig.Settle();
  rig.lingers = true;
  rig.DeleteNode("n");
  rig.Step();
  rig.AddNode("n", 4);
  rig.Step();
  CHECK(rig.Bound() == 3);
}

}  // namespace tutti::core
