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
using model::Symbol;

Symbol Find(const LabelEntries& labels, Symbol key) {
  const auto at =
      std::lower_bound(labels.begin(), labels.end(), key, [](const auto& item, Symbol k) { return item.first < k; });
  return at != labels.end() && at->first == key ? at->second : Symbol();
}

bool SamePlace(const model::Node& a, const model::Node& b) {
  return a.meta.labels == b.meta.labels && a.allocatable == b.allocatable && a.taints == b.taints &&
         a.unschedulable == b.unschedulable && a.ready == b.ready && a.images == b.images &&
         a.meta.annotations == b.meta.annotations && a.meta.deleting() == b.meta.deleting() && a.meta.uid == b.meta.uid;
}

}  // namespace

LabelEntries InternLabels(const model::StringMap& labels, SymbolTable& symbols) {
  LabelEntries entries;
  for (const auto& [key, value] : labels) entries.emplace_back(symbols.Intern(key), symbols.Intern(value));
  std::sort(entries.begin(), entries.end());
  return entries;
}

Symbol NodeEntry::Label(Symbol key) const { return Find(labels, key); }

Snapshot::Snapshot() {
  for (const std::string_view name : {model::kCpu, model::kMemory, model::kEphemeralStorage, model::kPods})
    Column(name);
  for (int i = 0; i < 2; ++i) nonzero_.AddColumn();
}

NodeId Snapshot::FindNode(std::string_view name) const {
  const auto at = by_name_.find(absl::string_view(name.data(), name.size()));
  return at == by_name_.end() ? NodeId() : at->second;
}

Snapshot::NamedColumn& Snapshot::FindColumn(std::string_view resource) const {
  if (const auto known = columns_by_name_.find(resource); known != columns_by_name_.end()) return known->second;
  ResourceId id(static_cast<uint32_t>(resource_names_.size()));
  if (free_columns_.empty()) {
    resource_names_.emplace_back(resource);
    allocatable_.AddColumn();
    requested_.AddColumn();
  } else {
    id = free_columns_.back();
    free_columns_.pop_back();
    resource_names_[id.index()] = resource;
  }
  return columns_by_name_.emplace(resource_names_[id.index()], NamedColumn{id}).first->second;
}

ResourceId Snapshot::Column(std::string_view resource) const {
  NamedColumn& column = FindColumn(resource);
  column.stays = true;
  return column.id;
}

ResourceId Snapshot::ColumnOfPods(std::string_view resource) const { return FindColumn(resource).id; }

ResourceId Snapshot::KnownColumn(std::string_view resource) const {
  const auto known = columns_by_name_.find(resource);
  return known == columns_by_name_.end() ? ResourceId() : known->second.id;
}

void Snapshot::SweepColumns(const std::vector<char>& used) {
  for (auto at = columns_by_name_.begin(); at != columns_by_name_.end();) {
    const auto [id, stays] = at->second;
    if (stays || used[id.index()]) {
      ++at;
      continue;
    }
    at = columns_by_name_.erase(at);
    std::exchange(resource_names_[id.index()], {});
    free_columns_.push_back(id);
  }
  columns_grown_ = std::max(kFewColumns, 2 * columns_by_name_.size());
}

const Snapshot::ImageHolders* Snapshot::Image(Symbol name) const {
  const auto at = images_.find(name);
  return at == images_.end() ? nullptr : &at->second.holders;
}

int64_t Snapshot::LargestImage(Symbol name) const {
  const auto at = images_.find(name);
  return at == images_.end() ? 0 : at->second.largest;
}

void Snapshot::Touch(NodeId n) {
  if (!log_.Says(n)) log_.Push(n, 4 * nodes_.size());
}

// Keys that users make up take no room.
const Snapshot::Domains& Snapshot::DomainsOf(Symbol key) const {
  static const Domains kNone;
  if (!HasKey(key)) return kNone;
  const auto [at, fresh] = domains_.try_emplace(key);
  if (fresh)
    for (uint32_t n = 0; n < nodes_.size(); ++n)
      if (const Symbol value = nodes_[n].Label(key); nodes_[n].present && value) at->second[value].push_back(NodeId(n));
  return at->second;
}

