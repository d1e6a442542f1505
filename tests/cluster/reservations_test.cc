// SPDX-License-Identifier: Apache-2.0
// Reservations: room that is held for a member, with its pod or before there is one.
#include "cluster/reservations.h"

#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using model::NodeId;
using model::PodId;
using model::ReservationId;
using tests::json;

const json kWorker = {{"requests", {{"cpu", "3"}}}};

// A node, and the class of pods that are still to come.
struct Promise {
  Promise() {
    cluster.AddNode({{"name", "n"}});
    const PodId like = cluster.AddPod(kWorker);
    worker = state().pod(like).pod_class;
    state().DropPod(like);
  }
  ClusterState& state() { return cluster.state(); }
  NodeId node() { return cluster.Node("n"); }
  int64_t FreeCpu() { return cluster.snapshot().Free(node(), kCpuColumn); }

  tests::TestCluster cluster;
  std::shared_ptr<const PodClass> worker;
};

}  // namespace

TEST_CASE(
    "a reservation for a member without a pod weighs, and the pod adopts "
    "it when it comes") {
  Promise promise;
  ClusterState& state = promise.state();
  const int64_t free = promise.FreeCpu();
  const ReservationId held = state.Reserve(promise.worker, promise.node(), {{{"default/claim", "volume"}}});
  CHECK(promise.FreeCpu() == free - 3000);
  CHECK(promise.cluster.snapshot().storage().TakenFor("default/claim") != nullptr);
  CHECK(state.reservations().count() == 1);
  CHECK(state.pods_on(promise.node()).empty());
  state.Audit();

  const PodId pod = promise.cluster.AddPod(kWorker);
  const uint64_t log = promise.cluster.snapshot().log_end();
  state.Adopt(held, pod);
  CHECK(promise.cluster.snapshot().log_end() == log);  // nothing changes on the node
  CHECK(promise.FreeCpu() == free - 3000);
  CHECK(state.pod(pod).node == promise.node());
  CHECK(state.pod(pod).reservation == held);
  CHECK(state.pod(pod).takings == Takings{{{"default/claim", "volume"}}});
  CHECK(state.pods_on(promise.node()).size() == 1);
  state.Audit();

  state.TakeImproved();
  state.Release(held);
  CHECK(promise.FreeCpu() == free);
  CHECK_FALSE(state.pod(pod).reservation);
  CHECK(state.TakeImproved().by_volumes);
  CHECK(state.reservations().count() == 0);
  state.Audit();
}

TEST_CASE(
    "a reservation that no pod has adopted ends by its release, or with "
    "its node") {
  Promise promise;
  ClusterState& state = promise.state();
  const int64_t free = promise.FreeCpu();
  const ReservationId first = state.Reserve(promise.worker, promise.node());
  state.Reserve(promise.worker, promise.node());
  state.TakeImproved();
  state.Release(first);
  CHECK(promise.FreeCpu() == free - 3000);
  CHECK(state.TakeImproved().nodes == std::vector{promise.node()});
  CHECK(state.Reserve(promise.worker, promise.node()) == first);  // its slot is free
  state.Audit();
  CHECK(state.DropNode("n"));
  CHECK(state.reservations().count() == 0);
  state.Audit();
}

TEST_CASE(
    "an adopted reservation ends when its pod is seen bound, wherever "
    "that is, or goes") {
  Promise promise;
  ClusterState& state = promise.state();
  promise.cluster.AddNode({{"name", "elsewhere"}});
  const auto reserve = [&](const char* name) {
    json brief = kWorker;
    brief["name"] = name;
    const PodId pod = promise.cluster.AddPod(brief);
    state.Adopt(state.Reserve(promise.worker, promise.node()), pod);
    return pod;
  };
  const auto bind = [&](const char* name, const char* node) {
    json brief = kWorker;
    brief["name"] = name;
    brief["node"] = node;
    promise.cluster.AddPod(brief);
  };
  const PodId there = reserve("there"), elsewhere = reserve("elsewhere"), goes = reserve("goes");
  CHECK(state.reservations().count() == 3);
  bind("there", "n");
  bind("elsewhere", "elsewhere");
  state.DropPod(goes);
  CHECK(state.reservations().count() == 0);
  CHECK(state.pod(there).node == promise.node());
  CHECK(state.pod(elsewhere).node == promise.cluster.Node("elsewhere"));
  CHECK(state.pods_on(promise.node()).size() == 1);
  state.Audit();
}

TEST_CASE("a promise is placed as a pod is, no name finds it, and a pod of its class takes over what it holds") {
  Promise world;
  ClusterState& state = world.state();
  const int64_t free = world.FreeCpu();
  const PodId like = world.cluster.AddPod(kWorker);
  const PodId promise = state.Promise(*state.pod(like).pod);
  CHECK(state.pod_count() == 1);
  CHECK(state.pod(promise).pod_class == state.pod(like).pod_class);
  CHECK(state.pod(promise).pod->meta.uid != state.pod(like).pod->meta.uid);
  CHECK(state.FindPod("default", state.pod(promise).pod->meta.name) != promise);
  state.Adopt(state.Reserve(state.pod(promise).pod_class, world.node(), {{{"default/claim", "volume"}}}), promise);
  state.Audit();

  const uint64_t log = world.cluster.snapshot().log_end();
  state.TakeImproved();
  state.HandOver(promise, like);
  CHECK(world.cluster.snapshot().log_end() == log);  // nothing changes on the node
  CHECK(state.TakeImproved().nodes.empty());
  CHECK(state.pod(like).node == world.node());
  CHECK(state.pod(like).takings == Takings{{{"default/claim", "volume"}}});
  CHECK_FALSE(state.pod(promise).reservation);
  state.DropPod(promise);
  CHECK(world.FreeCpu() == free - 3000);
  CHECK(state.pod_count() == 1);
  state.Audit();
  state.DropPod(like);
  CHECK(world.FreeCpu() == free);
  CHECK(state.reservations().count() == 0);
  state.Audit();
}

}  // namespace tutti::cluster
