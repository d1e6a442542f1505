// SPDX-License-Identifier: Apache-2.0
// HyperNodes: Volcano's picture of the network, a tree of objects whose leaves are nodes
// (topology.volcano.sh/v1alpha1).
//
// It becomes labels of nodes, so that the core knows one kind of level only: LabelFor(t) has as its value the widest
// HyperNode of a tier up to t that the node is in. A node may be in several such HyperNodes, and counts in each: then
// those that share nodes are in different layers, and each layer of a tier is a label of its own. No label of a user's
// looks like it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "model/node.h"
#include "model/object.h"
#include "model/selector.h"

namespace re2 {
class RE2;
}

namespace tutti::dialects {

class HyperNodes {
 public:
  static const model::ObjectKind& Kind();
  static std::string LabelFor(int64_t tier, size_t layer = 0);
  // The tier that a label is for; nullopt: it is another's.
  static std::optional<int64_t> TierOf(std::string_view label);

  // False when it says what it has said before.
  bool Put(const model::Object& object);
  bool Drop(std::string_view name);

  // True: it is in HyperNodes that were not known to share a node, and nodes that were asked about before have other
  // labels now.
  bool AddLabels(const model::Node& node, model::StringMap* labels);

  // All tiers there are, the lowest first. Good until the next Put or Drop.
  const std::set<int64_t>& Tiers() const { return Index().tiers; }
  // The labels of the tier, one for each of its layers.
  std::vector<std::string> LevelsOf(int64_t tier) const;
  // Says which pattern of a HyperNode cannot be read, and why; empty: all can.
  std::string Problem() const;
  // -1: no HyperNode's tier has this name.
  int64_t TierNamed(std::string_view name) const;

 private:
  struct Member {
    bool is_node = true;
    std::string exact;
    std::shared_ptr<const re2::RE2> regex;  // null: none
    std::optional<model::LabelSelector> labels;
  };
  struct HyperNode {
    std::shared_ptr<const base::Json> body;  // what it was read from
    int64_t tier = 0;
    std::string tier_name;
    std::vector<Member> members;
  };
  using Names = std::set<std::string_view>;  // of HyperNodes
  // What follows from all of them: found once after a change.
  struct Indexed {
    std::set<int64_t> tiers;
    std::map<std::string, int64_t, std::less<>> by_name;             // of tiers
    std::map<std::string_view, Names> holders;                       // of nodes, by their names
    std::vector<std::pair<std::string_view, const Member*>> others;  // HyperNodes that choose nodes otherwise
    std::map<std::string_view, Names> around;                        // of a HyperNode: those it is in, and itself
    std::map<std::string_view, Names> share;                         // of a HyperNode: those that share a node with it
    std::map<std::string_view, size_t> layers;                       // 0 where there is none
  };
  static bool Matches(const Member& member, const std::string& name, const model::StringMap& labels);
  Indexed& Index() const;
  // Reads the members of all into the index, and for each HyperNode those that name it.
  void ReadMembers(Indexed* index, std::map<std::string_view, Names>* parents) const;
  Names Holders(const model::Node& node) const;
  bool IsWidest(std::string_view name, int64_t tier) const;
  Names Widest(const Names& names, int64_t tier) const;
  size_t LayerOf(std::string_view name) const;
  bool Separate(const Names& sharing);

  std::map<std::string, HyperNode> hyper_nodes_;  // by name
  mutable std::optional<Indexed> index_;          // nullopt: to be made
};

}  // namespace tutti::dialects
