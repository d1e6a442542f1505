// SPDX-License-Identifier: Apache-2.0
// Fit: what a gang needs of nodes to be admitted before its pods exist.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/snapshot.h"
#include "core/gangs/gang.h"

namespace tutti::core {

// AutoFits: what gangs need of nodes, and those of which an autoscaler decides it. One thread.
class AutoFits {
 public:
  // `labels`: of nodes that an autoscaler adds.
  explicit AutoFits(std::vector<std::string> labels) : labels_(std::move(labels)) {}

  // Returns what is declared, decided where that is Fit::kAuto by whether some node has one of the labels; never kAuto.
  model::Fit Of(const model::GangSpec& spec, const cluster::Snapshot& nodes) const;
  // Tells whether the gang, which no queue gives quota before there are pods, is admitted without places. Places that
  // it has are kept.
  bool IsAdmittedUnplaced(const Gang& gang, const cluster::Snapshot& nodes) const;

  // Notes what the gang declares.
  void Follow(model::GangId id, const model::GangSpec& spec);
  void Forget(model::GangId id) { gangs_.erase(id); }
  // Returns all of them if an autoscaler came or went since this was last asked.
  std::vector<model::GangId> TakeChanged(const cluster::Snapshot& nodes);

 private:
  bool SeesAutoscaler(const cluster::Snapshot& nodes) const;

  const std::vector<std::string> labels_;
  std::set<model::GangId> gangs_;
  bool seen_ = false;  // some autoscaler
};

}  // namespace tutti::core
