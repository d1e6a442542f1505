// SPDX-License-Identifier: Apache-2.0
// Nominations: pods that wait while room is kept for them on a node (status.nominatedNodeName): a preemptor whose
// victims are leaving, or a pod for which an autoscaler made the node, whichever scheduler they name.
//
// A nominated pod takes room from pods of its priority and lower, and from no others (upstream:
// RunFilterPluginsWithNominatedPods). So it is not among what a node's pods ask for. The planner makes it so for the
// length of a question: cluster/as_if_nominated.h. Once the pod is reserved or bound, it weighs as any other, and its
// nomination says nothing any more.
#pragma once

#include <absl/container/btree_set.h>

#include "model/ids.h"
#include "model/pod.h"

namespace tutti::cluster {

class Nominations {
 public:
  // The pod waits, and has a node that is kept for it.
  static bool Names(const model::Pod& pod) {
    return !pod.nominated_node.empty() && !pod.bound() && !pod.done() && !pod.meta.deleting();
  }

  void Put(model::PodId pod) { pods_.insert(pod); }
  void Drop(model::PodId pod) { pods_.erase(pod); }

  bool empty() const { return pods_.empty(); }
  const absl::btree_set<model::PodId>& pods() const { return pods_; }

 private:
  absl::btree_set<model::PodId> pods_;  // few: mostly each has cost an eviction
};

}  // namespace tutti::cluster
