// SPDX-License-Identifier: Apache-2.0
// Fit: what a gang needs of nodes to be admitted before its pods exist.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "cluster/snapshot.h"
#include "core/gangs/gang.h"

namespace tutti::core {

// Labels of nodes that an autoscaler adds: Karpenter's, and the one by which people say so of any other's.
inline constexpr const char* kAutoscaledLabels[] = {"karpenter.sh/nodepool", "tutti.dev/autoscaled"};

// Returns what is declared, decided where that is Fit::kAuto by whether some node has one of those labels; never kAuto.
model::Fit FitOf(const model::GangSpec& spec, const cluster::Snapshot& nodes);

// Tells whether the gang, which no queue gives quota before there are pods, is admitted without places. Places that it
// has are kept.
bool IsAdmittedUnplaced(const Gang& gang, const cluster::Snapshot& nodes);

// AutoFits: the gangs of which an autoscaler decides what they need of nodes. One thread.
class AutoFits {
 public:
  // Notes what the gang declares.
  void Follow(model::GangId id, const model::GangSpec& spec);
  void Forget(model::GangId id) { gangs_.erase(id); }
  // Returns all of them if an autoscaler came or went since this was last asked.
  std::vector<model::GangId> TakeChanged(const cluster::Snapshot& nodes);

 private:
  std::set<model::GangId> gangs_;
  bool seen_ = false;  // some autoscaler
};

}  // namespace tutti::core
