// SPDX-License-Identifier: Apache-2.0
// Apart: places a gang of which very many parts are each to be in one domain (subgroups), one part after another: the
// largest first, each in the tightest domain that takes all of it. Nothing is taken back.
//
// Parts of one class and one size fit so if they fit at all, and where the domains do not hold as many that is proved.
// Cost: O(nodes + parts · domains + members · nodes of a domain). Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <map>
#include <vector>

#include "cluster/what_if.h"
#include "core/place/problem.h"
#include "core/place/rankings.h"

namespace tutti::core {

class Apart {
 public:
  // REQUIRES: no member opens nodes for another (FilterState::Reach::kCluster).
  Apart(cluster::WhatIf& what_if, Rankings& rankings, const Problem& problem, const std::vector<Rule>& rules);

  // Places the gang. kImpossible is a proof; kUnknown also where a rule is not of the kind that this is for.
  SearchOutcome Run(std::vector<cluster::Placement>* placements);

 private:
  struct Asked {  // all members of one class, which share its room
    const MemberKind* of;
    int64_t count;
  };
  struct PlacedTogether {
    const Rule* rule;
    Problem members;
    std::vector<Asked> asked;
  };
  struct Place {  // a domain of a level, or what of it lies within a wider one
    model::Symbol value;
    std::vector<model::NodeId> nodes;                   // sorted
    absl::flat_hash_map<model::ClassId, int64_t> room;  // as far as it is known
  };

  struct Room {
    int64_t fits = 0;  // members, if no class were in another's way
    int64_t most = 0;  // for members of one class, were there as many: the less, the tighter
  };

  using Values = absl::InlinedVector<model::Symbol, 2>;  // a domain of each rule for all members

  bool Sort();
  bool Crowded();
  std::map<Values, std::vector<model::NodeId>> WholeDomains() const;
  bool TryWithin(const std::vector<model::NodeId>* within, std::vector<cluster::Placement>* placements);
  bool Put(const PlacedTogether& part);
  int64_t RoomIn(Place& place, const MemberKind& kind);
  Room RoomIn(Place& place, const std::vector<Asked>& asked);
  static std::vector<Asked> ByClass(const std::vector<MemberKind>& kinds);

  cluster::WhatIf& what_if_;
  Rankings& rankings_;
  const Problem& problem_;
  const std::vector<Rule>& rules_;
  std::vector<const Rule*> whole_;  // the rules for all members
  std::vector<PlacedTogether> parts_;
  Problem rest_;                                                   // members in no part
  bool all_ = true;                                                // every member is demanded
  absl::flat_hash_map<model::Symbol, std::vector<Place>> places_;  // by level; for the try under way
};

}  // namespace tutti::core
