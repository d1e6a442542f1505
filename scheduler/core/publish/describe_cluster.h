// SPDX-License-Identifier: Apache-2.0
// ClusterDescriber: the nodes and queues, as they are shown to people and programs. It tells them in parts, so that no
// cycle waits for a long list.
#pragma once

#include <deque>

#include "cluster/state.h"
#include "core/admit/queues.h"
#include "core/admit/quota_desk.h"
#include "core/publish/tallies.h"
#include "observe/cluster_view.h"

namespace tutti::core {

class ClusterDescriber {
 public:
  ClusterDescriber(const cluster::ClusterState& state, const Queues& queues, const QuotaDesk& quota,
                   const Tallies& tallies)
      : state_(state), queues_(queues), quota_(quota), tallies_(tallies) {}

  // Adds the nodes from slot `*place` on, and moves `place`. Returns true if those were the last.
  bool AddNodes(uint32_t* place, std::deque<observe::NodeView>* nodes) const;
  // Adds the queues likewise: first those of the tree, then those that give quota before there are pods.
  bool AddQueues(observe::QueuesPlace* place, std::deque<observe::QueueView>* queues) const;

 private:
  using QueueName = QuotaCounts::QueueName;
  observe::QueueView Describe(queue::QueueId id) const;
  observe::QueueView DescribeLeaf(const QueueName& name) const;
  observe::QueueView DescribeCohort(queue::QueueId id) const;
  // Adds what the leaf gives of each flavor and resource, and what gangs have of it by `sums`.
  static void AddCells(const model::LeafQueueSpec& leaf, const QuotaCounts::Sums& sums, observe::QueueView* view);
  // Adds the leaf or local queue, and those cohorts above the leaf that were not added before.
  void AddSharing(const QueueName& name, const dialects::Dialect& dialect, observe::QueuesPlace* place,
                  std::deque<observe::QueueView>* queues) const;

  const cluster::ClusterState& state_;
  const Queues& queues_;
  const QuotaDesk& quota_;
  const Tallies& tallies_;
};

}  // namespace tutti::core
