// SPDX-License-Identifier: Apache-2.0
// TopologyRequest: how members want to stand to each other in the network, whatever the words it was asked in.
//
// A level is a label key of nodes (a rack's, a block's, a zone's); its domains are the values that nodes have under it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::model {

struct TopologyRequest {
  std::string required;                   // all in one domain of this level; empty: not asked
  std::vector<std::string> alternatives;  // one domain of one of these levels does as well as one of `required`
  std::vector<std::string> preferred;     // better in one domain of this level, else of the next; the narrowest first
  std::string slice_level;                // every slice_size members in one domain of this level; empty: not asked
  int64_t slice_size = 0;
  // Each slice is made of smaller ones: so many members in one domain of this level; the widest level first.
  struct Layer {
    std::string level;
    int64_t size = 0;
    friend bool operator==(const Layer&, const Layer&) = default;
  };
  std::vector<Layer> inner_slices;
  std::string balanced;    // over as few domains of this level as hold them, in parts that differ by one at most
  std::string subset;      // what it is about: the gang's members whose requests name the same subset
  bool each_role = false;  // said of a whole gang: it is about the members of each role on their own

  std::string problem;  // why it cannot be read, naming the annotation; the gang then waits with it

  bool empty() const { return required.empty() && preferred.empty() && slice_level.empty() && balanced.empty(); }
  friend bool operator==(const TopologyRequest&, const TopologyRequest&) = default;
};

}  // namespace tutti::model
