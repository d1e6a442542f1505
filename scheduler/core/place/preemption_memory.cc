// SPDX-License-Identifier: Apache-2.0
#include "core/place/preemption_memory.h"

#include <algorithm>

namespace tutti::core {

PreemptionMemory::Epoch PreemptionMemory::Now(const cluster::PodClass& pod_class) const {
  const cluster::Snapshot& nodes = state_.snapshot();
  return {nodes.slots(),
          nodes.pod_log().end(cluster::PodLog::Of::kAffine),
          nodes.namespaces().version(),
          nodes.labels().keys_version(),
          pod_class.spec->volumes.empty() ? 0 : nodes.storage().version(),
          state_.budgets().version()};
}

// The one that was asked about longest ago makes room.
PreemptionMemory::Class& PreemptionMemory::Find(const cluster::PodClass& pod_class, bool* again) {
  const auto known =
      std::ranges::find_if(classes_, [&](const Class& one) { return one.used_at > 0 && one.id == pod_class.id; });
  *again = known != classes_.end();
  Class& one = *again ? *known : *std::ranges::min_element(classes_, {}, &Class::used_at);
  if (!*again) one = {};
  one.id = pod_class.id;
  one.used_at = ++questions_;
  return one;
}

PreemptionMemory::Answers* PreemptionMemory::Of(const cluster::PodClass& pod_class, const framework::Ranking& ranking) {
  if (!ranking.AloneForNow()) return nullptr;
  bool again = false;
  Class& one = Find(pod_class, &again);
  if (!again) return nullptr;
  const cluster::Snapshot& nodes = state_.snapshot();
  const Epoch now = Now(pod_class);
  touched_.clear();
  const bool holds = !one.answers.on_node_.empty() && one.epoch == now && nodes.ReadLog(one.seen, &touched_);
  if (holds)
    for (const model::NodeId n : touched_) one.answers.on_node_[n.index()] = {};
  else
    one.answers.on_node_.assign(nodes.slots(), {});
  one.epoch = now;
  one.seen = nodes.log_end();
  return &one.answers;
}

}  // namespace tutti::core
