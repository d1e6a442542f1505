// SPDX-License-Identifier: Apache-2.0
// Flavors, and how much of each a queue has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/node.h"
#include "model/pod_spec.h"

namespace tutti::model {

// A kind of node that a quota names.
struct Flavor {
  std::string name;
  StringMap labels;
  std::vector<Taint> taints;
  std::vector<Toleration> tolerations;  // what pods of this flavor are given
  std::string topology;                 // the name of the topology that its nodes stand in; empty: none
  std::vector<std::string> levels;      // of that topology, the widest first: label keys of nodes; empty: not known
  friend bool operator==(const Flavor&, const Flavor&) = default;
};

// One resource of one flavor, in its units.
struct CellQuota {
  int64_t nominal = 0;
  std::optional<int64_t> borrowing_limit;  // how much above its own it may have; none: all that others lend
  std::optional<int64_t> lending_limit;    // how much of its own others may have; none: all of it
  friend bool operator==(const CellQuota&, const CellQuota&) = default;
};

struct FlavorQuota {
  std::string flavor;
  std::vector<std::pair<std::string, CellQuota>> resources;
  friend bool operator==(const FlavorQuota&, const FlavorQuota&) = default;
};

// Resources that are given from one flavor together. A resource is in one group of its queue.
struct ResourceGroup {
  std::vector<std::string> resources;
  std::vector<FlavorQuota> flavors;  // the first is tried first
  friend bool operator==(const ResourceGroup&, const ResourceGroup&) = default;
};

}  // namespace tutti::model
