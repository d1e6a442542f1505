// SPDX-License-Identifier: Apache-2.0
#include "cluster/occupants.h"

#include "base/check.h"

namespace tutti::cluster {

using model::Symbol;

namespace {

// Selectors name keys that users choose. Beyond so many, all classes are looked through.
constexpr size_t kMostIndexed = 64;

}  // namespace

void OccupantIndex::PutLabel(const PodClass& pod_class, Symbol key, Symbol value) const {
  by_label_[{pod_class.ns, key, value}].insert(pod_class.id);
}

std::optional<size_t> OccupantIndex::CountLabelled(Symbol ns, Symbol key, std::span<const Symbol> values) const {
  if (!indexed_.contains(key)) {
    if (indexed_.size() >= kMostIndexed) return std::nullopt;
    indexed_.insert(key);
    for (const auto& [id, occupants] : by_id_)
      for (const auto& [each, value] : occupants.pod_class->labels)
        if (each == key) PutLabel(*occupants.pod_class, key, value);
  }
  size_t count = 0;
  for (const Symbol value : values)
    if (const auto at = by_label_.find({ns, key, value}); at != by_label_.end()) count += at->second.size();
  return count;
}

std::shared_ptr<const PodClass> OccupantIndex::Record(const PodClass& pod_class, model::NodeId n, int32_t by) {
  const auto [at, fresh] = by_id_.try_emplace(pod_class.id);
  if (fresh) {
    at->second.pod_class = pod_class.shared_from_this();
    Enter(pod_class);
  }
  std::shared_ptr<const PodClass> kept = at->second.pod_class;
  const auto count = at->second.nodes.try_emplace(n, 0).first;
  count->second += by;
  TUTTI_CHECK(count->second >= 0, "a pod leaves a node that it is on");
  if (count->second == 0) at->second.nodes.erase(count);
  if (at->second.nodes.empty()) {
    Leave(*kept);
    by_id_.erase(at);
  }
  return kept;
}

void OccupantIndex::Enter(const PodClass& pod_class) {
  if (pod_class.affine()) affine_.insert(pod_class.id);
  if (indexed_.empty()) return;
  for (const auto& [key, value] : pod_class.labels)
    if (indexed_.contains(key)) PutLabel(pod_class, key, value);
}

void OccupantIndex::Leave(const PodClass& pod_class) {
  if (pod_class.affine()) affine_.erase(pod_class.id);
  if (indexed_.empty()) return;
  for (const auto& [key, value] : pod_class.labels) {
    const auto at = by_label_.find({pod_class.ns, key, value});
    if (at == by_label_.end()) continue;
    at->second.erase(pod_class.id);
    if (at->second.empty()) by_label_.erase(at);
  }
}

}  // namespace tutti::cluster
