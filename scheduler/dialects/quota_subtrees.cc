// SPDX-License-Identifier: Apache-2.0
#include "dialects/quota_subtrees.h"

#include <fmt/format.h>

#include "base/json.h"
#include "dialects/declaration.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using cluster::JsonField;
using cluster::JsonReader;

constexpr size_t kMostNodes = 1'000, kMostTrees = 16;

std::string QueueName(std::string_view tree, std::string_view node) { return fmt::format("{}/{}", tree, node); }

}  // namespace

const model::ObjectKind& QuotaSubtrees::Kind() {
  static const model::ObjectKind kind{"quota.codeflare.dev", "quotasubtrees", "QuotaSubtree", {"v1alpha1", "v1"}};
  return kind;
}

const std::vector<model::ObjectKind>& QuotaSubtrees::Kinds() const {
  static const std::vector<model::ObjectKind> kinds{Kind()};
  return kinds;
}

QuotaSubtrees::Subtree QuotaSubtrees::Read(const model::Object& object) {
  JsonReader read;
  const JsonField root(*object.body), meta = root["metadata"], labels = meta["labels"], label = labels["tree"],
                                      spec = root["spec"], children = spec["children"];
  Subtree subtree;
  subtree.tree = read.Text(label);
  if (subtree.tree.empty()) read.Problem(label, "is missing; write the name of the tree that the nodes are of");
  const std::string parent = read.Text(spec["parent"]);
  if (FewEnough(read, children, kMostNodes))
    read.Items(children, [&](const JsonField& child) {
      const JsonField named = child["name"], quotas = child["quotas"];
      const std::string node = read.Text(named);
      if (node.empty()) return read.Problem(named, "is missing; give the node a name");
      model::QueueSpec queue;
      queue.dialect = kName;
      queue.name = QueueName(subtree.tree, node);
      queue.alone = parent.empty();
      if (!parent.empty()) queue.parent = QueueName(subtree.tree, parent);
      const bool hard = read.Flag(quotas["hardLimit"]) || parent.empty();
      const auto amounts = ReadRequests(read, quotas["requests"]);
      if (amounts && !read.Flag(quotas["disabled"])) {
        queue.deserved = *amounts;
        if (hard) queue.capability = *amounts;
      }
      if (!subtree.nodes.emplace(queue.name, queue).second)
        read.Problem(named, fmt::format("{} is there twice; give each node a name of its own", Named(node)));
    });
  const std::string problem = ProblemIn(object, read);
  for (auto& [name, queue] : subtree.nodes) queue.problem = problem;
  // To nodes of no tree nothing is charged.
  if (subtree.tree.empty()) subtree.nodes.clear();
  if (subtree.nodes.empty()) subtree.problem = problem;
  return subtree;
}

void QuotaSubtrees::Put(std::shared_ptr<const model::Object> object, Touched* touched) {
  const Place place{object->meta.ns, object->meta.name};
  Subtree next = Read(*object);
  if (const auto known = subtrees_.find(place); known != subtrees_.end() && known->second == next) return;
  Forget(place, touched);
  const Subtree& subtree = subtrees_[place] = std::move(next);
  if (!subtree.tree.empty()) ++trees_[subtree.tree];
  if (!subtree.problem.empty()) unread_.insert(place);
  for (const auto& [name, queue] : subtree.nodes) {
    declared_by_[name].insert(place);
    touched->queues.insert(name);
  }
}

void QuotaSubtrees::Drop(std::string_view, std::string_view ns, std::string_view name, Touched* touched) {
  Forget({std::string(ns), std::string(name)}, touched);
}

void QuotaSubtrees::Forget(const Place& place, Touched* touched) {
  const auto at = subtrees_.find(place);
  if (at == subtrees_.end()) return;
  if (const auto tree = trees_.find(at->second.tree); tree != trees_.end() && --tree->second == 0) trees_.erase(tree);
  for (const auto& [name, queue] : at->second.nodes) {
    touched->queues.insert(name);
    const auto declared = declared_by_.find(name);
    declared->second.erase(place);
    if (declared->second.empty()) declared_by_.erase(declared);
  }
  unread_.erase(place);
  subtrees_.erase(at);
}

model::GangSpec QuotaSubtrees::Describe(const model::GangKey& key) const {
  model::GangSpec none;
  none.key = key;
  return none;
}

std::optional<model::QueueSpec> QuotaSubtrees::DescribeQueue(std::string_view name) const {
  const auto declared = declared_by_.find(name);
  if (declared == declared_by_.end()) return std::nullopt;
  const Place& first = *declared->second.begin();
  model::QueueSpec queue = subtrees_.at(first).nodes.find(name)->second;
  if (declared->second.size() > 1 && queue.problem.empty()) {
    const Place& second = *std::next(declared->second.begin());
    queue.problem =
        fmt::format("node {} is in {} and in {}; take it out of one of them", Named(name),
                    Named(Kind().kind, first.first, first.second), Named(Kind().kind, second.first, second.second));
  }
  return queue;
}

std::vector<std::string> QuotaSubtrees::trees() const {
  std::vector<std::string> names;
  for (const auto& [name, objects] : trees_) {
    if (names.size() == kMostTrees) break;
    names.push_back(name);
  }
  return names;
}

std::string QuotaSubtrees::problem() const {
  if (!unread_.empty()) return subtrees_.at(*unread_.begin()).problem;
  if (trees_.size() <= kMostTrees) return {};
  return fmt::format("QuotaSubtrees are of more than {} trees; delete those of some trees", kMostTrees);
}

}  // namespace tutti::dialects
