// SPDX-License-Identifier: Apache-2.0
// Figures: how much of what a search was asked for finds nodes as things are, and what the rest of it lacks.
//
// They are of the whole that was asked for, not of the role that fell short first. A number that is not known is not
// said.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/snapshot.h"
#include "core/place/greedy.h"
#include "core/place/problem.h"
#include "framework/ranking.h"
#include "model/ids.h"

namespace tutti::core {

struct Figures {
  enum class Count {
    kExact,
    kAtLeast,  // others may be placed so that more fit
    kUnknown,  // the placed ones do not obey the rules of topology
  } count = Count::kUnknown;
  bool cut_short = false;       // the search was
  bool all = false;             // every member was asked for
  int64_t needed = 0, fit = 0;  // members asked for, and of these so many that find nodes together
  struct Role {
    int64_t members = 0, fit = 0;  // of all members of the role; of which find nodes
    friend bool operator==(const Role&, const Role&) = default;
  };
  std::map<std::string, Role> roles;

  // What members without a node ask for, of resources of which nodes that could hold them have too little free. In the
  // resource's own unit, as in ResourceList.
  struct Short {
    std::string resource;
    int64_t missing = 0;       // what those without a node ask for
    int64_t asked = 0;         // what all members ask for
    int64_t one = 0;           // the most that one of those without a node asks for
    int64_t cluster = 0;       // what all nodes together have, free or not
    int64_t largest_node = 0;  // the most that one node has, free or not
    friend bool operator==(const Short&, const Short&) = default;
  };
  std::vector<Short> shorts;
  bool more_lack = false;  // what some of those without a node lack was not looked at

  // What became of members of one class and role. Sorted by both. None where the count is unknown, and none for those
  // of which none was asked for.
  struct Line {
    model::ClassId pod_class;
    std::string role;
    bool fits = false;
    std::string nodes_sentence;  // why not; empty: it was not looked at
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::vector<Line> lines;
  std::string waits_for;  // "role gpu": what the members that fit wait for; empty: there is no name for it

  friend bool operator==(const Figures&, const Figures&) = default;

  // Of members of the class in the role, else of any of the class; null: nothing is known.
  const Line* Find(model::ClassId pod_class, const std::string& role) const;
};

// A kind that found no node, and why.
struct Unfit {
  size_t kind = 0;
  framework::Refusals refusals;
  const std::vector<model::NodeId>* nodes = nullptr;  // that its members may be on; null: all
};

// Of an attempt that went to the end, and of those kinds without a node that were looked at. `most`: no more members
// fit. `proven`: not all fit.
Figures MakeFigures(const Problem& problem, const Attempt& attempt, const std::vector<Unfit>& unfit, int64_t most,
                    bool proven, const cluster::Snapshot& snapshot);

// The texts are equal, but for digits.
bool SaysTheSame(std::string_view a, std::string_view b);

// They say the same, but for numbers.
bool SaysTheSame(const Figures& a, const Figures& b);

// " Missing: 1 nvidia.com/gpu. The cluster has 8 nvidia.com/gpu in all, …", or empty. `times`: so many such problems,
// none of which but the first finds anything.
std::string SayMissing(const Figures& figures, int64_t times);

}  // namespace tutti::core
