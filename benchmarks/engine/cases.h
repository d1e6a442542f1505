// SPDX-License-Identifier: Apache-2.0
// The cases of bench-engine. Each makes a World of its own.
#pragma once

#include <cstddef>

namespace tutti::bench {

enum class Mix {
  kIdentical,  // one class under the default plugins
  kDistinct,   // 1,000 classes: sizes, selectors, tolerations, preferences
  kSpread,     // spread over zones and hosts; preferred and required anti-affinity by host
};

// Seconds per pod: from the event applied to the bind emitted, and from its answer and the pod seen bound to nothing
// left to do.
struct PerPod {
  double decided = 0, followed = 0;
};
// `pods` lone pods on so many nodes, each of which holds `before` pods already.
PerPod SecondsPerPod(Mix mix, size_t nodes, size_t before, size_t pods);

// Seconds from the last member's arrival to the last bind of a gang of one-GPU members on nodes of eight, the members
// to be in one of 50 racks where `rack` is set.
double SecondsToStartGang(size_t members, size_t nodes, const char* rack);

struct Proof {
  double first_seconds = 0;   // from the last member's arrival to the refusal
  double later_attempts = 0;  // how often it was tried again while 1,000 things happened that do not matter to it
};
Proof ProveThatGpusDoNotFit();

// Seconds for so many one-GPU jobs on nodes of eight.
double SecondsForOneGpuJobs(size_t jobs, size_t nodes);

struct Waiting {
  double share_of_core = 0;          // CPU seconds a second, with 1,000 events a second, one at a time
  double slowest_start_seconds = 0;  // the longest cycle in which a gang started
  size_t started = 0;                // gangs' members bound meanwhile
};
Waiting WaitingGangs(size_t gangs, size_t classes, size_t seconds);

// Bytes of the process with so many nodes and bound pods. REQUIRES: nothing else was measured in this process before.
size_t ResidentBytes(size_t nodes, size_t bound_pods);

}  // namespace tutti::bench
