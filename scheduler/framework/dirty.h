// SPDX-License-Identifier: Apache-2.0
// Dirty: the nodes about which a state must be asked again after a change elsewhere. Between two refreshes a thousand
// pods may come to one zone, and each may name it many times. So a domain is kept as its label, and repeated names are
// removed whenever the list has doubled.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "cluster/snapshot.h"

namespace tutti::framework {

class Dirty {
 public:
  void Node(model::NodeId n) { nodes_.Put(n); }
  // Adds the nodes whose label `key` has this value.
  void Domain(model::Symbol key, model::Symbol value) { domains_.Put({key, value}); }
  void Everything() { everything_ = true; }

  bool everything() const { return everything_; }
  bool empty() const { return !everything_ && nodes_.list.empty() && domains_.list.empty(); }
  // Calls each(n) for every named node, perhaps more than once. Leaves out domains of the keys `but`.
  // REQUIRES: !everything()
  template <typename Each>
  void ForEach(const cluster::Snapshot& snapshot, Each each, std::span<const model::Symbol> but = {}) {
    for (const model::NodeId n : nodes_.list) each(n);
    domains_.Unite();
    for (const auto& [key, value] : domains_.list) {
      if (std::ranges::find(but, key) != but.end()) continue;
      for (const model::NodeId n : snapshot.labels().NodesIn(key, value)) each(n);
    }
  }
  void Clear() {
    nodes_.Clear();
    domains_.Clear();
    everything_ = false;
  }

 private:
  template <typename Name>
  struct Names {
    void Put(Name name) {
      list.push_back(name);
      if (list.size() < most) return;
      Unite();
      most = std::max(most, 2 * list.size());
    }
    void Unite() {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    void Clear() {
      list.clear();
      most = kFew;
    }
    static constexpr size_t kFew = 64;
    std::vector<Name> list;
    size_t most = kFew;  // size at which repeated names are removed
  };

  Names<model::NodeId> nodes_;
  Names<std::pair<model::Symbol, model::Symbol>> domains_;
  bool everything_ = false;
};

}  // namespace tutti::framework
