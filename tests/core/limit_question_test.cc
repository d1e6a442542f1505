// SPDX-License-Identifier: Apache-2.0
// Which gangs of a queue would start if its limit were another one, and that nothing comes of the question.
#include "tests/core/questions.h"
#include "volcano_rig.h"

namespace tutti::core {
namespace {

using Verdict = observe::Prospect::Verdict;

// A node of 16 cpu, a queue of 4, and gangs of 4, 6 and 8 that came in this order.
struct LimitRig : VolcanoRig {
  LimitRig() {
    AddQueue("q", 4);
    AddQueue("other", 4);
    for (const auto& [name, members] : {std::pair("four", 4), std::pair("six", 6), std::pair("eight", 8)}) {
      AddGroup(name, members, "q", {{"minResources", sim::Json::object()}});
      AddMembers(name, 0, members);
      Settle();
      Pass(1'000);
    }
    Settle();
  }
};

TEST_CASE("a higher limit lets the gangs start that it has room for, and that nodes have room for") {
  LimitRig rig;
  CHECK(VerdictsOf(AskedLimit(rig, "q", 4)) == "six:never eight:never");
  CHECK(VerdictsOf(AskedLimit(rig, "q", 10)) == "six:fits eight:waits-for-queue");
  const auto all = AskedLimit(rig, "q", 18);
  CHECK(VerdictsOf(all) == "six:fits eight:waits-for-nodes");
  CHECK(all->prospects[0].places.size() == 1);
  CHECK(all->prospects[1].message.find("Missing: 2 cpu") != std::string::npos);
  // The limit is the old one: what is freed now lets no gang start.
  rig.DeleteMembers("four", 0, 1);
  rig.Settle();
  CHECK(rig.Bound() == 3);
}

TEST_CASE("a limit below what is asked for is said to be too low, and what runs is not touched") {
  LimitRig rig;
  CHECK(VerdictsOf(AskedLimit(rig, "q", 0)) == "six:never eight:never");
  CHECK(rig.Bound() == 4);
}

TEST_CASE("a queue in which nothing waits has no prospects, and one that is not there no answer") {
  LimitRig rig;
  CHECK(VerdictsOf(AskedLimit(rig, "other", 100)).empty());
  CHECK(!AskedLimit(rig, "missing", 100));
  CHECK(!AskedLimit(rig, "q", 100, "another-dialect"));
  CHECK(VerdictsOf(AskedLimit(rig, "q", 10, "volcano")) == "six:fits eight:waits-for-queue");
}

}  // namespace
}  // namespace tutti::core
