// SPDX-License-Identifier: Apache-2.0
#include "model/footprint.h"

namespace tutti::model {
namespace {

// What a value holds beside itself.
template <typename T>
size_t Held(const std::vector<T>& list);
template <typename T>
size_t Held(const std::optional<T>& value);
template <typename... Parts>
size_t HeldBy(const Parts&... parts);

size_t Held(const std::string& text) { return text.size(); }
size_t Held(const std::pair<std::string, std::string>& entry) { return HeldBy(entry.first, entry.second); }
size_t Held(const ResourceList::Item& item) { return Held(item.first); }
size_t Held(const Requirement& requirement) { return HeldBy(requirement.key, requirement.values); }
size_t Held(const LabelSelector& selector) { return HeldBy(selector.match_labels, selector.match_expressions); }
size_t Held(const NodeSelectorTerm& term) { return HeldBy(term.match_expressions, term.match_fields); }
size_t Held(const NodeSelector& selector) { return Held(selector.terms); }
size_t Held(const PreferredNodeTerm& preferred) { return Held(preferred.term); }
size_t Held(const Toleration& t) { return HeldBy(t.key, t.op, t.value, t.effect); }
size_t Held(const HostPort& port) { return HeldBy(port.ip, port.protocol); }
size_t Held(const PodAffinityTerm& term) {
  return HeldBy(term.selector, term.namespaces, term.namespace_selector, term.topology_key, term.match_label_keys,
                term.mismatch_label_keys);
}
size_t Held(const WeightedPodAffinityTerm& weighted) { return Held(weighted.term); }
size_t Held(const PodAffinity& affinity) { return HeldBy(affinity.required, affinity.preferred); }
size_t Held(const TopologySpread& spread) {
  return HeldBy(spread.topology_key, spread.selector, spread.node_affinity_policy, spread.node_taints_policy,
                spread.match_label_keys);
}
size_t Held(const PodVolume& volume) {
  return HeldBy(volume.disk, volume.csi.driver, volume.csi.handle, volume.monitors);
}

template <typename T>
size_t Held(const std::vector<T>& list) {
  size_t bytes = list.capacity() * sizeof(T);
  for (const T& item : list) bytes += Held(item);
  return bytes;
}
template <typename T>
size_t Held(const std::optional<T>& value) {
  return value ? Held(*value) : 0;
}
template <typename... Parts>
size_t HeldBy(const Parts&... parts) {
  return (Held(parts) + ...);
}

}  // namespace

size_t Footprint(const PodSpec& spec) {
  return sizeof(spec) + HeldBy(spec.scheduler_name, spec.requests.items(), spec.node_name, spec.node_selector,
                               spec.required_node_affinity, spec.preferred_node_affinity, spec.tolerations,
                               spec.host_ports, spec.pod_affinity, spec.pod_anti_affinity, spec.spread, spec.images,
                               spec.volumes);
}

}  // namespace tutti::model
