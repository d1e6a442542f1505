// SPDX-License-Identifier: Apache-2.0
// Assigner: chooses flavors for a gang, role by role and group of resources by group, in the order of the queue's
// flavors. One thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/flavor.h"
#include "queue/policies/kueue/assignment.h"
#include "queue/policies/kueue/preemption.h"

namespace tutti::queue {

using Flavors = std::map<std::string, model::Flavor>;

struct AssignQuestion {
  const model::GangAsk* ask = nullptr;
  QueueId leaf;
  std::vector<int64_t> counts;         // by role, instead of the roles' own; empty: those
  FlavorProgress progress;             // where the search goes on; empty: it starts again
  const Assignment* within = nullptr;  // no other flavors than these; null: all
  const std::set<std::string>* without = nullptr;  // none of these flavors; null: all
  const Holding* replaces = nullptr;   // the gang that this one is a larger form of: the same flavors, and the rest
};

class Assigner {
 public:
  // Finds victims that make room for a preemptor; empty: there are none.
  using Victims = std::function<std::vector<Victim>(const Preemptor&)>;

  // All must outlive this. `by_fair_share`: preemption goes by fair shares. `old_words`: see KueueRules.
  Assigner(const PreemptionArena& arena, const Flavors& flavors, bool by_fair_share, bool old_words,
           Victims find_victims)
      : arena_(arena),
        flavors_(flavors),
        by_fair_share_(by_fair_share),
        old_words_(old_words),
        find_victims_(std::move(find_victims)) {}

  Assignment Assign(const AssignQuestion& question) const;

 private:
  class Search;
  const PreemptionArena& arena_;
  const Flavors& flavors_;
  bool by_fair_share_, old_words_;
  Victims find_victims_;
};

}  // namespace tutti::queue
