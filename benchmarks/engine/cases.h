// SPDX-License-Identifier: Apache-2.0
// The cases of bench-engine. Each uses a World of its own.
#pragma once

#include <cstddef>

namespace tutti::bench {

enum class Mix {
  kIdentical,  // one class under the default plugins
  kDistinct,   // 1,000 classes: sizes, selectors, tolerations, preferences
  kSpread,     // spread over zones and hosts; preferred and required anti-affinity by host
};

// Seconds per pod: `decided` from applying the event to emitting the bind; `followed` from its answer and the bound pod
// until no work is left.
struct PerPod {
  double decided = 0, followed = 0;
};
// Measures `pods` lone pods on so many nodes, each of which already has `before` pods.
PerPod SecondsPerPod(Mix mix, size_t nodes, size_t before, size_t pods);

// Measures the seconds from a gang's last member to its last bind. Members have one GPU, nodes have eight. With `rack`
// set, all members must be in one of 50 racks.
double SecondsToStartGang(size_t members, size_t nodes, const char* rack);

struct Proof {
  double first_seconds = 0;   // from the last member's arrival to the refusal
  double later_attempts = 0;  // tries during 1,000 later events that do not matter to the gang
};
Proof ProveThatGpusDoNotFit();

// Measures the seconds for so many one-GPU jobs on nodes of eight.
double SecondsForOneGpuJobs(size_t jobs, size_t nodes);

struct Waiting {
  double share_of_core = 0;          // CPU seconds a second, with 1,000 events a second, one at a time
  double slowest_start_seconds = 0;  // the longest cycle in which a gang started
  size_t started = 0;                // members of gangs that were bound meanwhile
};
Waiting WaitingGangs(size_t gangs, size_t classes, size_t seconds);

enum class Hopeless {
  kByAmounts,   // each node also has a pod of higher priority: it is proven that no victims help
  kByAffinity,  // the gangs want to be near a pod that is nowhere: nothing is proven
};
struct Searches {
  double share_of_core = 0;  // CPU seconds a second, with 100 pods a second that end, and as many that start
  double searches = 0;       // for victims, a second
};
// Measures what so many waiting gangs cost, each of its own shape, that have a higher priority than 4,000 pods on 500
// nodes and would not fit without them either.
Searches GangsWithoutVictims(Hopeless why, size_t gangs, size_t seconds);

// Returns the seconds to choose the victims of one of so many lone pods of so many classes. All 5,000 nodes are full
// with 10 pods of lower priority each.
double SecondsPerPreemption(size_t classes, size_t pods);
// Returns the seconds to find out that a pod has no room even with all 4,000 possible victims on 400 nodes gone.
double SecondsToFindNoVictims();

// Returns the resident bytes of the process with so many nodes and bound pods. REQUIRES: this process has measured
// nothing else.
size_t ResidentBytes(size_t nodes, size_t bound_pods);

}  // namespace tutti::bench
