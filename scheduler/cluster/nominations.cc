// SPDX-License-Identifier: Apache-2.0
#include "cluster/nominations.h"

#include <algorithm>

namespace tutti::cluster {

void Nominations::Put(model::PodId pod, const std::string& node) {
  if (const auto known = nodes_.find(pod); known != nodes_.end()) {
    if (known->second == node) return;
    const auto before = pods_.find(known->second);
    std::erase(before->second, pod);
    if (before->second.empty()) pods_.erase(before);
    nodes_.erase(known);
  }
  if (node.empty()) return;
  nodes_[pod] = node;
  pods_[node].push_back(pod);
}

const std::string& Nominations::NodeOf(model::PodId pod) const {
  static const std::string none;
  const auto known = nodes_.find(pod);
  return known == nodes_.end() ? none : known->second;
}

std::span<const model::PodId> Nominations::For(const std::string& node) const {
  const auto known = pods_.find(node);
  return known == pods_.end() ? std::span<const model::PodId>() : std::span<const model::PodId>(known->second);
}

}  // namespace tutti::cluster