std::span<const NodeId> Snapshot::NodesIn(Symbol key, Symbol value) const {
  const Domains& domains = DomainsOf(key);
  const auto at = domains.find(value);
  return at == domains.end() ? std::span<const NodeId>() : at->second;
}

void Snapshot::PutKeys(const LabelEntries& before, const LabelEntries& now) {
  for (const auto& [key, value] : now) {
    if (Find(before, key)) continue;
    const auto [at, fresh] = keys_.try_emplace(key, 0);
    keys_version_ += fresh;
    ++at->second;
  }
  for (const auto& [key, value] : before)
    if (!Find(now, key))
      if (const auto at = keys_.find(key); --at->second == 0) {
        keys_.erase(at);
        domains_.erase(key);
      }
}

// By the node's labels, not by the keys that were asked for: they are fewer.
void Snapshot::PutDomains(NodeId n, const LabelEntries& before) {
  const LabelEntries& now = nodes_[n.index()].labels;
  for (const auto& [key, value] : before) {
    const auto at = domains_.find(key);
    if (at == domains_.end() || Find(now, key) == value) continue;
    std::vector<NodeId>& nodes = at->second[value];
    *std::find(nodes.begin(), nodes.end(), n) = nodes.back();
    nodes.pop_back();
    if (nodes.empty()) at->second.erase(value);
  }
  for (const auto& [key, value] : now)
    if (const auto at = domains_.find(key); at != domains_.end() && Find(before, key) != value)
      at->second[value].push_back(n);
}

const LabelEntries* Snapshot::Namespace(Symbol name) const {
  namespaces_asked_for_.insert(name);
  const auto at = namespaces_.find(name);
  return at == namespaces_.end() ? nullptr : &at->second;
}

bool Snapshot::PutNamespace(std::string_view name, const model::StringMap& labels) {
  const Symbol symbol = symbols_.Intern(name);
  const auto [at, fresh] = namespaces_.try_emplace(symbol);
  LabelEntries entries = InternLabels(labels, symbols_);
  if (!fresh && at->second == entries) return false;
  at->second = std::move(entries);
  const bool matters = namespaces_asked_for_.contains(symbol) || !namespaces_known();
  namespaces_version_ += matters;
  return matters;
}

bool Snapshot::DropNamespace(std::string_view name) {
  const Symbol symbol = symbols_.Intern(name);
  namespaces_.erase(symbol);
  const bool matters = namespaces_asked_for_.erase(symbol) > 0;
  namespaces_version_ += matters;
  return matters;
}

void Snapshot::PutImages(NodeId n, const model::Node& node) {
  const model::Node* before = nodes_[n.index()].node.get();
  if (before && before->images == node.images) return;
  DropImages(n);
  for (const model::ContainerImage& image : node.images)
    for (const std::string& name : image.names) {
      ImageEntry& entry = images_[symbols_.Intern(name)];
      entry.holders[n] = image.size_bytes;
      entry.largest = std::max(entry.largest, image.size_bytes);
    }
}

void Snapshot::DropImages(NodeId n) {
  const model::Node* node = nodes_[n.index()].node.get();
  if (!node) return;
  for (const model::ContainerImage& image : node->images) {
    for (const std::string& name : image.names) {
      const auto at = images_.find(symbols_.Intern(name));
      if (at == images_.end()) continue;  // a name that the node lists twice
      at->second.holders.erase(n);
      if (at->second.holders.empty()) images_.erase(at);
    }
  }
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
  const LabelEntries labels_before = std::exchange(entry.labels, InternLabels(node->meta.labels, symbols_));
  PutDomains(n, labels_before);
  PutKeys(labels_before, entry.labels);
  entry.taints.clear();
  for (const model::Taint& taint : node->taints)
    entry.taints.push_back({symbols_.Intern(taint.key), symbols_.Intern(taint.value), symbols_.Intern(taint.effect)});
  barriers_[n.index()] = (entry.taints.empty() ? 0 : kTainted) | (node->unschedulable ? kUnschedulable : 0);
  allocatable_.ClearSlot(n);
  for (const auto& [name, amount] : node->allocatable) {
    const ResourceId r = Column(name);
    if (!allocatable_.holds(r)) Provide(r);
    allocatable_.Cell(r, n) = std::clamp<int64_t>(amount, 0, kLargestSum);
  }
  PutImages(n, *node);
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
  DropImages(n);
  const LabelEntries labels_before = std::exchange(entry.labels, {});
  PutDomains(n, labels_before);
  PutKeys(labels_before, {});
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
  const auto [at, fresh] = occupants_.try_emplace(pod_class.id);
  if (fresh) at->second.pod_class = pod_class.shared_from_this();
  const auto count = at->second.nodes.try_emplace(n, 0).first;
  count->second += by;
  TUTTI_CHECK(count->second >= 0, "a pod leaves a node that it is on");
  if (pod_followers_ > 0)
    pod_log_.Push({at->second.pod_class, n, by}, 2 * nodes_.size());
  else
    pod_log_.Skip();
  if (pod_class.affine()) affine_log_.Push({at->second.pod_class, n, by}, 2 * nodes_.size());
  if (count->second == 0) at->second.nodes.erase(count);
  if (at->second.nodes.empty()) occupants_.erase(at);
}

