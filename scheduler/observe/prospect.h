// SPDX-License-Identifier: Apache-2.0
// Prospect: what would become of a gang if it were there now. Outlook: the prospects of all gangs that were asked
// about, one after another: each finds the room that those before it have left. WhatIf: what is asked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gang.h"
#include "model/gang_draft.h"
#include "model/resource_list.h"
#include "observe/reason.h"

namespace tutti::observe {

// That a queue may have so much at most. Resources that are not named keep their limits.
struct LimitChange {
  std::string dialect, queue;  // no dialect: the only one that has a queue of this name
  // By flavor. "": of a queue without flavors, or of the only flavor that has the resource.
  std::map<std::string, model::ResourceList> amounts;
};

// That the gangs are there besides all others; or, if a node is named, that it is drained; or, if it is set, the
// change; or nothing: when could the gang that waits start?
struct WhatIf {
  std::vector<model::GangDraft> gangs;
  std::string drained;
  std::optional<LimitChange> limit = std::nullopt;
  std::optional<model::GangKey> waits = std::nullopt;
};

// When a gang that waits could start, if nothing else comes. What runs ends at the limit that is declared for it; or,
// where there is none, after as long as gangs like it have run.
struct StartEstimate {
  enum class Basis {
    kNone,      // there is no estimate, and `why` says why
    kDeclared,  // by limits alone: then at the latest
    kSeen,      // some of what ends before has no limit
  } basis = Basis::kNone;
  struct End {
    model::GangKey of;
    base::Millis at_ms = 0;    // wall
    int64_t like_it = 0;       // so many gangs like it have ended of late; 0: its limit is declared
    base::Millis took_ms = 0;  // the median of how long those ran
  };
  base::Millis at_ms = 0;               // wall
  std::vector<End> awaits;              // whose end it waits for, the last one first
  std::vector<model::GangKey> endless;  // kNone: in its way, and no end is known; the one of most pods first
  std::string why;                      // kNone: a sentence, which names no gang
};

struct Prospect {
  enum class Verdict {
    kFits,             // it would start now
    kNeedsVictims,     // it would start once `victims` are gone, and it has the right to that
    kWaitsForQueue,    // its queue would not take it now
    kWaitsForNodes,    // nodes have too little free for it now
    kWaitsForMembers,  // it needs more members than there would be
    kNever,            // as the nodes and its queue are, it could not start even if they were empty; or it is invalid
    kUndecided,        // the search was cut off, or the question was too large to come to this gang
  };
  // Members of one role on one node.
  struct Place {
    std::string role, node;
    int64_t pods = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  // A pod that would be evicted.
  struct Victim {
    std::string ns, pod, node;
    std::string gang;      // its name, in that namespace; of a pod without a gang the pod's
    bool reclaim = false;  // its queue has more than its share; else its priority is lower
    friend bool operator==(const Victim&, const Victim&) = default;
  };

  model::GangKey gang;
  std::string queue;
  int32_t priority = 0;
  int64_t min_member = 1, members = 0;
  Verdict verdict = Verdict::kUndecided;
  std::shared_ptr<const Reason> why;  // null: it would start now, or with victims; or nothing is known
  std::string message;                // the reason in sentences
  std::vector<Place> places;          // of the minimum, by role and node; where it would start
  std::vector<Victim> victims;        // by node and name
  bool breaks = false;                // of a drained node: with these members gone it has less than its minimum
  std::optional<StartEstimate> start;  // of one that waits for its queue or for nodes
  std::vector<std::string> notes;     // in what the answer may differ from what the scheduler would do
};

// Returns "fits", "needs-victims", "waits-for-queue", "waits-for-nodes", "waits-for-members", "never", "undecided".
std::string_view Word(Prospect::Verdict verdict);

struct Outlook {
  std::vector<Prospect> prospects;  // in the order in which they were looked at: by priority, then as they were given
  std::vector<std::string> notes;   // about the question as a whole
};

}  // namespace tutti::observe
