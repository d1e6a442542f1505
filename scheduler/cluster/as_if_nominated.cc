// SPDX-License-Identifier: Apache-2.0
#include "cluster/as_if_nominated.h"

namespace tutti::cluster {

bool CountsFor(const ClusterState& state, model::PodId nominated, const NominatedFor& asked) {
  const PodEntry& entry = state.pod(nominated);
  return !entry.reserved && entry.pod->spec->priority >= asked.priority && !asked.is_own(nominated);
}

std::vector<Placement> NominatedPods(const ClusterState& state, const NominatedFor& asked) {
  std::vector<Placement> nominated;
  for (const auto& [id, name] : state.nominations().nodes()) {
    if (!CountsFor(state, id, asked)) continue;
    if (const model::NodeId node = state.snapshot().FindNode(name))
      nominated.push_back({{}, node, state.pod(id).pod_class.get()});
  }
  return nominated;
}

AsIfNominated::AsIfNominated(WhatIf& what_if, const std::vector<Placement>& pods, model::NodeId only)
    : scope_(what_if) {
  for (const Placement& one : pods)
    if (!only || one.node == only) what_if.Place(one.member, *one.pod_class, one.node);
}

}  // namespace tutti::cluster
