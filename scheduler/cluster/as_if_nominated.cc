// SPDX-License-Identifier: Apache-2.0
#include "cluster/as_if_nominated.h"

namespace tutti::cluster {

std::vector<Placement> NominatedPods(const ClusterState& state, const NominatedFor& asked) {
  std::vector<Placement> nominated;
  for (const model::PodId id : state.nominations().pods()) {
    const PodEntry& entry = state.pod(id);
    if (entry.reservation || entry.pod->spec->priority < asked.priority || asked.is_own(id)) continue;
    if (const model::NodeId node = state.snapshot().FindNode(entry.pod->nominated_node))
      nominated.push_back({{}, node, entry.pod_class.get()});
  }
  return nominated;
}

AsIfNominated::AsIfNominated(WhatIf& what_if, const std::vector<Placement>& pods, model::NodeId only)
    : scope_(what_if) {
  for (const Placement& one : pods)
    if (!only || one.node == only) what_if.Place(one.member, *one.pod_class, one.node);
}

}  // namespace tutti::cluster
