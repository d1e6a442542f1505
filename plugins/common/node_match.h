// SPDX-License-Identifier: Apache-2.0
// NodeMatch: a pod's nodeSelector and required node affinity compiled to symbols. Immutable; one table of symbols.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/snapshot.h"
#include "model/pod_spec.h"
#include "plugins/common/requirements.h"

namespace tutti::plugins {

// One node selector term: expressions over labels and over fields, all of which must hold.
class NodeTerm {
 public:
  // nullopt for what selects nothing: an empty term, or one that does not parse.
  static std::optional<NodeTerm> Compile(const model::NodeSelectorTerm& term, cluster::SymbolTable& symbols);
  bool Match(const cluster::NodeEntry& node) const;
  const Requirements& labels() const { return labels_; }
  // Adds the label keys by which it tells nodes apart; false where it tells them apart by more.
  bool AddKeys(std::vector<model::Symbol>* keys) const;

 private:
  // metadata.name is the only field a node has; any other reads as "".
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
  // Adds the nodes that alone can match, some perhaps twice. False, with any added: which those are is not known.
  bool Narrow(const cluster::Snapshot& snapshot, std::vector<model::NodeId>* nodes) const;
  // As NodeTerm has it.
  bool AddKeys(std::vector<model::Symbol>* keys) const;

 private:
  Requirements selector_;
  bool affine_ = false;
  std::vector<NodeTerm> terms_;
};

}  // namespace tutti::plugins
