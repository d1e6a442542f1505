// SPDX-License-Identifier: Apache-2.0
// Victims: a small cluster full of pods of low priority, and a gang of a higher one. The engine and the exact
// solver each say how many gangs and pods have to go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

namespace tutti::exact {

struct VictimQuestion {
  struct Node {
    int cpu = 0, gpu = 0, rack = 0;  // allocatable
  };
  struct Pod {
    int node = 0, cpu = 0, gpu = 0;
    int gang = -1;      // -1: it has none
    bool head = false;  // of its gang
  };
  struct Wanted {
    int count = 0, cpu = 0, gpu = 0;
  };
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<int> minima;  // of the gangs at work
  std::vector<Wanted> wanted;
  bool one_rack = false;
};

// Returns up to 8 nodes with pods, and a gang of up to 8 members in up to 3 classes.
VictimQuestion RandomVictims(base::Random& random);

struct VictimCount {
  bool fits = false;
  int gangs = 0;  // that lose all
  int pods = 0;
};

VictimCount AskEngine(const VictimQuestion& question);
// Returns the fewest gangs, and then the fewest pods; nullopt: they were not found in that time. Throws
// std::runtime_error if the solver fails.
std::optional<VictimCount> AskSolver(const VictimQuestion& question, int limit_s);

// Puts so many questions to both and prints how they differ. False: the engine found no way where there is one, its
// victims are worse than the best by more than one pod, or they are the best in fewer than 95 of 100; or the solver
// answered fewer than nine in ten in that time each.
bool CheckVictims(int questions, uint64_t seed, int limit_s);

}  // namespace tutti::exact
