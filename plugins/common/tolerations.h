// SPDX-License-Identifier: Apache-2.0
// Tolerations: a pod's tolerations compiled to symbols. Immutable.
#pragma once

#include <vector>

#include "cluster/snapshot.h"
#include "model/pod_spec.h"

namespace tutti::plugins {

class Tolerations {
 public:
  Tolerations(const std::vector<model::Toleration>& list, cluster::SymbolTable& symbols);

  // Tells whether some toleration matches, as kube-scheduler's ToleratesTaint. Comparison operators match nothing.
  bool Tolerates(const cluster::TaintEntry& taint) const;

 private:
  // An invalid symbol matches anything.
  struct Entry {
    model::Symbol key, value, effect;
  };
  std::vector<Entry> entries_;
};

// The taint effects, interned once for each state.
struct TaintEffects {
  explicit TaintEffects(cluster::SymbolTable& symbols)
      : no_schedule(symbols.Intern("NoSchedule")),
        prefer_no_schedule(symbols.Intern("PreferNoSchedule")),
        no_execute(symbols.Intern("NoExecute")) {}
  bool Repels(const cluster::TaintEntry& taint) const {
    return taint.effect == no_schedule || taint.effect == no_execute;
  }

  model::Symbol no_schedule, prefer_no_schedule, no_execute;
};

}  // namespace tutti::plugins
