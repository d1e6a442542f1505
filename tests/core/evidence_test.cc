// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/evidence.h"

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

struct Bound {
  std::string name, plan, commit;  // commit: the name of the member that is bound last
};

// Three members are needed, and there is room for two: what `bound` were bound by schedulers that died.
void FindBound(Rig& rig, const std::vector<Bound>& bound) {
  rig.AddNode("n1", 2);
  for (int i = 0; i < 4; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "3"});
  const auto uid = [&](const std::string& name) { return sim::UidOf(*rig.store.Find(sim::kPods, "default", name)); };
  for (const Bound& each : bound)
    REQUIRE(rig.store.Bind(
        {{"metadata",
          {{"name", each.name},
           {"annotations", {{kBindAnnotation, WriteEvidence(each.plan, uid(each.name), "n1", uid(each.commit))}}}}},
         {"target", {{"name", "n1"}}}}));
}

}  // namespace

TEST_CASE("A gang is half done though the last member of an earlier plan is bound, by a later plan that is not over") {
  Rig rig;
  const bool failed = GENERATE(true, false);
  FindBound(rig, {{"g-0", "1-1", "g-1"}, {"g-1", "2-1", "g-2"}});
  if (failed) rig.SetPhase("g-0", "Failed");
  rig.Restart();
  rig.Pass(5'000);
  CHECK(rig.NodeOf("g-2").empty());
  CHECK(rig.NodeOf("g-3").empty());
  rig.Pass(120'000);
  CHECK(rig.NodeOf("g-1") == "<gone>");  // undone
}

TEST_CASE("What failed of an earlier start says nothing about the present one") {
  Rig rig;
  FindBound(rig, {{"g-0", "1-1", "g-0"}, {"g-1", "2-1", "g-2"}});
  rig.SetPhase("g-0", "Failed");
  rig.Restart();
  rig.Pass(120'000);
  CHECK(rig.NodeOf("g-1") == "<gone>");
}

TEST_CASE("A gang was whole when the last member of a plan was bound by it, whatever became of that member since") {
  Rig rig;
  const bool failed = GENERATE(true, false);
  FindBound(rig, {{"g-0", "1-1", "g-1"}, {"g-1", "1-1", "g-1"}});
  if (failed) rig.SetPhase("g-1", "Failed");
  rig.Restart();
  rig.Pass(120'000);
  CHECK(rig.NodeOf("g-0") == "n1");
  CHECK(rig.NodeOf("g-2") == (failed ? "n1" : ""));
}

}  // namespace tutti::core
