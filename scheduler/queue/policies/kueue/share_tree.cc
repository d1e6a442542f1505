// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/share_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/quantity.h"

namespace tutti::queue {
namespace {

using model::SaturatingAdd;
using model::SaturatingSub;

constexpr const char* kDialect = "kueue";

// A leaf and a cohort may have one name; no name of either has a slash.
QueueKey LeafKey(const std::string& name) { return {kDialect, name}; }
QueueKey CohortKey(const std::string& name) { return {kDialect, "cohort/" + name}; }
std::string ParentOf(const std::string& cohort) { return cohort.empty() ? std::string() : CohortKey(cohort).name; }

QueueId Declare(QueueTree& tree, const QueueKey& key, const std::string& cohort) {
  model::QueueSpec spec;
  spec.dialect = key.dialect;
  spec.name = key.name;
  spec.parent = ParentOf(cohort);
  return tree.Put(std::move(spec));
}

}  // namespace

ShareTree::~ShareTree() {
  for (const Node& node : nodes_)
    for (const CellId cell : node.held) tree_.cells().Release(cell);
}

ShareTree::Node& ShareTree::Fresh(QueueId queue) {
  nodes_.resize(std::max(nodes_.size(), tree_.end()));
  stale_ = true;
  return nodes_[queue.index()];
}

void ShareTree::Hold(QueueId queue, const std::vector<model::ResourceGroup>& groups) {
  Node& node = Fresh(queue);
  std::vector<CellId> held;
  for (const model::ResourceGroup& group : groups)
    for (const model::FlavorQuota& flavor : group.flavors)
      for (const auto& [resource, quota] : flavor.resources) held.push_back(cells().Hold(flavor.flavor, resource));
  for (const CellId cell : std::exchange(node.held, std::move(held))) cells().Release(cell);
  node.groups = groups;
}

void ShareTree::Put(model::CohortSpec spec) {
  const QueueId id = Declare(tree_, CohortKey(spec.name), spec.parent);
  Hold(id, spec.groups);
  Fresh(id).weight = spec.weight;
}

void ShareTree::Put(model::LeafQueueSpec spec) {
  const QueueId id = Declare(tree_, LeafKey(spec.name), spec.cohort);
  Hold(id, spec.groups);
  Node& node = Fresh(id);
  node.weight = spec.weight;
  node.leaf = std::move(spec);
}

void ShareTree::Clear(QueueId queue) {
  if (!queue.valid() || queue.index() >= nodes_.size()) return;
  Hold(queue, {});
  Fresh(queue).leaf.reset();
  Fresh(queue).weight = 1;
}

void ShareTree::DropCohort(const std::string& name) {
  Clear(tree_.Find(CohortKey(name)));
  tree_.Drop(CohortKey(name));
}

void ShareTree::DropLeaf(const std::string& name) {
  Clear(tree_.Find(LeafKey(name)));
  tree_.Drop(LeafKey(name));
}

QueueId ShareTree::Leaf(const std::string& name) const {
  const QueueId id = tree_.Find(LeafKey(name));
  return id.valid() && is_leaf(id) ? id : QueueId();
}

QueueId ShareTree::Cohort(const std::string& name) const { return tree_.Find(CohortKey(name)); }

QueueId ShareTree::HoldLeaf(const std::string& name) { return tree_.Hold(LeafKey(name)); }

std::string ShareTree::name(QueueId queue) const {
  const std::string prefix = CohortKey({}).name;
  const std::string& in_tree = tree_.spec(queue).name;
  return in_tree.starts_with(prefix) ? in_tree.substr(prefix.size()) : in_tree;
}

std::string ShareTree::Path(QueueId queue) const {
  std::string path;
  for (QueueId at = queue; at.valid(); at = parent(at)) path.insert(0, "/" + name(at));
  return path;
}

QueueId ShareTree::Root(QueueId queue) const {
  while (parent(queue).valid()) queue = parent(queue);
  return queue;
}

bool ShareTree::HasCircle(QueueId queue) const {
  for (QueueId at = queue; at.valid(); at = parent(at))
    if (tree_.in_circle(at)) return true;
  return false;
}

const std::vector<QueueId>& ShareTree::Children(QueueId queue) const {
  Renew();
  return nodes_[queue.index()].children;
}

std::vector<QueueId> ShareTree::LeavesBelow(QueueId queue) const {
  std::vector<QueueId> leaves, open{queue};
  while (!open.empty()) {
    const QueueId at = open.back();
    open.pop_back();
    if (is_leaf(at)) leaves.push_back(at);
    const std::vector<QueueId>& below = Children(at);
    open.insert(open.end(), below.rbegin(), below.rend());
  }
  return leaves;
}

void ShareTree::Renew() const {
  if (!stale_ && nodes_.size() == tree_.end()) return;
  nodes_.resize(tree_.end());
  stale_ = false;
  RenewLinks();
  RenewSubtrees();
  RenewPotentials();
}

void ShareTree::RenewLinks() const {
  top_down_.clear();
  for (Node& node : nodes_) {
    node.children.clear();
    node.height = 0;
  }
  std::vector<QueueId> open = tree_.Roots();
  while (!open.empty()) {
    const QueueId at = open.back();
    open.pop_back();
    top_down_.push_back(at);
    std::vector<QueueId>& children = nodes_[at.index()].children;
    children = tree_.Children(at);
    open.insert(open.end(), children.begin(), children.end());
  }
}

int64_t ShareTree::KeptOf(const Entry& entry) const {
  const auto& lending = entry.quota.lending_limit;
  return lending ? std::max<int64_t>(0, SaturatingSub(entry.subtree, *lending)) : 0;
}

void ShareTree::RenewSubtrees() const {
  for (Node& node : nodes_) {
    node.cells.assign(cells().end(), {});
    for (const model::ResourceGroup& group : node.groups)
      for (const model::FlavorQuota& flavor : group.flavors)
        for (const auto& [resource, quota] : flavor.resources) {
          Entry& entry = node.cells[cells().Find(flavor.flavor, resource).index()];
          entry = {quota, quota.nominal, 0, true};
        }
  }
  for (auto at = top_down_.rbegin(); at != top_down_.rend(); ++at) {
    const Node& node = nodes_[at->index()];
    const QueueId up = parent(*at);
    for (uint32_t i = 0; i < node.cells.size(); ++i) {
      const Entry& entry = node.cells[i];
      const int64_t kept = KeptOf(entry);
      used_.SetKept(*at, CellId(i), up.valid() ? kept : 0);
      if (!up.valid() || !entry.known) continue;
      Entry& above = nodes_[up.index()].cells[i];
      above.known = true;
      above.subtree = SaturatingAdd(above.subtree, SaturatingSub(entry.subtree, kept));
    }
    if (up.valid()) nodes_[up.index()].height = std::max(nodes_[up.index()].height, node.height + 1);
  }
}

void ShareTree::RenewPotentials() const {
  std::map<std::string, uint32_t> resources;
  resource_of_.assign(cells().end(), 0);
  for (uint32_t i = 0; i < cells().end(); ++i) resources.emplace(cells().resource(CellId(i)), 0);
  uint32_t next = 0;
  for (auto& [name, number] : resources) number = next++;
  for (uint32_t i = 0; i < cells().end(); ++i) resource_of_[i] = resources[cells().resource(CellId(i))];
  for (const QueueId at : top_down_) {
    Node& node = nodes_[at.index()];
    node.lendable.assign(resources.size(), 0);
    const QueueId up = parent(at);
    for (uint32_t i = 0; i < node.cells.size(); ++i) {
      Entry& entry = node.cells[i];
      entry.potential = entry.subtree;
      if (up.valid()) {
        entry.potential = SaturatingAdd(KeptOf(entry), nodes_[up.index()].cells[i].potential);
        if (const auto& limit = entry.quota.borrowing_limit)
          entry.potential = std::min(entry.potential, SaturatingAdd(entry.subtree, *limit));
      }
      int64_t& sum = node.lendable[resource_of_[i]];
      sum = SaturatingAdd(sum, entry.potential);
    }
  }
}

const ShareTree::Entry& ShareTree::At(QueueId queue, CellId cell) const {
  static const Entry kNone;
  Renew();
  const Node& node = nodes_[queue.index()];
  return cell.index() < node.cells.size() ? node.cells[cell.index()] : kNone;
}

int64_t ShareTree::Used(QueueId queue, CellId cell) const {
  Renew();
  return used_.Used(queue, cell);
}

model::CellQuota ShareTree::Quota(QueueId queue, CellId cell) const { return At(queue, cell).quota; }

int64_t ShareTree::Subtree(QueueId queue, CellId cell) const { return At(queue, cell).subtree; }

int64_t ShareTree::Potential(QueueId queue, CellId cell) const { return At(queue, cell).potential; }

int64_t ShareTree::KeptFree(QueueId queue, CellId cell) const {
  return std::max<int64_t>(0, SaturatingSub(KeptOf(At(queue, cell)), Used(queue, cell)));
}

bool ShareTree::Exceeds(QueueId queue, CellId cell, int64_t more) const {
  return SaturatingAdd(Used(queue, cell), more) > Subtree(queue, cell);
}

bool ShareTree::IsWithin(QueueId queue, std::span<const CellId> cells) const {
  return std::ranges::none_of(cells, [&](CellId cell) { return Exceeds(queue, cell); });
}

int64_t ShareTree::Available(QueueId queue, CellId cell) const {
  // From the leaf up: `sum` is what the queues passed add, and `most` what they let through.
  int64_t sum = 0, most = kNoLimit;
  for (QueueId at = queue;; at = parent(at)) {
    const Entry& entry = At(at, cell);
    const int64_t used = Used(at, cell);
    if (!parent(at).valid()) return std::min(most, SaturatingAdd(sum, SaturatingSub(entry.subtree, used)));
    const int64_t kept = KeptOf(entry);
    sum = SaturatingAdd(sum, std::max<int64_t>(0, SaturatingSub(kept, used)));
    if (!entry.quota.borrowing_limit) continue;
    const int64_t lent = SaturatingSub(entry.subtree, kept);
    const int64_t from_above = std::max<int64_t>(0, SaturatingSub(used, kept));
    const int64_t more = SaturatingAdd(SaturatingSub(lent, from_above), *entry.quota.borrowing_limit);
    most = std::min(most, SaturatingAdd(sum, more));
  }
}

bool ShareTree::Fits(QueueId leaf, const CellAmounts& wants, bool borrowing) const {
  return std::ranges::all_of(wants, [&](const CellAmount& want) {
    if (!borrowing && Exceeds(leaf, want.cell, want.amount)) return false;
    return want.amount <= std::max<int64_t>(0, Available(leaf, want.cell));
  });
}

ShareTree::LowestFit ShareTree::FindLowestFit(QueueId leaf, CellId cell, int64_t amount) const {
  const bool has_parent = parent(leaf).valid();
  if (!has_parent || !Exceeds(leaf, cell, amount)) return {0, has_parent};
  int64_t left = amount;
  QueueId at = leaf;
  while (parent(at).valid()) {
    left = SaturatingSub(left, KeptFree(at, cell));
    at = parent(at);
    if (!Exceeds(at, cell, left)) return {nodes_[at.index()].height, parent(at).valid()};
  }
  return {nodes_[at.index()].height, false};
}

DominantShare ShareTree::Dominant(QueueId queue) const {
  Renew();
  const Node& node = nodes_[queue.index()];
  DominantShare share;
  share.weight = node.weight;
  const QueueId up = parent(queue);
  if (!up.valid()) return share;
  const std::vector<int64_t>& lendable = nodes_[up.index()].lendable;
  std::vector<int64_t> borrowed(lendable.size(), 0);
  for (uint32_t i = 0; i < node.cells.size(); ++i) {
    if (!node.cells[i].known) continue;
    const int64_t above = SaturatingSub(Used(queue, CellId(i)), node.cells[i].subtree);
    if (above <= 0) continue;
    share.borrowed.push_back(CellId(i));
    int64_t& sum = borrowed[resource_of_[i]];
    sum = SaturatingAdd(sum, above);
  }
  for (size_t r = 0; r < borrowed.size(); ++r)
    if (borrowed[r] > 0 && lendable[r] > 0)
      share.thousandths =
          std::max(share.thousandths, static_cast<double>(borrowed[r]) * 1000.0 / static_cast<double>(lendable[r]));
  return share;
}

}  // namespace tutti::queue
