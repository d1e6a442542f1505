// SPDX-License-Identifier: Apache-2.0
// Nominations: pods that wait while room is kept for them on a node (status.nominatedNodeName): a preemptor whose
// victims are leaving, or a pod for which an autoscaler made the node, whichever scheduler they name.
//
// A nominated pod takes room from pods of its priority and lower, and from no others (upstream:
// RunFilterPluginsWithNominatedPods). So it is not among what a node's pods ask for. The planner makes it so for the
// length of a question: cluster/as_if_nominated.h. Once the pod is reserved or bound, it weighs as any other, and its
// nomination says nothing any more.
//
// A node may be kept for a pod before the pod itself says so, or no longer be kept though it still does: see
// ClusterState::KeepNode.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <span>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/pod.h"

namespace tutti::cluster {

class Nominations {
 public:
  // A node may be kept for it: it waits.
  static bool MayHaveNode(const model::Pod& pod) { return !pod.bound() && !pod.done() && !pod.meta.deleting(); }

  // `node` empty: none is kept for it.
  void Put(model::PodId pod, const std::string& node);

  // The node that is kept for the pod; empty: none.
  const std::string& NodeOf(model::PodId pod) const;
  // The pods that this node is kept for. In the same order for the same history; valid until the next change.
  std::span<const model::PodId> For(const std::string& node) const;

  bool empty() const { return nodes_.empty(); }
  // Each with its node. Few: mostly each has cost an eviction.
  const absl::btree_map<model::PodId, std::string>& nodes() const { return nodes_; }

 private:
  absl::btree_map<model::PodId, std::string> nodes_;
  absl::flat_hash_map<std::string, std::vector<model::PodId>> pods_;  // by node
};

}  // namespace tutti::cluster
