// SPDX-License-Identifier: Apache-2.0
// Reservations that stand in for pods which leave: of each resource a node holds the larger of the two.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/random.h"
#include "cluster/what_if.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using model::GangId;
using model::PodId;
using tests::json;

json Asks(int cpu, int gpu) {
  return {{"requests", {{"cpu", std::to_string(cpu)}, {"nvidia.com/gpu", std::to_string(gpu)}}}};
}

struct OneNode {
  OneNode() { cluster.AddNode({{"name", "n"}, {"allocatable", {{"nvidia.com/gpu", "8"}}}}); }
  PodId Bind(int cpu, int gpu) {
    json brief = Asks(cpu, gpu);
    brief["node"] = "n";
    return cluster.AddPod(brief);
  }
  PodId Reserve(int cpu, int gpu, GangId of) {
    const PodId pod = cluster.AddPod(Asks(cpu, gpu));
    state().Reserve(pod, cluster.Node("n"), {}, of);
    return pod;
  }
  ClusterState& state() { return cluster.state(); }
  int64_t Held(const char* resource) {
    return cluster.snapshot().requested(cluster.snapshot().resources().Column(resource))[cluster.Node("n").index()];
  }
  tests::TestCluster cluster;
};

constexpr GangId kGang{7}, kOther{8};

TEST_CASE("while a victim leaves, its node holds the larger of it and of what stands in for it, by resource") {
  OneNode one;
  const PodId victim = one.Bind(2, 8);
  one.state().SetVictim(victim, kGang);
  CHECK(one.Held("nvidia.com/gpu") == 8);
  one.Reserve(6, 4, kGang);
  CHECK(one.Held("cpu") == 6000);
  CHECK(one.Held("nvidia.com/gpu") == 8);
  CHECK(one.Held("pods") == 1);
  one.state().Audit();

  SECTION("and what another gang has reserved there counts besides") {
    one.Reserve(1, 0, kOther);
    CHECK(one.Held("cpu") == 7000);
    CHECK(one.Held("pods") == 2);
    one.state().Audit();
  }
  SECTION("and what the gang alone has once it is gone") {
    one.state().DropPod(victim);
    CHECK(one.Held("cpu") == 6000);
    CHECK(one.Held("nvidia.com/gpu") == 4);
    one.state().Audit();
  }
  SECTION("and both, if it is to stay after all") {
    one.state().SetVictim(victim, {});
    CHECK(one.Held("cpu") == 8000);
    CHECK(one.Held("nvidia.com/gpu") == 12);
    one.state().Audit();
  }
  SECTION("and its room for the gang is held in a speculation without it") {
    {
      WhatIf what_if(one.state());
      what_if.Evict(victim);
      CHECK(one.Held("cpu") == 6000);
      CHECK(one.Held("nvidia.com/gpu") == 4);
    }
    CHECK(one.Held("nvidia.com/gpu") == 8);
    one.state().Audit();
  }
}

TEST_CASE("what was reserved before the victim was chosen stands in for it too") {
  OneNode one;
  const PodId victim = one.Bind(3, 0);
  one.Reserve(4, 0, kGang);
  CHECK(one.Held("cpu") == 7000);
  one.state().SetVictim(victim, kGang);
  CHECK(one.Held("cpu") == 4000);
  one.state().Audit();
}

TEST_CASE("a node that goes takes along victims and what stands in for them, and its successor begins without them") {
  OneNode one;
  const PodId victim = one.Bind(3, 0);
  one.state().SetVictim(victim, kGang);
  one.Reserve(4, 0, kGang);
  one.state().DropNode("n");
  one.state().Audit();
  CHECK_FALSE(one.state().pod(victim).victim_of.valid());
  one.cluster.AddNode({{"name", "n"}});
  CHECK(one.Held("cpu") == 3000);
  one.state().Audit();
}

// A node's pods and reservations, counted in the plainest way.
struct Recount {
  struct Thing {
    int cpu = 0, gpu = 0;
    std::optional<GangId> victim_of, reserved_for;
  };
  int64_t Held(int Thing::* amount) const {
    int64_t held = 0;
    std::map<uint32_t, std::pair<int64_t, int64_t>> both;
    for (const auto& [id, thing] : things) {
      if (thing.victim_of)
        both[thing.victim_of->value].first += thing.*amount;
      else if (thing.reserved_for)
        both[thing.reserved_for->value].second += thing.*amount;
      else
        held += thing.*amount;
    }
    for (const auto& [gang, sides] : both) held += std::max(sides.first, sides.second);
    return held;
  }
  std::map<PodId, Thing> things;
};

TEST_CASE("whatever comes, goes and leaves, a node holds what a recount says") {
  base::Random random(1);
  for (int round = 0; round < 40; ++round) {
    OneNode one;
    Recount recount;
    const auto any = [&]() -> PodId {
      auto at = recount.things.begin();
      std::advance(at, random.Below(recount.things.size()));
      return at->first;
    };
    for (int step = 0; step < 60; ++step) {
      const int cpu = static_cast<int>(random.Below(4)), gpu = static_cast<int>(random.Below(3));
      const GangId gang(static_cast<uint32_t>(random.Below(2)));
      const uint64_t what = recount.things.empty() ? 0 : random.Below(5);
      if (what == 0) {
        recount.things[one.Bind(cpu, gpu)] = {cpu, gpu, {}, {}};
      } else if (what == 1) {
        recount.things[one.Reserve(cpu, gpu, gang)] = {cpu, gpu, {}, gang};
      } else if (const PodId pod = any(); what == 2) {
        one.state().DropPod(pod);
        recount.things.erase(pod);
      } else if (Recount::Thing& thing = recount.things.at(pod); thing.reserved_for) {
        one.state().Release(pod);
        recount.things.erase(pod);
      } else {
        const bool leaves = !thing.victim_of;
        one.state().SetVictim(pod, leaves ? gang : GangId());
        thing.victim_of = leaves ? std::optional(gang) : std::nullopt;
      }
      one.state().Audit();
      REQUIRE(one.Held("cpu") == 1000 * recount.Held(&Recount::Thing::cpu));
      REQUIRE(one.Held("nvidia.com/gpu") == recount.Held(&Recount::Thing::gpu));
      if (recount.things.empty()) continue;
      WhatIf what_if(one.state());
      const PodId gone = any();
      what_if.Evict(gone);
      Recount without = recount;
      without.things.erase(gone);
      REQUIRE(one.Held("cpu") == 1000 * without.Held(&Recount::Thing::cpu));
    }
  }
}

}  // namespace
}  // namespace tutti::cluster
