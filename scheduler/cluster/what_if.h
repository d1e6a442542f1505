// SPDX-License-Identifier: Apache-2.0
// WhatIf: a speculation on a snapshot. Dropping it undoes it.
//
// It changes the snapshot in place and keeps what it did, so that rankings follow it through the change log at the cost
// of the nodes touched. Thread safety: the snapshot's. Invariants
//   (1) Rewind(m) restores exactly the state at Here() == m;
//   (2) of several on a snapshot, the last begun is undone first, and nothing else changes it meanwhile.
#pragma once

#include <vector>

#include "cluster/snapshot.h"
#include "cluster/state.h"

namespace tutti::cluster {

struct Placement {
  model::PodId pod;
  model::NodeId node;
  const PodClass* pod_class = nullptr;  // never null; outlives the WhatIf
  Takings takings = {};
};

class WhatIf {
 public:
  using Mark = size_t;

  explicit WhatIf(Snapshot& base) : base_(base) {}
  ~WhatIf() { Rewind(0); }
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // REQUIRES: the pod is not placed yet; the caller checked that it fits.
  void Place(model::PodId pod, const PodClass& pod_class, model::NodeId node, Takings takings = {}) {
    base_.Place(pod_class, node, takings);
    placements_.push_back({pod, node, &pod_class, std::move(takings)});
  }

  Mark Here() const { return placements_.size(); }
  void Rewind(Mark to) {
    for (; placements_.size() > to; placements_.pop_back()) {
      const Placement& last = placements_.back();
      base_.Remove(*last.pod_class, last.node, last.takings);
    }
  }

  const std::vector<Placement>& placements() const { return placements_; }
  // What was found, and the snapshot as it was before.
  std::vector<Placement> Take() && {
    std::vector<Placement> taken = placements_;
    Rewind(0);
    return taken;
  }

 private:
  Snapshot& base_;
  std::vector<Placement> placements_;
};

}  // namespace tutti::cluster
