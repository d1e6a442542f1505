// SPDX-License-Identifier: Apache-2.0
// Ends: when what is on the nodes ends: at the limit that is declared for it; or, where there is none, after as long as
// gangs like it have run of late. Instants are wall times. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "core/gangs/gang_book.h"
#include "core/gangs/run_lengths.h"

namespace tutti::core {

// Some pods of a gang that end together, or a lone pod.
struct End {
  base::Millis at_ms = 0;
  model::GangKey of;
  model::GangId gang;  // nothing of it is left on nodes then; invalid: some is, or it is a lone pod
  std::vector<model::PodId> pods;
  RunLengths::Guess like_it = {};  // no runs: a limit is declared
};

struct Ends {
  std::vector<End> known;  // by time; what should have ended ends now
  // Those with pods whose end is not known: the ones with most such pods first. More than a hundred are not listed.
  std::vector<model::GangKey> unknown;
  int64_t pods = 0;  // that were looked at
};

// Returns when the pod, which runs from that instant, ends at the latest; 0: no limit is declared.
base::Millis LimitOf(const model::GangSpec* gang, const model::Pod& pod, base::Millis from_ms);

// Returns the queue that the gang names, be it one that gives quota before there are pods; "": none.
const std::string& NamedQueue(const model::GangSpec& gang);

// Returns what gangs like the pod's have in common with it. `gang`: null: of a lone pod that is settled.
RunLengths::Shape ShapeOf(const std::string& dialect, const model::GangSpec* gang, const std::string& role,
                          const model::Pod& pod);

// Looks at all pods that have room on nodes, but for those that each node has (of DaemonSets, and static ones). Those
// of gangs that `asks` is true for end now. O(pods).
Ends FindEnds(const cluster::ClusterState& state, const GangBook& book, const RunLengths& lengths, base::Millis now_ms,
              const std::function<bool(model::GangId)>& asks);

}  // namespace tutti::core