void Snapshot::MarkSymbols(SymbolTable::Used* used) const {
  const auto mark_labels = [used](const LabelEntries& labels) {
    for (const auto& [key, value] : labels) {
      used->Mark(key);
      used->Mark(value);
    }
  };
  for (const NodeEntry& node : nodes_) {
    mark_labels(node.labels);
    for (const TaintEntry& taint : node.taints) {
      used->Mark(taint.key);
      used->Mark(taint.value);
      used->Mark(taint.effect);
    }
    for (const PortEntry& port : node.ports) {
      used->Mark(port.protocol);
      used->Mark(port.ip);
    }
  }
  for (const auto& [image, holders] : images_) used->Mark(image);
  for (const auto& [key, nodes] : keys_) used->Mark(key);
  for (const auto& [key, domains] : domains_) {
    used->Mark(key);
    for (const auto& [value, nodes] : domains) used->Mark(value);
  }
  for (const auto& [name, labels] : namespaces_) {
    used->Mark(name);
    mark_labels(labels);
  }
  for (const Symbol name : namespaces_asked_for_) used->Mark(name);
}

void Snapshot::Shift(const PodClass& pod_class, NodeId n, int64_t sign) {
  for (const auto& [r, amount] : pod_class.requests) {
    if (r <= kPodsColumn || allocatable_.holds(r))
      requested_.Add(r, n, sign * amount);
    else
      ShiftInVain(r, n, sign * amount);
  }
  requested_.Add(kPodsColumn, n, sign);
  nonzero_.Add(kCpuColumn, n, sign * pod_class.spec->nonzero_cpu);
  nonzero_.Add(kMemoryColumn, n, sign * pod_class.spec->nonzero_memory);
}

void Snapshot::ShiftInVain(ResourceId r, NodeId n, Columns::Wide by) {
  const auto at = requested_in_vain_.try_emplace({r, n}, 0).first;
  at->second += by;
  if (at->second == 0) requested_in_vain_.erase(at);
}

void Snapshot::Adjust(ResourceId r, NodeId n, Columns::Wide by) {
  if (by == 0) return;
  if (r <= kPodsColumn || allocatable_.holds(r))
    requested_.AddBeyond(r, n, by);
  else
    ShiftInVain(r, n, by);
  Touch(n);
}

// A node comes with the first of it.
void Snapshot::Provide(ResourceId r) {
  ++provided_;
  const auto from = requested_in_vain_.lower_bound({r, NodeId(0)});
  auto at = from;
  for (; at != requested_in_vain_.end() && at->first.first == r; ++at)
    requested_.AddBeyond(r, at->first.second, at->second);
  requested_in_vain_.erase(from, at);
}

std::vector<PortEntry> Snapshot::PortsOf(const PodClass& pod_class) const {
  std::vector<PortEntry> ports;
  for (const model::HostPort& port : pod_class.spec->host_ports)
    ports.push_back({port.port, symbols_.Intern(port.protocol), symbols_.Intern(port.ip)});
  std::ranges::sort(ports);
  return ports;
}

}  // namespace tutti::cluster
