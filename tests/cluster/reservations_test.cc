// SPDX-License-Identifier: Apache-2.0
// Reservations: room that is held for a pod, or for the promise of one.
#include "cluster/state.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using model::NodeId;
using model::PodId;
using tests::json;

const json kWorker = {{"requests", {{"cpu", "3"}}}};

struct World {
  World() { cluster.AddNode({{"name", "n"}}); }
  ClusterState& state() { return cluster.state(); }
  NodeId node() { return cluster.Node("n"); }
  int64_t FreeCpu() { return cluster.snapshot().Free(node(), kCpuColumn); }

  tests::TestCluster cluster;
};

}  // namespace

TEST_CASE("a reservation weighs until it is given up, and so does what the pod takes there") {
  World world;
  ClusterState& state = world.state();
  const int64_t free = world.FreeCpu();
  const PodId pod = world.cluster.AddPod(kWorker);
  state.Reserve(pod, world.node(), {{{"default/claim", "volume"}}});
  CHECK(world.FreeCpu() == free - 3000);
  CHECK(world.cluster.snapshot().storage().TakenFor("default/claim") != nullptr);
  CHECK(state.pod(pod).node == world.node());
  CHECK(state.pod(pod).takings == Takings{{{"default/claim", "volume"}}});
  CHECK(state.pods_on(world.node()).size() == 1);
  CHECK(state.reserved() == 1);
  state.Audit();

  state.TakeImproved();
  state.Release(pod);
  CHECK(world.FreeCpu() == free);
  CHECK_FALSE(state.pod(pod).reserved);
  CHECK(state.TakeImproved().by_volumes);
  CHECK(state.reserved() == 0);
  state.Release(pod);  // there is none to give up
  state.Audit();
}

TEST_CASE("a reservation ends when its pod is seen bound, wherever that is, or goes") {
  World world;
  ClusterState& state = world.state();
  world.cluster.AddNode({{"name", "elsewhere"}});
  const auto reserve = [&](const char* name) {
    json brief = kWorker;
    brief["name"] = name;
    const PodId pod = world.cluster.AddPod(brief);
    state.Reserve(pod, world.node());
    return pod;
  };
  const auto bind = [&](const char* name, const char* node) {
    json brief = kWorker;
    brief["name"] = name;
    brief["node"] = node;
    world.cluster.AddPod(brief);
  };
  const PodId there = reserve("there"), elsewhere = reserve("elsewhere"), goes = reserve("goes");
  CHECK(state.reserved() == 3);
  bind("there", "n");
  bind("elsewhere", "elsewhere");
  state.DropPod(goes);
  CHECK(state.reserved() == 0);
  CHECK(state.pod(there).node == world.node());
  CHECK(state.pod(elsewhere).node == world.cluster.Node("elsewhere"));
  CHECK(state.pods_on(world.node()).size() == 1);
  state.Audit();
}

TEST_CASE("a promise is placed as a pod is, no name finds it, and a pod of its class takes over what it holds") {
  World world;
  ClusterState& state = world.state();
  const int64_t free = world.FreeCpu();
  const PodId like = world.cluster.AddPod(kWorker);
  const PodId promise = state.Promise(*state.pod(like).pod);
  CHECK(state.pod_count() == 1);
  CHECK(state.pod(promise).pod_class == state.pod(like).pod_class);
  CHECK(state.pod(promise).pod->meta.uid != state.pod(like).pod->meta.uid);
  CHECK(state.FindPod("default", state.pod(promise).pod->meta.name) != promise);
  state.Reserve(promise, world.node(), {{{"default/claim", "volume"}}});
  state.Audit();

  const uint64_t log = world.cluster.snapshot().log_end();
  state.TakeImproved();
  state.HandOver(promise, like);
  CHECK(world.cluster.snapshot().log_end() == log);  // nothing changes on the node
  CHECK(state.TakeImproved().nodes.empty());
  CHECK(state.pod(like).node == world.node());
  CHECK(state.pod(like).takings == Takings{{{"default/claim", "volume"}}});
  CHECK_FALSE(state.pod(promise).reserved);
  state.DropPod(promise);
  CHECK(world.FreeCpu() == free - 3000);
  CHECK(state.pod_count() == 1);
  state.Audit();
  state.DropPod(like);
  CHECK(world.FreeCpu() == free);
  CHECK(state.reserved() == 0);
  state.Audit();
}

}  // namespace tutti::cluster
