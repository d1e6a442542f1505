// SPDX-License-Identifier: Apache-2.0
// NodeView and QueueView: the nodes and queues as they are shown. Amounts are in the resource's own unit, as in
// ResourceList.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/node.h"
#include "model/resource_list.h"

namespace tutti::observe {

struct NodeView {
  std::shared_ptr<const model::Node> node;  // never null
  model::ResourceList requested;            // by the pods there, and by plans being carried out
};

struct QueueView {
  enum class Kind {
    kQueue,   // charged by the members that hold or ask for something
    kCohort,  // of leaves that lend each other what they do not use
    kLeaf,    // gives quota before there are pods
    kLocal,   // of a namespace; leads to a leaf
  } kind = Kind::kQueue;
  enum class State { kOpen, kClosing, kClosed, kHold, kHoldAndDrain } state = State::kOpen;
  std::string dialect, ns, name;
  std::string parent;   // the leaf of a local queue; empty: a root
  std::string problem;  // why it cannot be used
  double weight = 1;
  int32_t priority = 0;
  bool reclaimable = false;  // others may take back what it has above its due
  double share = 0;          // kQueue: how much of its due it has. kLeaf: how much of what it could borrow it borrows
  struct Cell {
    std::string flavor, resource;
    std::optional<int64_t> limit, nominal, deserved, guarantee;  // nullopt: there is none
    int64_t used = 0, pending = 0, reserved = 0, borrowed = 0;
  };
  std::vector<Cell> cells;
  // Gangs. The last two are of queues that give quota before there are pods.
  int64_t pending = 0, starting = 0, incomplete = 0, running = 0, finished = 0, reserving = 0, admitted = 0;
};

// The place at which a list of all QueueViews continues; see core::Scheduler::AddQueues.
struct QueuesPlace {
  uint32_t slot = 0;                               // of the tree
  std::pair<std::string, std::string> after = {};  // {namespace, name} of the last leaf or local queue
  std::set<std::string> cohorts = {};              // that were told
};

}  // namespace tutti::observe
