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
#include <vector>

#include "model/ids.h"
#include "model/node_refusals.h"

namespace tutti::observe {

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
    bool NeedsLargerNode() const { return largest_node < one; }
    // What the members of `times` such searches ask for, and what of that is missing where only the first finds any.
    int64_t AskedBy(int64_t times) const;
    int64_t MissingBy(int64_t times) const;
  };
  std::vector<Short> shorts;
  bool more_lack = false;  // what some of those without a node lack was not looked at

  // What became of members of one class and role. Sorted by both. None where the count is unknown, and none for those
  // of which none was asked for.
  struct Line {
    static constexpr size_t kNotAsked = ~size_t{0};
    model::ClassId pod_class;
    std::string role;
    bool fits = false;
    size_t refused = kNotAsked;  // why not: its place in Figures::refused; kNotAsked: it was not looked at
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::vector<Line> lines;
  std::vector<model::NodeRefusals> refused;  // of classes that found no node
  std::vector<std::string> waits_for;        // the roles that those that fit wait for; empty: they have no names

  friend bool operator==(const Figures&, const Figures&) = default;
  // The nodes have too little for `times` such searches, even if they were empty.
  bool NeedsMoreNodes(const Short& it, int64_t times) const { return all && it.cluster < it.AskedBy(times); }
  // Of members of the class in the role, else of any of the class; null: nothing is known.
  const Line* Find(model::ClassId pod_class, std::string_view role) const;
  // Why those of the line find no node; null: they do, or it was not looked at.
  const model::NodeRefusals* WhyNot(const Line& line) const {
    return line.refused < refused.size() ? &refused[line.refused] : nullptr;
  }
};

// The domain that comes nearest to holding what a rule of topology wants in one.
struct NearestDomain {
  std::string level;             // a label's key
  std::string level_name;        // what people call it
  std::string none;              // a clause: there is no domain of it
  std::string value;             // empty: no node has the label
  size_t domains = 0;            // how many there are
  int64_t wanted = 0, room = 0;  // members; slices where `slice` is above 1
  int64_t slice = 1;
  bool even = false;
  std::vector<std::string> torn;  // several that hold members already: none will do
  int64_t unlabelled = 0;         // members that have nodes without the label: no other can join them
  friend bool operator==(const NearestDomain&, const NearestDomain&) = default;
};

}  // namespace tutti::observe
