// SPDX-License-Identifier: Apache-2.0
// GangVictims: which pods of gangs may go for a lone pod, so that no gang loses a part of its minimum: what a whole
// gang can spare, pod by pod, or the only pod that it has at work. What leaves already counts as gone. Scheduler thread
// only.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <span>
#include <vector>

#include "core/gangs/gang_book.h"
#include "core/gangs/spare.h"
#include "core/place/victim_table.h"

namespace tutti::core {

class GangVictims {
 public:
  // Both must outlive it.
  GangVictims(const cluster::ClusterState& state, GangBook& book) : state_(state), book_(book) {}

  // Begins a question: pods of gangs may go if they are below this priority. What gangs can spare is found again.
  void Begin(int32_t below) {
    below_ = below;
    of_.clear();
    kept_some_ = false;
  }
  // Tells whether some pod was taken out since then, for its gang cannot spare it.
  bool kept_some() const { return kept_some_; }
  // Tells whether some of these are of gangs.
  bool Concerns(std::span<const PossibleVictim> pods) const;
  // Takes those out that may not go: all that are left may go together. REQUIRES: they are on one node.
  void KeepWhatMayGo(std::vector<PossibleVictim>* pods);

 private:
  struct OfGang {
    bool lone = false;  // one pod is at work: it may go
    Spare spare;
    absl::flat_hash_map<model::PodId, size_t> part_of;  // parts of one pod
  };
  bool IsOfGang(model::PodId pod) const;
  const OfGang& Of(model::GangId id);

  const cluster::ClusterState& state_;
  GangBook& book_;
  int32_t below_ = 0;
  bool kept_some_ = false;
  absl::flat_hash_map<model::GangId, OfGang> of_;
};

}  // namespace tutti::core
