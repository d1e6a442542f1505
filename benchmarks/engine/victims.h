// SPDX-License-Identifier: Apache-2.0
// The cases of bench-engine about victims: 500 nodes of 8 GPUs in 50 racks, full of 4,000 one-GPU pods, and gangs of a
// higher priority or of a queue that deserves all of it.
#pragma once

#include <cstddef>

namespace tutti::bench {

struct VictimTime {
  double seconds = 0;  // of the search for victims alone; of several, the longest
  size_t victims = 0;  // pods; of several searches, all
};

// A gang that would not fit if all went: the first time it is asked about, and the second.
VictimTime ProveThatNoVictimsHelp();
VictimTime ProveThatNoVictimsHelpAgain();
// A gang of 80 one-GPU members that is to be in one rack.
VictimTime MakeRoomInOneRack();
// A gang of 500 members, each of which takes a node.
VictimTime MakeRoomOnAllNodes();
// 50 gangs of 10 one-GPU members, one after another, where victims are gangs of 10 that have nothing to spare.
VictimTime MakeRoomForManyGangs();

// A gang of 500 members takes back all nodes, each of which one gang of 8 fills.
VictimTime TakeBackAllNodes();
// 50 gangs of 10 one-GPU members, one after another, take back from gangs of 10 that have nothing to spare.
VictimTime TakeBackForManyGangs();

}  // namespace tutti::bench
