// SPDX-License-Identifier: Apache-2.0
#include "model/pod_spec.h"

#include <algorithm>

namespace tutti::model {
namespace {

constexpr int64_t kDefaultCpuMilli = 100;
constexpr int64_t kDefaultMemoryBytes = 200 * int64_t{1024} * 1024;

// FNV-1a over the fields, each ended so that "ab","c" and "a","bc" differ.
class Hasher {
 public:
  void Bytes(std::string_view text) {
    for (const char c : text) Byte(static_cast<unsigned char>(c));
    Byte(0xff);
  }
  void Number(int64_t n) {
    for (int i = 0; i < 8; ++i, n >>= 8) Byte(static_cast<unsigned char>(n & 0xff));
  }
  void List(const std::vector<std::string>& list) {
    Number(static_cast<int64_t>(list.size()));
    for (const std::string& item : list) Bytes(item);
  }
  void Map(const StringMap& map) {
    Number(static_cast<int64_t>(map.size()));
    for (const auto& [key, value] : map) {
      Bytes(key);
      Bytes(value);
    }
  }
  void Requirements(const std::vector<Requirement>& list) {
    Number(static_cast<int64_t>(list.size()));
    for (const Requirement& r : list) {
      Bytes(r.key);
      Number(static_cast<int>(r.op));
      List(r.values);
    }
  }
  void Selector(const std::optional<LabelSelector>& selector) {
    Number(selector.has_value());
    if (selector) {
      Map(selector->match_labels);
      Requirements(selector->match_expressions);
    }
  }
  void Term(const NodeSelectorTerm& term) {
    Requirements(term.match_expressions);
    Requirements(term.match_fields);
  }
  void Term(const PodAffinityTerm& term) {
    Selector(term.selector);
    Selector(term.namespace_selector);
    List(term.namespaces);
    Bytes(term.topology_key);
    List(term.match_label_keys);
    List(term.mismatch_label_keys);
  }
  void Affinity(const PodAffinity& affinity) {
    Number(static_cast<int64_t>(affinity.required.size()));
    for (const PodAffinityTerm& term : affinity.required) Term(term);
    Number(static_cast<int64_t>(affinity.preferred.size()));
    for (const WeightedPodAffinityTerm& term : affinity.preferred) {
      Number(term.weight);
      Term(term.term);
    }
  }
  uint64_t value() const { return state_; }

 private:
  void Byte(unsigned char b) { state_ = (state_ ^ b) * 1099511628211ull; }
  uint64_t state_ = 14695981039346656037ull;
};

// The sum of what is asked, where a container that asks for no cpu or memory counts the default.
ResourceList WithDefaults(const ResourceList& requests) {
  ResourceList list;
  list.Set(kCpu, requests.Has(kCpu) ? requests.Get(kCpu) : kDefaultCpuMilli);
  list.Set(kMemory, requests.Has(kMemory) ? requests.Get(kMemory) : kDefaultMemoryBytes);
  return list;
}

template <typename Read>
ResourceList Aggregate(const std::vector<ContainerRequests>& init, const std::vector<ContainerRequests>& containers,
                       Read read) {
  ResourceList sum;
  for (const ContainerRequests& container : containers) sum.AddAll(read(container.requests));
  ResourceList sidecars, peak;
  for (const ContainerRequests& container : init) {
    ResourceList during = read(container.requests);
    if (container.restartable_init) {
      sum.AddAll(during);
      sidecars.AddAll(during);
      during = sidecars;
    } else {
      during.AddAll(sidecars);
    }
    peak.MaxAll(during);
  }
  sum.MaxAll(peak);
  return sum;
}

bool PodLevel(std::string_view name) { return name == kCpu || name == kMemory || name.starts_with("hugepages-"); }

}  // namespace

uint64_t Hash(const PodSpec& spec) {
  Hasher h;
  h.Bytes(spec.scheduler_name);
  h.Number(spec.priority);
  for (const auto& [name, amount] : spec.requests) {
    h.Bytes(name);
    h.Number(amount);
  }
  h.Number(spec.nonzero_cpu);
  h.Number(spec.nonzero_memory);
  h.Number(spec.saturated);
  h.Bytes(spec.node_name);
  h.Map(spec.node_selector);
  h.Number(spec.required_node_affinity.has_value());
  if (spec.required_node_affinity)
    for (const NodeSelectorTerm& term : spec.required_node_affinity->terms) h.Term(term);
  for (const PreferredNodeTerm& term : spec.preferred_node_affinity) {
    h.Number(term.weight);
    h.Term(term.term);
  }
  h.Number(static_cast<int64_t>(spec.tolerations.size()));
  for (const Toleration& t : spec.tolerations) {
    h.Bytes(t.key);
    h.Bytes(t.op);
    h.Bytes(t.value);
    h.Bytes(t.effect);
  }
  for (const HostPort& port : spec.host_ports) {
    h.Bytes(port.ip);
    h.Bytes(port.protocol);
    h.Number(port.port);
  }
  h.Affinity(spec.pod_affinity);
  h.Affinity(spec.pod_anti_affinity);
  for (const TopologySpread& s : spec.spread) {
    h.Number(s.max_skew);
    h.Bytes(s.topology_key);
    h.Number(s.hard);
    h.Selector(s.selector);
    h.Number(s.min_domains.value_or(-1));
    h.Bytes(s.node_affinity_policy);
    h.Bytes(s.node_taints_policy);
    h.List(s.match_label_keys);
  }
  h.List(spec.images);
  h.Number(spec.container_count);
  h.Number(spec.has_claims);
  for (const PodVolume& v : spec.volumes) {
    h.Number(static_cast<int>(v.source));
    h.Bytes(v.disk);
    h.Bytes(v.csi.driver);
    h.Bytes(v.csi.handle);
    h.Number(v.read_only);
    h.List(v.monitors);
  }
  return h.value();
}

void SetEffectiveRequests(const std::vector<ContainerRequests>& init, const std::vector<ContainerRequests>& containers,
                          const ResourceList& pod_level, const ResourceList& overhead, PodSpec* spec) {
  spec->requests = Aggregate(init, containers, [](const ResourceList& r) { return r; });
  ResourceList nonzero = Aggregate(init, containers, WithDefaults);
  for (const auto& [name, amount] : pod_level) {
    if (!PodLevel(name)) continue;
    spec->requests.Set(name, amount);
    if (name == kCpu || name == kMemory) nonzero.Set(name, amount);
  }
  spec->requests.AddAll(overhead);
  for (const auto& [name, amount] : overhead)
    if (name == kCpu || name == kMemory) nonzero.Add(name, amount);
  spec->nonzero_cpu = std::min(nonzero.Get(kCpu), kLargestRequest);
  spec->nonzero_memory = std::min(nonzero.Get(kMemory), kLargestRequest);
  spec->saturated =
      std::ranges::any_of(spec->requests.items(), [](const auto& item) { return item.second > kLargestRequest; });
}

}  // namespace tutti::model
