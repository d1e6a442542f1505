// SPDX-License-Identifier: Apache-2.0
// A search within a speculation: evict these, does the whole gang fit?
#include <fmt/format.h>

#include "cluster/what_if.h"
#include "core/place/planner.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::core {
namespace {

using cluster::WhatIf;
using model::PodId;
using tests::json;

json Gpus(const std::string& count) { return {{"cpu", "1"}, {"nvidia.com/gpu", count}}; }

// Two racks of two nodes, all GPUs of which are taken; and a gang of four that is to be in one rack.
struct FullRacks {
  FullRacks() : profiles{plugins::DefaultProfile("s")}, rankings(profiles, cluster.snapshot(), size_t{64} << 20) {
    for (const char* name : {"a0", "a1", "b0", "b1"}) {
      cluster.AddNode({{"name", name},
                       {"labels", {{"rack", std::string(1, name[0])}}},
                       {"allocatable", {{"nvidia.com/gpu", "2"}}}});
      there[name] = cluster.AddPod({{"name", fmt::format("on-{}", name)}, {"node", name}, {"requests", Gpus("2")}});
    }
    gang.key = {"test", "default", "g"};
    gang.spec.topology.required = "rack";
    for (int i = 0; i < 4; ++i) {
      members[i].id = model::MemberId(static_cast<uint32_t>(i));
      members[i].pod =
          cluster.AddPod({{"name", fmt::format("g-{}", i)}, {"schedulerName", "s"}, {"requests", Gpus("1")}});
      gang.members.push_back(&members[i]);
    }
    requirement.min = 4;
  }

  // The question.
  PlanResult PlaceWithout(const std::vector<PodId>& victims) {
    const WhatIf::Scope scope(planner.what_if());
    for (const PodId victim : victims) planner.what_if().Evict(victim);
    return planner.PlaceRequired(gang, gang.members, requirement);
  }

  // The ranking of the members' class equals one made now, without the speculation.
  void CheckAsFresh() {
    cluster.state().Audit();
    const auto& pod_class = cluster.state().pod(members[0].pod).pod_class;
    framework::Ranking& followed = rankings.For(pod_class);
    framework::Ranking fresh(profiles.front(), *pod_class, cluster.snapshot());
    CHECK(followed.feasible_count() == fresh.feasible_count());
    CHECK(std::ranges::equal(followed.Rooms(), fresh.Rooms()));
    CHECK(followed.Best() == fresh.Best());
    CHECK(followed.Explain().Sentence() == fresh.Explain().Sentence());
  }

  tests::TestCluster cluster;
  std::vector<framework::Profile> profiles;
  Rankings rankings;
  Planner planner{cluster.state(), rankings};
  std::map<std::string, PodId> there;  // by node
  std::array<Member, 4> members;
  Gang gang;
  Requirement requirement;
};

}  // namespace

TEST_CASE("Evict these, does the whole gang fit? It is asked in a speculation, and nothing is left of that") {
  FullRacks racks;
  CHECK_FALSE(racks.PlaceWithout({}).fits);
  CHECK_FALSE(racks.PlaceWithout({racks.there["a0"]}).fits);
  CHECK_FALSE(racks.PlaceWithout({racks.there["a0"], racks.there["b0"]}).fits);  // as many GPUs, in two racks
  racks.CheckAsFresh();

  const PlanResult found = racks.PlaceWithout({racks.there["a0"], racks.there["b0"], racks.there["b1"]});
  REQUIRE(found.fits);
  REQUIRE(found.placements.size() == 4);
  for (const cluster::Placement& placement : found.placements)
    CHECK(racks.cluster.snapshot().node(placement.node).name.starts_with("b"));
  racks.CheckAsFresh();
  CHECK_FALSE(racks.PlaceWithout({}).fits);
}

TEST_CASE("A search within a speculation sees what is placed there too") {
  FullRacks racks;
  WhatIf& what_if = racks.planner.what_if();
  const WhatIf::Scope scope(what_if);
  what_if.Evict(racks.there["b0"]);
  what_if.Evict(racks.there["b1"]);
  CHECK(racks.PlaceWithout({}).fits);
  const PodId other = racks.cluster.state().FindPod("default", "g-0");
  {
    const WhatIf::Scope taken(what_if);
    what_if.Place({}, *racks.cluster.state().pod(other).pod_class, racks.cluster.Node("b0"));
    CHECK_FALSE(racks.PlaceWithout({}).fits);
  }
  CHECK(racks.PlaceWithout({}).fits);
}

}  // namespace tutti::core
