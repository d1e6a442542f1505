// SPDX-License-Identifier: Apache-2.0
#include "dialects/hyper_nodes.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "cluster/json_reader.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using cluster::JsonField;

// Of a HyperNode that is in more than so many others, so many count; and of those that share one node.
constexpr size_t kMostAround = 64, kMostLayers = 16;

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

std::string HyperNodes::LabelFor(int64_t tier, size_t layer) {
  return layer == 0 ? fmt::format("{}{}", kTierLabel, tier) : fmt::format("{}{}/{}", kTierLabel, tier, layer);
}

std::optional<int64_t> HyperNodes::TierOf(std::string_view label) {
  if (!label.starts_with(kTierLabel)) return std::nullopt;
  label = label.substr(0, label.find('/', kTierLabel.size()));
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

// Which HyperNodes the node is in, directly or not.
HyperNodes::Names HyperNodes::Holders(const model::Node& node) const {
  const Indexed& index = Index();
  Names direct, all;
  if (const auto exact = index.holders.find(node.meta.name); exact != index.holders.end()) direct = exact->second;
  for (const auto& [name, member] : index.others)
    if (Matches(*member, node.meta.name, *node.meta.labels)) direct.insert(name);
  for (const std::string_view name : direct)
    if (const auto around = index.around.find(name); around != index.around.end())
      all.insert(around->second.begin(), around->second.end());
  return all;
}

// Whether it is of a tier up to this one, and in no other such HyperNode. Of a circle, whose HyperNodes are all in each
// other, the first by name is the widest.
bool HyperNodes::IsWidest(std::string_view name, int64_t tier) const {
  const Indexed& index = Index();
  const auto counts = [&](std::string_view other) {
    return hyper_nodes_.find(std::string(other))->second.tier <= tier;
  };
  return counts(name) && std::ranges::none_of(index.around.at(name), [&](std::string_view other) {
           return other != name && counts(other) && (other < name || !index.around.at(other).contains(name));
         });
}

HyperNodes::Names HyperNodes::Widest(const Names& names, int64_t tier) const {
  Names widest;
  for (const std::string_view name : names)
    if (IsWidest(name, tier)) widest.insert(name);
  return widest;
}

size_t HyperNodes::LayerOf(std::string_view name) const {
  const auto at = Index().layers.find(name);
  return at == Index().layers.end() ? 0 : at->second;
}

// Notes that these share a node. True: some are in other layers than before. In the order of names each is in the first
// layer that none of those is in which share nodes with it.
bool HyperNodes::Separate(const Names& sharing) {
  Indexed& index = Index();
  bool fresh = false;
  for (const std::string_view a : sharing)
    for (const std::string_view b : sharing)
      if (a != b) fresh = index.share[a].insert(b).second || fresh;
  if (!fresh) return false;
  std::map<std::string_view, size_t> layers;
  for (const auto& [name, others] : index.share) {
    std::set<size_t> taken;
    for (const std::string_view other : others)
      if (const auto at = layers.find(other); at != layers.end()) taken.insert(at->second);
    size_t layer = 0;
    while (taken.contains(layer)) ++layer;
    layers[name] = layer;
  }
  std::erase_if(layers, [](const auto& item) { return item.second == 0; });
  if (layers == index.layers) return false;
  index.layers = std::move(layers);
  return true;
}

bool HyperNodes::AddLabels(const model::Node& node, model::StringMap* labels) {
  if (hyper_nodes_.empty()) return false;
  const Names holders = Holders(node);
  if (holders.empty()) return false;
  std::map<int64_t, Names> widest;
  bool changed = false;
  for (const int64_t tier : Tiers()) {
    const Names& of_tier = widest[tier] = Widest(holders, tier);
    if (of_tier.size() > 1) changed = Separate(of_tier) || changed;
  }
  for (const auto& [tier, names] : widest)
    for (const std::string_view name : names)
      if (const size_t layer = LayerOf(name); layer < kMostLayers)
        labels->emplace_back(LabelFor(tier, layer), std::string(name));
  std::ranges::sort(*labels);
  return changed;
}

std::vector<std::string> HyperNodes::LevelsOf(int64_t tier) const {
  std::set<size_t> layers{0};
  for (const auto& [name, layer] : Index().layers)
    if (layer < kMostLayers && IsWidest(name, tier)) layers.insert(layer);
  std::vector<std::string> levels;
  for (const size_t layer : layers) levels.push_back(LabelFor(tier, layer));
  return levels;
}

std::string HyperNodes::Problem() const {
  for (const auto& [name, hyper_node] : hyper_nodes_)
    for (size_t i = 0; i < hyper_node.members.size(); ++i)
      if (const auto& regex = hyper_node.members[i].regex; regex && !regex->ok())
        return OneLine(fmt::format("HyperNode {}: spec.members[{}].selector.regexMatch.pattern: {} selects nothing: {}",
                                   Named(name), i, Named(regex->pattern()), regex->error()));
  return {};
}

int64_t HyperNodes::TierNamed(std::string_view name) const {
  const auto at = Index().by_name.find(name);
  return at == Index().by_name.end() ? -1 : at->second;
}

void HyperNodes::ReadMembers(Indexed* index, std::map<std::string_view, Names>* parents) const {
  for (const auto& [name, hyper_node] : hyper_nodes_)
    for (const Member& member : hyper_node.members) {
      if (member.is_node && !member.exact.empty()) {
        index->holders[member.exact].insert(name);
      } else if (member.is_node) {
        index->others.emplace_back(name, &member);
      } else if (!member.exact.empty()) {
        (*parents)[member.exact].insert(name);
      } else {
        for (const auto& [other, of_other] : hyper_nodes_)
          if (Matches(member, other, {})) (*parents)[other].insert(name);
      }
    }
}

// Of several that give one name to different tiers the first counts. A HyperNode may name others that name it in turn:
// each is looked at once.
HyperNodes::Indexed& HyperNodes::Index() const {
  if (index_) return *index_;
  Indexed& index = index_.emplace();
  for (const auto& [name, hyper_node] : hyper_nodes_) {
    index.tiers.insert(hyper_node.tier);
    index.by_name.emplace(hyper_node.tier_name, hyper_node.tier);
  }
  std::map<std::string_view, Names> parents;
  ReadMembers(&index, &parents);
  for (const auto& [name, hyper_node] : hyper_nodes_) {
    Names& around = index.around[name];
    std::vector<std::string_view> next{name};
    while (!next.empty() && around.size() < kMostAround) {
      const std::string_view at = next.back();
      next.pop_back();
      if (!around.insert(at).second) continue;
      if (const auto of = parents.find(at); of != parents.end())
        next.insert(next.end(), of->second.begin(), of->second.end());
    }
  }
  return index;
}

}  // namespace tutti::dialects
