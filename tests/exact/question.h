// SPDX-License-Identifier: Apache-2.0
// Question: a small cluster and a gang, or a stream of gangs, in plain numbers. For the engine it becomes pods and
// nodes, and for the solver equations. Neither sees the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace tutti::exact {

struct QuestionNode {
  int cpu = 0, gpu = 0;      // free
  int gpu_total = 0;         // a node with all of these free is whole
  int rack = -1, zone = -1;  // -1: no such label
  int pool = 0;
};

enum class Level { kNode, kRack, kZone };

struct QuestionClass {
  int count = 0, cpu = 0, gpu = 0;
  int pool = -1;      // only nodes of this pool; -1: any
  bool port = false;  // wants the one host port that all such classes of the gang want
  int slice = 0;      // so many members make a slice, which is in one rack; 0: no slices
  int one = -1;       // all in one domain of this Level; -1: no
  bool even = false;  // spread over racks, in parts that differ by at most one
};

// Members of the two classes keep apart; a class may keep apart from itself.
struct QuestionApart {
  int a = 0, b = 0;
  Level level = Level::kNode;
};

struct QuestionGang {
  std::vector<QuestionClass> classes;
  std::vector<QuestionApart> apart;
  int one = -1;  // all members in one domain of this Level; -1: no
};

struct Question {
  std::vector<QuestionNode> nodes;
  std::vector<QuestionGang> gangs;
};

// Returns one gang of up to 16 members in up to 4 classes, and up to 12 nodes with about what it asks for.
Question RandomGang(base::Random& random);
// Returns up to 8 gangs, and up to 8 nodes that are free at first.
Question RandomStream(base::Random& random);

// Returns the domain that a node is in, or -1.
int DomainOf(const Question& question, size_t node, Level level);
int DomainCount(const Question& question, Level level);

// How many of each gang's classes are on each node: [gang][class][node]. A gang that is not placed has none.
using Layout = std::vector<std::vector<std::vector<int>>>;

// Returns what the layout breaks; empty: nothing. Every gang must be there as a whole or not at all.
std::string Check(const Question& question, const Layout& layout);
int WholeNodes(const Question& question, const Layout& layout);
int Placed(const Layout& layout);

}  // namespace tutti::exact
