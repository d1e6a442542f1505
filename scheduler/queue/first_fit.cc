// SPDX-License-Identifier: Apache-2.0
#include "queue/first_fit.h"

#include <algorithm>

#include "base/random.h"

namespace tutti::queue {

void FirstFit::Pull(Index index) {
  Node& node = nodes_[index];
  node.least = node.need;
  for (const Index child : {node.left, node.right})
    if (child != kNone) node.least = std::min(node.least, nodes_[child].least);
}

void FirstFit::Split(Index tree, const Rank& rank, Index* before, Index* rest) {
  if (tree == kNone) {
    *before = *rest = kNone;
    return;
  }
  Index part = kNone;
  if (nodes_[tree].rank < rank) {
    Split(nodes_[tree].right, rank, &part, rest);
    nodes_[tree].right = part;
    *before = tree;
  } else {
    Split(nodes_[tree].left, rank, before, &part);
    nodes_[tree].left = part;
    *rest = tree;
  }
  Pull(tree);
}

FirstFit::Index FirstFit::Merge(Index before, Index after) {
  if (before == kNone) return after;
  if (after == kNone) return before;
  if (nodes_[before].height > nodes_[after].height) {
    const Index right = Merge(nodes_[before].right, after);
    nodes_[before].right = right;
    Pull(before);
    return before;
  }
  const Index left = Merge(before, nodes_[after].left);
  nodes_[after].left = left;
  Pull(after);
  return after;
}

FirstFit::Index FirstFit::Without(Index tree, const Rank& rank) {
  if (nodes_[tree].rank == rank) return Merge(nodes_[tree].left, nodes_[tree].right);
  Index& side = nodes_[tree].rank < rank ? nodes_[tree].right : nodes_[tree].left;
  side = Without(side, rank);
  Pull(tree);
  return tree;
}

void FirstFit::Put(const Rank& rank, int64_t need) {
  if (const auto at = at_.find(rank.id); at != at_.end()) {
    if (const Node& node = nodes_[at->second]; node.rank == rank && node.need == need) return;
    Erase(rank.id);
  }
  Index index = static_cast<Index>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  nodes_[index] = {rank, need, need, base::Random(rank.id).Next(), kNone, kNone};
  at_.emplace(rank.id, index);
  Index before = kNone, rest = kNone;
  Split(root_, rank, &before, &rest);
  root_ = Merge(Merge(before, index), rest);
}

void FirstFit::Erase(uint32_t id) {
  const auto at = at_.find(id);
  if (at == at_.end()) return;
  root_ = Without(root_, nodes_[at->second].rank);
  free_.push_back(at->second);
  at_.erase(at);
}

std::optional<uint32_t> FirstFit::First(int64_t budget) const {
  if (root_ == kNone || nodes_[root_].least > budget) return std::nullopt;
  for (Index at = root_;;) {
    const Node& node = nodes_[at];
    if (node.left != kNone && nodes_[node.left].least <= budget)
      at = node.left;
    else if (node.need <= budget)
      return node.rank.id;
    else
      at = node.right;  // the least need is to the right
  }
}

}  // namespace tutti::queue
