// SPDX-License-Identifier: Apache-2.0
// GangBook: which gangs exist, who is in them, and which are to be considered next.
//
// Invariants
//   (1) a pod is a member of at most one gang; a gang without members does not exist;
//   (2) ready gangs are taken by priority, then age, then name.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cluster/state.h"
#include "core/gang.h"

namespace tutti::core {

class GangBook {
 public:
  GangBook(const cluster::ClusterState& state, const dialects::DialectList& dialects) : state_(state), dialects_(dialects) {}

  // Puts the pod into the gang its dialect names, moving it if that changed; takes it out of any when no dialect owns it.
  // Returns the gang it is in, or invalid.
  model::GangId Join(model::PodId pod);
  // Takes the pod out. REQUIRES: the state still knows the pod.
  void Leave(model::PodId pod);
  model::GangId GangOf(model::PodId pod) const;
  model::GangId Find(const model::GangKey& key) const;

  Gang& at(model::GangId id) { return gangs_[id.index()]; }
  const Gang& at(model::GangId id) const { return gangs_[id.index()]; }
  const std::map<model::GangKey, model::GangId>& all() const { return by_key_; }

  // Asks the dialect for the declaration again. True when it changed.
  bool Describe(model::GangId id);

  int32_t Priority(const Gang& gang) const;
  base::Millis Created(const Gang& gang) const;

  // Ready gangs. A gang is in the line at most once.
  void MarkReady(model::GangId id);
  void MarkReadyWhere(framework::Wake happened);  // gangs refused until something like this
  bool AnyReady() const { return !ready_.empty(); }
  model::GangId TakeReady();

  // Members that leave go through this first, so that charges and plans follow. Set once, at construction of the cycle.
  std::function<void(Gang&, Member&)> on_leave;

 private:
  using ReadyKey = std::tuple<int64_t, base::Millis, const model::GangKey*>;
  struct ReadyLess {
    bool operator()(const std::pair<ReadyKey, model::GangId>& a, const std::pair<ReadyKey, model::GangId>& b) const;
  };

  const cluster::ClusterState& state_;
  const dialects::DialectList& dialects_;
  std::deque<Gang> gangs_;  // a deque: references stay valid
  std::vector<model::GangId> free_;
  std::map<model::GangKey, model::GangId> by_key_;
  std::vector<model::GangId> gang_of_;  // by pod slot
  std::set<std::pair<ReadyKey, model::GangId>, ReadyLess> ready_;
  std::unordered_map<model::GangId, ReadyKey> ready_key_;
};

}  // namespace tutti::core
