// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/displaced.h"

#include <utility>
#include <vector>

namespace tutti::queue {

using model::GangId;

const Displaced::Left* Displaced::Find(QueueId root, const std::string& uid) const {
  const auto tree = trees_.find(root);
  if (tree == trees_.end()) return nullptr;
  const auto left = tree->second.left.find(uid);
  return left == tree->second.left.end() ? nullptr : &left->second;
}

void Displaced::Note(QueueId root, const Holding& victim, const std::string& by) {
  Tree& tree = trees_[root];
  tree.known.insert({victim.uid, by});
  Left& left = tree.left[victim.uid];
  left.leaf = victim.leaf;
  left.priority = victim.priority;
  left.by.insert(by);
}

// A gang is known from then on: it lets the tree be forgotten once, and so there is an end.
std::set<GangId> Displaced::NoteAdmitted(QueueId root, const std::string& uid) {
  const auto tree = trees_.find(root);
  if (tree == trees_.end() || tree->second.left.empty() || !tree->second.known.insert(uid).second) return {};
  tree->second.left.clear();
  return std::exchange(tree->second.sparing, {});
}

std::set<std::string> Displaced::Before(QueueId root, const std::string& uid, QueueId leaf, int32_t priority) const {
  std::set<std::string> before;
  const Left* own = Find(root, uid);
  if (!own || own->leaf != leaf || own->priority != priority) return before;
  std::vector<const Left*> next{own};
  while (!next.empty()) {
    const Left& left = *next.back();
    next.pop_back();
    for (const std::string& by : left.by)
      if (before.insert(by).second)
        if (const Left* at = Find(root, by)) next.push_back(at);
  }
  return before;
}

std::set<GangId> Displaced::Clear(QueueId root) {
  const auto tree = trees_.find(root);
  if (tree == trees_.end()) return {};
  std::set<GangId> sparing = std::move(tree->second.sparing);
  trees_.erase(tree);
  return sparing;
}

}  // namespace tutti::queue
