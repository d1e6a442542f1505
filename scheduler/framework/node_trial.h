// SPDX-License-Identifier: Apache-2.0
// NodeTrial: asks the filters of a ranking about one node while pods leave it and come to it, and refreshes nothing.
//
// It borrows the ranking's states and tells them of the pods directly. Once as many pods of each class came as left,
// and the snapshot is as before, the ranking says what it said before. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "framework/ranking.h"

namespace tutti::framework {

class NodeTrial {
 public:
  // REQUIRES: `ranking` has caught up with the snapshot, outlives this, and is not refreshed before all is as before.
  explicit NodeTrial(Ranking& ranking);

  // A pod came to the node (+1) or left it (−1), in the snapshot already.
  void Told(const cluster::PodClass& pod_class, model::NodeId n, int32_t by);

  // What the filters say of the node now, one after another, as Ranking::Explain(n) does. REQUIRES: it is present.
  Verdict Check(model::NodeId n) const;
  // In full. kAllFilters: also of a node that was left out before any filter is asked.
  enum class Ask { kAsRanking, kAllFilters };
  NodeVerdict Explain(model::NodeId n, Ask ask) const;

  // Where pods without affinity terms and claims change a node's answer by the amounts that they ask for, and by
  // nothing else: such a node takes the class exactly when these are free there, if no other filter refuses it.
  bool decided_by_amounts() const { return decided_by_amounts_; }
  const std::vector<std::pair<model::ResourceId, int64_t>>& amounts() const { return amounts_; }
  // Check, and whether it is amounts alone that the node refuses the class for.
  Verdict Check(model::NodeId n, bool* for_amounts) const;
  std::string LackOf(model::ResourceId column) const;  // a reason, in upstream's words

 private:
  bool LeftOut(model::NodeId n) const;
  bool IsSkipped(size_t filter) const { return filter < skipped_.size() && skipped_[filter]; }

  Ranking::Impl& ranking_;
  std::vector<char> skipped_;  // filters that are not asked; by place
  bool decided_by_amounts_ = false;
  std::vector<std::pair<model::ResourceId, int64_t>> amounts_;
  Dirty unread_;
};

}  // namespace tutti::framework
