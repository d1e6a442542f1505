// SPDX-License-Identifier: Apache-2.0
// Figures: how many of the members in a search find nodes now, and what the others lack.
//
// They are about all members of the search, not only about the first role that fell short. A number that is unknown is
// left out.
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
    kAtLeast,  // other placements may let more fit
    kUnknown,  // the placed members break the rules of topology
  } count = Count::kUnknown;
  bool cut_short = false;       // the search was cut short
  bool all = false;             // the search was for every member of the gang
  int64_t needed = 0, fit = 0;  // members in the search; members that find nodes together
  struct Role {
    int64_t members = 0, fit = 0;  // all members of the role; members that find nodes
    friend bool operator==(const Role&, const Role&) = default;
  };
  std::map<std::string, Role> roles;

  // A resource that members without a node ask for, and of which the suitable nodes have too little free. Amounts are
  // in the resource's own unit, as in ResourceList.
  struct Short {
    std::string resource;
    int64_t missing = 0;       // asked for by members without a node
    int64_t asked = 0;         // asked for by all members
    int64_t one = 0;           // the most that one member without a node asks for
    int64_t cluster = 0;       // all nodes together, free or not
    int64_t largest_node = 0;  // the largest node, free or not

    friend bool operator==(const Short&, const Short&) = default;
    bool NeedsLargerNode() const { return largest_node < one; }
    // Return what the members of `times` such searches ask for, and how much of it is missing if only the first search
    // finds nodes.
    int64_t AskedBy(int64_t times) const;
    int64_t MissingBy(int64_t times) const;
  };
  std::vector<Short> shorts;
  bool more_lack = false;  // for some members without a node it was not determined what they lack

  // The result for the members of one class and role; sorted by both. There are none if the count is unknown, and none
  // for a class and role without members in the search.
  struct Line {
    static constexpr size_t kNotAsked = ~size_t{0};
    model::ClassId pod_class;
    std::string role;
    bool fits = false;
    size_t refused = kNotAsked;  // the reason's index in Figures::refused; kNotAsked: it was not determined
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::vector<Line> lines;
  std::vector<model::NodeRefusals> refused;  // the reasons of classes that found no node
  std::vector<std::string> waits_for;        // the roles that the fitting members wait for; empty: those have no names

  friend bool operator==(const Figures&, const Figures&) = default;
  // Tells whether the nodes would have too little for `times` such searches even if they were empty.
  bool NeedsMoreNodes(const Short& it, int64_t times) const { return all && it.cluster < it.AskedBy(times); }
  // Returns the line of the class in the role, else any line of the class. Pods may be of another class by now: for a
  // class that is not known, it returns a line of the role if all of them say the same. null: there is none.
  const Line* Find(model::ClassId pod_class, std::string_view role) const;
  // Returns why the members of the line find no node; null: they find one, or it was not determined.
  const model::NodeRefusals* WhyNot(const Line& line) const {
    return line.refused < refused.size() ? &refused[line.refused] : nullptr;
  }
};

// The domain that comes nearest to having room for the members that a rule of topology wants in one domain.
struct NearestDomain {
  std::string level;             // a label's key
  std::string level_name;        // the level's name for people
  std::string none;              // a clause that says that the level has no domain
  std::string value;             // empty: no node has the label
  size_t domains = 0;            // number of domains
  int64_t wanted = 0, room = 0;  // members; slices where `slice` is above 1
  int64_t slice = 1;
  bool even = false;
  std::vector<std::string> torn;  // several domains that hold members already, so that no single one can hold all
  int64_t unlabelled = 0;         // members on nodes without the label: no other member can join them
  friend bool operator==(const NearestDomain&, const NearestDomain&) = default;
};

}  // namespace tutti::observe
