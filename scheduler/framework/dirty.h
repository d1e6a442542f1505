// SPDX-License-Identifier: Apache-2.0
// Dirty: the nodes that a state wants to be asked about again because of what happened elsewhere. Between two refreshes
// a thousand pods may come to one zone, and each of them may name it many times: domains are remembered by their label,
// and no name more than about twice.
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
  // The nodes whose label `key` has this value.
  void Domain(model::Symbol key, model::Symbol value) { domains_.Put({key, value}); }
  void Everything() { everything_ = true; }

  bool everything() const { return everything_; }
  bool empty() const { return !everything_ && nodes_.list.empty() && domains_.list.empty(); }
  // each(n) for every node that was named, some more than once, but not as one of a domain of the keys `but`.
  // REQUIRES: !everything()
  template <typename Each>
  void ForEach(const cluster::Snapshot& snapshot, Each each, std::span<const model::Symbol> but = {}) {
    for (const model::NodeId n : nodes_.list) each(n);
    domains_.Unite();
    for (const auto& [key, value] : domains_.list) {
      if (std::ranges::find(but, key) != but.end()) continue;
      for (const model::NodeId n : snapshot.NodesIn(key, value)) each(n);
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
    size_t most = kFew;  // before it is gone through for names that it has twice
  };

  Names<model::NodeId> nodes_;
  Names<std::pair<model::Symbol, model::Symbol>> domains_;
  bool everything_ = false;
};

}  // namespace tutti::framework
