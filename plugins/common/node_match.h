// SPDX-License-Identifier: Apache-2.0
// NodeMatch: a pod's nodeSelector and required node affinity, compiled to symbols of one table. Immutable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/snapshot.h"
#include "model/pod_spec.h"
#include "plugins/common/requirements.h"

namespace tutti::plugins {

// One node selector term: expressions over labels and fields, which must all hold.
class NodeTerm {
 public:
  // Compiles a term; nullopt if it selects nothing, because it is empty or does not parse.
  static std::optional<NodeTerm> Compile(const model::NodeSelectorTerm& term, cluster::SymbolTable& symbols);
  bool Match(const cluster::NodeEntry& node) const;
  const Requirements& labels() const { return labels_; }
  // Adds the label keys by which the term tells nodes apart; false if it also depends on other data.
  bool AddKeys(std::vector<model::Symbol>* keys) const;

 private:
  // metadata.name is the only field of a node; any other reads as "".
  struct Field {
    bool name = false;
    bool equal = true;
    std::string value;
  };
  explicit NodeTerm(cluster::SymbolTable& symbols) : labels_(symbols) {}

  Requirements labels_;
  std::vector<Field> fields_;
};

class NodeMatch {
 public:
  NodeMatch(const model::StringMap& node_selector, const std::optional<model::NodeSelector>& affinity,
            cluster::SymbolTable& symbols);

  bool any() const { return !affine_ && selector_.empty(); }  // matches every node
  bool Match(const cluster::NodeEntry& node) const;
  // Adds all nodes that can match, some perhaps twice. False: it does not know them, and the added nodes mean nothing.
  bool Narrow(const cluster::Snapshot& snapshot, std::vector<model::NodeId>* nodes) const;
  // Does the same as NodeTerm::AddKeys, for all terms and the selector.
  bool AddKeys(std::vector<model::Symbol>* keys) const;

 private:
  Requirements selector_;
  bool affine_ = false;
  std::vector<NodeTerm> terms_;
};

}  // namespace tutti::plugins
