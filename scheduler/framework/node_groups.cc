// SPDX-License-Identifier: Apache-2.0
#include "framework/node_groups.h"

#include <absl/hash/hash.h>
#include <absl/types/span.h>

#include <algorithm>
#include <functional>

namespace tutti::framework {

using model::NodeId;

namespace {

// Columns that nearly every class reads are always compared, so that there are few different sets of facts.
constexpr model::ResourceId kAlways[] = {cluster::kCpuColumn, cluster::kMemoryColumn, cluster::kPodsColumn};

std::vector<model::ResourceId> AllColumns(const NodeFacts& facts) {
  std::vector<model::ResourceId> columns(std::begin(kAlways), std::end(kAlways));
  columns.insert(columns.end(), facts.columns.begin(), facts.columns.end());
  return columns;
}

}  // namespace

void NodeFacts::CommitCounts() {
  std::erase_if(columns, [](model::ResourceId r) { return std::ranges::find(kAlways, r) != std::end(kAlways); });
  const auto settle = [](auto& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  settle(labels);
  settle(columns);
}

size_t NodeGroups::Hash::operator()(const Name& name) const {
  return absl::HashOf(name.kind, absl::MakeConstSpan(name.amounts.data(), name.amounts.size()));
}

bool NodeGroups::Equal::operator()(const auto& a, const auto& b) const {
  const Name& left = AsName(a);
  const Name& right = AsName(b);
  return left.kind == right.kind && std::ranges::equal(left.amounts, right.amounts);
}

NodeGroups::NodeGroups(NodeFacts facts, const cluster::Snapshot& snapshot)
    : facts_(std::move(facts)),
      snapshot_(snapshot),
      columns_(AllColumns(facts_)),
      width_(2 * columns_.size() + 2),
      by_name_(0, Hash{this}, Equal{this}),
      scratch_(width_) {
  Begin();
}

void NodeGroups::Refresh() {
  if (seen_nodes_ == snapshot_.log_end()) return;
  changed_.clear();
  if (!snapshot_.ReadLog(seen_nodes_, &changed_)) return Begin();
  const uint64_t seen_version = seen_version_;
  seen_nodes_ = snapshot_.log_end();
  seen_version_ = snapshot_.last_version();
  group_of_.resize(snapshot_.slots());
  for (const NodeId n : changed_) Move(n, seen_version);
  constexpr size_t kFewGroups = 1024;
  if (kinds_.size() > kFewKinds + 2 * live_kinds_ || size() > kFewGroups + 4 * by_name_.size()) Begin();
}

void NodeGroups::Begin() {
  ++era_;
  seen_nodes_ = snapshot_.log_end();
  seen_version_ = snapshot_.last_version();
  by_name_.clear();
  for (auto* list : {&kind_of_, &nodes_}) list->clear();
  first_.clear();
  members_.clear();
  amounts_.clear();
  kinds_.clear();
  live_kinds_ = 0;
  by_labels_.clear();
  group_of_.assign(snapshot_.slots(), NodeGroup());
  for (uint32_t n = 0; n < group_of_.size() && Pays(); ++n) Move(NodeId(n), 0);
}

void NodeGroups::Move(NodeId n, uint64_t seen_version) {
  const NodeGroup before = Of(n);
  if (!snapshot_.present(n)) {
    if (before) Leave(n);
    return;
  }
  const bool same_kind = before && snapshot_.node(n).version <= seen_version;
  const Kind its_kind = same_kind ? kind(before) : KindOf(n);
  Measure(n);
  const auto known = by_name_.find(Name{its_kind, scratch_});
  const NodeGroup now = known == by_name_.end() ? NodeGroup() : *known;
  if (now && now == before) return;
  if (before) Leave(n);
  Join(n, now ? now : MakeGroup(its_kind));
}

NodeGroups::Kind NodeGroups::KindOf(NodeId n) {
  const cluster::NodeEntry& node = snapshot_.node(n);
  labels_.clear();
  for (const model::Symbol key : facts_.labels) labels_.push_back(node.Label(key).value);
  labels_.push_back(snapshot_.unschedulable(n));
  for (const cluster::TaintEntry& taint : node.taints)
    for (const model::Symbol part : {taint.key, taint.value, taint.effect}) labels_.push_back(part.value);
  const auto [at, fresh] = by_labels_.try_emplace(labels_, static_cast<Kind>(kinds_.size()));
  if (fresh) kinds_.emplace_back();
  return at->second;
}

// Writes the node's amounts into `scratch_`.
void NodeGroups::Measure(NodeId n) {
  size_t at = 0;
  for (const model::ResourceId r : columns_) {
    scratch_[at++] = snapshot_.allocatable(r)[n.index()];
    scratch_[at++] = snapshot_.requested(r)[n.index()];
  }
  scratch_[at++] = snapshot_.nonzero_cpu()[n.index()];
  scratch_[at++] = snapshot_.nonzero_memory()[n.index()];
}

// Returns a group without nodes for the name in `scratch_`: the last one that became empty, or a new one.
NodeGroup NodeGroups::MakeGroup(Kind kind) {
  std::vector<NodeGroup>& empty = kinds_[kind].empty;
  NodeGroup g;
  if (empty.empty()) {
    g = NodeGroup(static_cast<uint32_t>(size()));
    kind_of_.push_back(kind);
    nodes_.push_back(0);
    first_.emplace_back();
    members_.emplace_back();
    amounts_.resize(amounts_.size() + width_);
  } else {
    g = empty.back();
    empty.pop_back();
  }
  std::ranges::copy(scratch_, amounts_.begin() + static_cast<ptrdiff_t>(g.index() * width_));
  by_name_.insert(g);
  Log(g);
  return g;
}

void NodeGroups::Join(NodeId n, NodeGroup g) {
  std::vector<NodeId>& members = members_[g.index()];
  group_of_[n.index()] = g;
  members.push_back(n);
  std::ranges::push_heap(members, std::greater());
  live_kinds_ += kinds_[kind(g)].nodes++ == 0;
  const size_t nodes = ++nodes_[g.index()];
  first_[g.index()] = members.front();
  if (constexpr size_t kFew = 16; members.size() <= 2 * nodes + kFew) return;
  std::erase_if(members, [&](NodeId member) { return Of(member) != g; });
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
}

void NodeGroups::Leave(NodeId n) {
  const NodeGroup g = Of(n);
  std::vector<NodeId>& members = members_[g.index()];
  group_of_[n.index()] = NodeGroup();
  live_kinds_ -= --kinds_[kind(g)].nodes == 0;
  if (--nodes_[g.index()] == 0) {
    by_name_.erase(g);
    members.clear();
    first_[g.index()] = NodeId();
    kinds_[kind(g)].empty.push_back(g);
    return Log(g);
  }
  if (first_[g.index()] != n) return;
  while (Of(members.front()) != g) {
    std::ranges::pop_heap(members, std::greater());
    members.pop_back();
  }
  first_[g.index()] = members.front();
}

void NodeGroups::Log(NodeGroup g) {
  if (!log_.Says(g)) log_.Push(g, 4 * group_of_.size());
}

size_t NodeGroups::memory() const {
  constexpr size_t kOfGroup =
      sizeof(Kind) + sizeof(uint32_t) + sizeof(NodeId) + sizeof members_[0] + 2 * sizeof(NodeGroup);
  constexpr size_t kOfNode = 3 * sizeof(NodeId);
  return size() * (kOfGroup + width_ * sizeof(int64_t)) + group_of_.size() * kOfNode;
}

}  // namespace tutti::framework
