// SPDX-License-Identifier: Apache-2.0
#include "cluster/snapshot.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "model/quantity.h"

namespace tutti::cluster {
namespace {

using model::NodeId;
using model::ResourceId;

bool SamePlace(const model::Node& a, const model::Node& b) {
  return a.meta.labels == b.meta.labels && a.allocatable == b.allocatable && a.taints == b.taints &&
         a.unschedulable == b.unschedulable && a.ready == b.ready && a.images == b.images &&
         a.meta.annotations == b.meta.annotations && a.meta.deleting() == b.meta.deleting() && a.meta.uid == b.meta.uid;
}

}  // namespace

NodeId Snapshot::FindNode(std::string_view name) const {
  const auto at = by_name_.find(absl::string_view(name.data(), name.size()));
  return at == by_name_.end() ? NodeId() : at->second;
}

void Snapshot::Touch(NodeId n) {
  if (!log_.Says(n)) log_.Push(n, 4 * nodes_.size());
}

NodeId Snapshot::PutNode(std::shared_ptr<const model::Node> node) {
  NodeId n = FindNode(node->meta.name);
  if (!n) {
    if (free_slots_.empty()) {
      n = NodeId(static_cast<uint32_t>(nodes_.size()));
      nodes_.emplace_back();
      allocatable_.AddSlot();
      requested_.AddSlot();
      nonzero_.AddSlot();
      barriers_.push_back(0);
    } else {
      n = free_slots_.back();
      free_slots_.pop_back();
    }
    by_name_.emplace(node->meta.name, n);
    ++node_count_;
  }
  NodeEntry& entry = nodes_[n.index()];
  if (entry.present && SamePlace(*entry.node, *node)) {  // a heartbeat: no reader needs to look again
    entry.node = std::move(node);
    return n;
  }
  entry.present = true;
  entry.name = node->meta.name;
  entry.version = ++last_version_;
  const LabelEntries labels_before = std::exchange(entry.labels, InternLabels(node->meta.labels, *symbols_));
  labels_.Changed(n, labels_before);
  entry.taints.clear();
  for (const model::Taint& taint : node->taints)
    entry.taints.push_back(
        {symbols_->Intern(taint.key), symbols_->Intern(taint.value), symbols_->Intern(taint.effect)});
  barriers_[n.index()] = (entry.taints.empty() ? 0 : kTainted) | (node->unschedulable ? kUnschedulable : 0);
  allocatable_.ClearSlot(n);
  for (const auto& [name, amount] : node->allocatable) {
    const ResourceId r = resources_->Column(name);
    if (!allocatable_.holds(r)) Provide(r);
    allocatable_.Cell(r, n) = std::clamp<int64_t>(amount, 0, kLargestSum);
  }
  images_.Changed(n, entry.node.get(), node.get(), *symbols_);
  entry.node = std::move(node);
  Touch(n);
  return n;
}

void Snapshot::DropNode(NodeId n) {
  NodeEntry& entry = nodes_[n.index()];
  TUTTI_CHECK(entry.present, "a node is dropped once");
  for (uint32_t r = 0; r < requested_.size(); ++r)
    TUTTI_CHECK(requested_.at(ResourceId(r), n) == 0, "a node is dropped after its pods: " + entry.name);
  TUTTI_CHECK(entry.ports.empty(), "a node is dropped after its pods");
  by_name_.erase(entry.name);
  images_.Changed(n, entry.node.get(), nullptr, *symbols_);
  const LabelEntries labels_before = std::exchange(entry.labels, {});
  labels_.Changed(n, labels_before);
  entry = NodeEntry{};
  entry.version = ++last_version_;
  barriers_[n.index()] = 0;
  allocatable_.ClearSlot(n);
  free_slots_.push_back(n);
  --node_count_;
  Touch(n);
}

void Snapshot::Place(const PodClass& pod_class, NodeId n, const Takings& takings) {
  Shift(pod_class, n, +1);
  if (!pod_class.spec->volumes.empty()) nodes_[n.index()].with_volumes.push_back(&pod_class);
  for (const ClaimUse& use : pod_class.claims) storage_.CountUser(use.claim, +1);
  for (const VolumePick& pick : takings.volumes) storage_.Take(pick, n);
  if (!pod_class.spec->host_ports.empty()) {
    std::vector<PortEntry>& ports = nodes_[n.index()].ports;
    const std::vector<PortEntry> more = PortsOf(pod_class);
    const auto middle = ports.insert(ports.end(), more.begin(), more.end());
    std::inplace_merge(ports.begin(), middle, ports.end());
  }
  Record(pod_class, n, +1);
  Touch(n);
}

void Snapshot::Remove(const PodClass& pod_class, NodeId n, const Takings& takings) {
  Shift(pod_class, n, -1);
  if (!pod_class.spec->volumes.empty()) {
    auto& pods = nodes_[n.index()].with_volumes;
    pods.erase(std::find(pods.begin(), pods.end(), &pod_class));
  }
  for (const ClaimUse& use : pod_class.claims) storage_.CountUser(use.claim, -1);
  for (const VolumePick& pick : takings.volumes) storage_.GiveBack(pick);
  if (!pod_class.spec->host_ports.empty()) {
    std::vector<PortEntry>& ports = nodes_[n.index()].ports;
    const std::vector<PortEntry> freed = PortsOf(pod_class);
    std::vector<PortEntry> left;
    std::ranges::set_difference(ports, freed, std::back_inserter(left));
    TUTTI_CHECK(left.size() + freed.size() == ports.size(), "a port is freed once");
    ports = std::move(left);
  }
  Record(pod_class, n, -1);
  Touch(n);
}

void Snapshot::Record(const PodClass& pod_class, NodeId n, int32_t by) {
  pod_log_.Push({occupants_.Record(pod_class, n, by), n, by}, 2 * nodes_.size());
}

void Snapshot::MarkSymbols(SymbolTable::Used* used) const {
  for (const NodeEntry& node : nodes_) node.MarkSymbols(used);
  labels_.MarkSymbols(used);
  images_.MarkSymbols(used);
  namespaces_.MarkSymbols(used);
}

void Snapshot::Shift(const PodClass& pod_class, NodeId n, int64_t sign) {
  for (const auto& [r, amount] : pod_class.requests) {
    if (r <= kPodsColumn || allocatable_.holds(r))
      requested_.Add(r, n, sign * amount);
    else
      ShiftUnoffered(r, n, sign * amount);
  }
  requested_.Add(kPodsColumn, n, sign);
  nonzero_.Add(kCpuColumn, n, sign * pod_class.spec->nonzero_cpu);
  nonzero_.Add(kMemoryColumn, n, sign * pod_class.spec->nonzero_memory);
}

void Snapshot::ShiftUnoffered(ResourceId r, NodeId n, Columns::Wide by) {
  const auto at = requested_unoffered_.try_emplace({r, n}, 0).first;
  at->second += by;
  if (at->second == 0) requested_unoffered_.erase(at);
}

void Snapshot::Adjust(ResourceId r, NodeId n, Columns::Wide by) {
  if (by == 0) return;
  if (r <= kPodsColumn || allocatable_.holds(r))
    requested_.AddBeyond(r, n, by);
  else
    ShiftUnoffered(r, n, by);
  Touch(n);
}

// A node comes with the first of it.
void Snapshot::Provide(ResourceId r) {
  ++provided_;
  const auto from = requested_unoffered_.lower_bound({r, NodeId(0)});
  auto at = from;
  for (; at != requested_unoffered_.end() && at->first.first == r; ++at)
    requested_.AddBeyond(r, at->first.second, at->second);
  requested_unoffered_.erase(from, at);
}

std::vector<PortEntry> Snapshot::PortsOf(const PodClass& pod_class) const {
  std::vector<PortEntry> ports;
  for (const model::HostPort& port : pod_class.spec->host_ports)
    ports.push_back({port.port, symbols_->Intern(port.protocol), symbols_->Intern(port.ip)});
  std::ranges::sort(ports);
  return ports;
}

}  // namespace tutti::cluster
