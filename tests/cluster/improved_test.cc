// SPDX-License-Identifier: Apache-2.0
#include "cluster/state.h"
#include "cluster/what_if.h"
#include "tests/support/catch.h"

namespace tutti::cluster {
namespace {

std::shared_ptr<const model::Node> Node(const std::string& name, int64_t cpu) {
  auto node = std::make_shared<model::Node>();
  node->meta.name = name;
  node->allocatable.Set(model::kCpu, cpu);
  return node;
}

std::shared_ptr<const model::Pod> Pod(const std::string& name, const std::string& node, int64_t cpu) {
  auto spec = std::make_shared<model::PodSpec>();
  spec->requests.Set(model::kCpu, cpu);
  auto pod = std::make_shared<model::Pod>();
  pod->meta.name = pod->meta.uid = name;
  pod->node_name = node;
  pod->spec = std::move(spec);
  return pod;
}

}  // namespace

TEST_CASE("room that was won is told once: nodes that came, changed, or were left") {
  ClusterState state;
  const model::NodeId a = state.ApplyNode(Node("a", 4)).id, b = state.ApplyNode(Node("b", 4)).id;
  CHECK(state.TakeImproved().nodes == std::vector{a, b});
  const model::PodId pod = state.ApplyPod(Pod("p", "a", 3)).id;
  state.ApplyNode(Node("b", 4));  // a heartbeat
  CHECK_FALSE(state.AnyImproved());

  state.ApplyPod(Pod("p", "a", 1));  // resized
  state.ApplyPod(Pod("p", "a", 2));
  const ClusterState::Improved resized = state.TakeImproved();
  CHECK(resized.nodes == std::vector{a});
  CHECK(resized.by_pods);

  const model::PodId waiting = state.ApplyPod(Pod("w", "", 1)).id;
  {
    WhatIf(state).Place({}, *state.pod(waiting).pod_class, b);
  }
  state.Reserve(waiting, b);
  CHECK_FALSE(state.AnyImproved());
  state.Release(waiting);
  CHECK(state.TakeImproved().nodes == std::vector{b});

  state.ApplyNode(Node("b", 5));
  const ClusterState::Improved changed = state.TakeImproved();
  CHECK(changed.nodes == std::vector{b});
  CHECK_FALSE(changed.by_pods);
  state.DropPod(pod);
  CHECK(state.TakeImproved().nodes == std::vector{a});
}

}  // namespace tutti::cluster
