// SPDX-License-Identifier: Apache-2.0
// HyperNodes: Volcano's picture of the network, a tree of objects whose leaves are nodes
// (topology.volcano.sh/v1alpha1).
//
// It becomes labels of nodes, so that the engine knows one kind of level only: LabelFor(t) has as its value the widest
// HyperNode of a tier up to t that the node is in. No label of a user's looks like it.
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
  static std::string LabelFor(int64_t tier);
  // The tier that a label is for; nullopt: it is another's.
  static std::optional<int64_t> TierOf(std::string_view label);

  // False when it says what it has said before.
  bool Put(const model::Object& object);
  bool Drop(std::string_view name);

  void AddLabels(const model::Node& node, model::StringMap* labels) const;

  // All tiers there are, the lowest first. Good until the next Put or Drop.
  const std::set<int64_t>& Tiers() const { return Index().tiers; }
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
  // What a PodGroup asks for by each of its subgroups: found once after a change.
  struct Tiered {
    std::set<int64_t> tiers;
    std::map<std::string, int64_t, std::less<>> by_name;
  };
  static bool Matches(const Member& member, const std::string& name, const model::StringMap& labels);
  const Tiered& Index() const;

  std::map<std::string, HyperNode> hyper_nodes_;  // by name
  mutable std::optional<Tiered> index_;           // nullopt: to be made
};

}  // namespace tutti::dialects
