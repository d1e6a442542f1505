// SPDX-License-Identifier: Apache-2.0
#include "dialects/hyper_nodes.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "cluster/json_reader.h"
#include "dialects/label_match.h"

namespace tutti::dialects {
namespace {

using cluster::JsonField;

// A tree deeper than this is none.
constexpr int kDeepest = 32;

// Two slashes: the API server takes no such label on a node.
constexpr std::string_view kTierLabel = "topology.volcano.sh/tier/";

// Go's syntax, as Volcano has it, and its promise: a time linear in the name, whatever the pattern.
std::shared_ptr<const re2::RE2> Compiled(const std::string& pattern) {
  if (pattern.empty()) return nullptr;
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  return std::make_shared<const re2::RE2>(pattern, options);
}

}  // namespace

const model::ObjectKind& HyperNodes::Kind() {
  static const model::ObjectKind kind{"topology.volcano.sh", "hypernodes", "HyperNode", {"v1alpha1"}};
  return kind;
}

std::string HyperNodes::LabelFor(int64_t tier) { return fmt::format("{}{}", kTierLabel, tier); }

std::optional<int64_t> HyperNodes::TierOf(std::string_view label) {
  if (!label.starts_with(kTierLabel)) return std::nullopt;
  const char* end = label.data() + label.size();
  int64_t tier = 0;
  const auto [stop, error] = std::from_chars(label.data() + kTierLabel.size(), end, tier);
  return error == std::errc() && stop == end ? std::optional(tier) : std::nullopt;
}

bool HyperNodes::Put(const model::Object& object) {
  cluster::JsonReader read;
  const JsonField root(*object.body), spec = root["spec"], members = spec["members"];
  if (const auto known = hyper_nodes_.find(object.meta.name); known != hyper_nodes_.end()) {
    const JsonField before(*known->second.body);
    if (before["spec"].value() == spec.value()) return false;  // its status counts nodes, and changes with them
  }
  HyperNode hyper_node;
  hyper_node.body = object.body;
  hyper_node.tier = read.Integer(spec["tier"], 0);
  hyper_node.tier_name = read.Text(spec["tierName"]);
  read.Items(members, [&](const JsonField& item) {
    const JsonField selector = item["selector"], exact = selector["exactMatch"], regex = selector["regexMatch"];
    Member member;
    member.is_node = read.Text(item["type"]) == "Node";
    member.exact = read.Text(exact["name"]);
    member.regex = Compiled(read.Text(regex["pattern"]));
    member.labels = read.Selector(selector["labelMatch"]);
    hyper_node.members.push_back(std::move(member));
  });
  hyper_nodes_[object.meta.name] = std::move(hyper_node);
  index_.reset();
  return true;
}

bool HyperNodes::Drop(std::string_view name) {
  index_.reset();
  return hyper_nodes_.erase(std::string(name)) > 0;
}

bool HyperNodes::Matches(const Member& member, const std::string& name, const model::StringMap& labels) {
  if (!member.exact.empty()) return member.exact == name;
  // What is no pattern matches nothing; Volcano's webhook refuses it.
  if (member.regex) return member.regex->ok() && re2::RE2::PartialMatch(name, *member.regex);
  return member.labels && Selects(*member.labels, labels);
}

void HyperNodes::AddLabels(const model::Node& node, model::StringMap* labels) const {
  if (hyper_nodes_.empty()) return;
  // From the node upwards; of several parents the first by name counts, as a tree has one.
  std::map<int64_t, std::string> at_tier;
  std::string name = node.meta.name;
  const model::StringMap none;
  bool is_node = true;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto parent = std::ranges::find_if(hyper_nodes_, [&](const auto& item) {
      return std::ranges::any_of(item.second.members, [&](const Member& member) {
        return member.is_node == is_node && Matches(member, name, is_node ? *node.meta.labels : none);
      });
    });
    if (parent == hyper_nodes_.end()) break;
    at_tier[parent->second.tier] = parent->first;
    name = parent->first;
    is_node = false;
  }
  for (const int64_t tier : Tiers()) {
    const auto above = at_tier.upper_bound(tier);
    if (above != at_tier.begin()) labels->emplace_back(LabelFor(tier), std::prev(above)->second);
  }
  std::ranges::sort(*labels);
}

int64_t HyperNodes::TierNamed(std::string_view name) const {
  const auto at = Index().by_name.find(name);
  return at == Index().by_name.end() ? -1 : at->second;
}

// Of several that give one name to different tiers the first counts.
const HyperNodes::Tiered& HyperNodes::Index() const {
  if (!index_) {
    index_.emplace();
    for (const auto& [name, hyper_node] : hyper_nodes_) {
      index_->tiers.insert(hyper_node.tier);
      index_->by_name.emplace(hyper_node.tier_name, hyper_node.tier);
    }
  }
  return *index_;
}

}  // namespace tutti::dialects
