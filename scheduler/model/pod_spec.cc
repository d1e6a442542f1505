// SPDX-License-Identifier: Apache-2.0
#include "model/pod_spec.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "model/quantity.h"

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

// What a pod's containers ask for of one resource. Init containers run one after another, beside the sidecars that were
// started before them.
struct Amount {
  int64_t sum = 0, sidecars = 0, peak = 0, overhead = 0;

  void Container(int64_t amount) { sum = SaturatingAdd(sum, amount); }
  void Sidecar(int64_t amount) {
    Container(amount);
    sidecars = SaturatingAdd(sidecars, amount);
    peak = std::max(peak, sidecars);
  }
  void Init(int64_t amount) { peak = std::max(peak, SaturatingAdd(amount, sidecars)); }
  int64_t total() const { return SaturatingAdd(std::max(sum, peak), overhead); }
};

// Each container costs what it names itself, whatever the others do: a pod may have thousands of either.
class Amounts {
 public:
  void Add(const ResourceList& requests, void (Amount::*count)(int64_t)) {
    for (const auto& [name, amount] : requests) (by_name_[name].*count)(amount);
    (cpu_.*count)(requests.Has(kCpu) ? requests.Get(kCpu) : kDefaultCpuMilli);
    (memory_.*count)(requests.Has(kMemory) ? requests.Get(kMemory) : kDefaultMemoryBytes);
  }
  void Set(const std::string& name, int64_t amount) {
    Each(name, [amount](Amount& one) { one = {.sum = amount}; });
  }
  void AddOverhead(const std::string& name, int64_t amount) {
    Each(name, [amount](Amount& one) { one.overhead = SaturatingAdd(one.overhead, amount); });
  }

  ResourceList Totals() const {
    std::vector<std::string_view> names;
    for (const auto& [name, amount] : by_name_) names.push_back(name);
    std::ranges::sort(names);
    ResourceList totals;
    for (const std::string_view name : names) totals.Set(name, by_name_.at(name).total());
    return totals;
  }
  // Where a container that asks for none counts the default.
  int64_t nonzero_cpu() const { return cpu_.total(); }
  int64_t nonzero_memory() const { return memory_.total(); }

 private:
  template <typename Change>
  void Each(const std::string& name, Change change) {
    change(by_name_[name]);
    if (name == kCpu) change(cpu_);
    if (name == kMemory) change(memory_);
  }

  absl::flat_hash_map<std::string_view, Amount> by_name_;
  Amount cpu_, memory_;
};

Amounts AmountsOf(const std::vector<ContainerRequests>& init, const std::vector<ContainerRequests>& containers) {
  Amounts amounts;
  for (const ContainerRequests& one : containers) amounts.Add(one.requests, &Amount::Container);
  for (const ContainerRequests& one : init)
    amounts.Add(one.requests, one.restartable_init ? &Amount::Sidecar : &Amount::Init);
  return amounts;
}

}  // namespace

bool IsPodLevelResource(std::string_view name) {
  return name == kCpu || name == kMemory || name.starts_with("hugepages-");
}

ResourceList AggregateRequests(const std::vector<ContainerRequests>& init,
                               const std::vector<ContainerRequests>& containers) {
  return AmountsOf(init, containers).Totals();
}

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
                          const ResourceList& pod_level, const ResourceList& overhead, CountedAs as, PodSpec* spec) {
  Amounts amounts = AmountsOf(init, containers);
  bool asks_itself = false;
  for (const auto& [name, amount] : pod_level) {
    if (!IsPodLevelResource(name)) continue;
    amounts.Set(name, amount);
    asks_itself = true;
  }
  for (const auto& [name, amount] : overhead) amounts.AddOverhead(name, amount);
  spec->requests = amounts.Totals();
  const auto nonzero = [&](std::string_view name, int64_t with_defaults) {
    const bool named = asks_itself && as == CountedAs::kOccupant && spec->requests.Has(name);
    return std::min(named ? spec->requests.Get(name) : with_defaults, kLargestRequest);
  };
  spec->nonzero_cpu = nonzero(kCpu, amounts.nonzero_cpu());
  spec->nonzero_memory = nonzero(kMemory, amounts.nonzero_memory());
  spec->saturated =
      std::ranges::any_of(spec->requests.items(), [](const auto& item) { return item.second > kLargestRequest; });
}

}  // namespace tutti::model
