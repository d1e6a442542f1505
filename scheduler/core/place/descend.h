// SPDX-License-Identifier: Apache-2.0
// Descend: finds a placement by trying nodes member after member, and taking back. For gangs whose members open nodes
// for each other (affinity, spread): there a placement may be reached in one order and not in another.
//
// No state is tried twice: a state is how many of each kind are on each node. Complete within its budget. Scheduler
// thread only.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <vector>

#include "cluster/what_if.h"
#include "core/place/problem.h"
#include "core/place/rankings.h"

namespace tutti::core {

class Descend {
 public:
  // `opens`: some member may open nodes for another.
  Descend(cluster::WhatIf& what_if, Rankings& rankings, const Problem& problem, bool opens, Budget& budget);

  // Searches on `nodes` only, when not null. `spots` are in the order in which they can be placed.
  SearchOutcome Run(const std::vector<model::NodeId>* nodes, std::vector<Spot>* spots);

 private:
  bool Step();
  bool Hopeless();
  std::vector<model::NodeId> Candidates(size_t kind);
  int64_t Lacking(const Demand& demand) const;

  cluster::WhatIf& what_if_;
  Rankings& rankings_;
  const Problem& problem_;
  Budget& budget_;
  const std::vector<model::NodeId>* nodes_ = nullptr;
  const bool opens_;
  std::vector<Spot> spots_;
  Counts placed_;
  size_t oldest_kind_ = 0;  // where none opens nodes, kinds are placed one after another
  uint64_t hash_ = 0;
  absl::flat_hash_set<uint64_t> seen_;
};

}  // namespace tutti::core
