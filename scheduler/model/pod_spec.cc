// SPDX-License-Identifier: Apache-2.0
#include "model/pod_spec.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "model/field_counts.h"
#include "model/quantity.h"

namespace tutti::model {
namespace {

constexpr int64_t kDefaultCpuMilli = 100;
constexpr int64_t kDefaultMemoryBytes = 200 * int64_t{1024} * 1024;

// FNV-1a over every member, each ended or counted so that "ab","c" and "a","bc" differ.
class Hasher {
 public:
  void Add(std::string_view text) {
    for (const char c : text) Byte(static_cast<unsigned char>(c));
    Byte(0xff);
  }
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void Add(T number) {
    auto n = static_cast<uint64_t>(number);
    for (int i = 0; i < 8; ++i, n >>= 8) Byte(static_cast<unsigned char>(n & 0xff));
  }
  template <typename A, typename B>
  void Add(const std::pair<A, B>& pair) {
    Add(pair.first);
    Add(pair.second);
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    Add(list.size());
    for (const T& item : list) Add(item);
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(value.has_value());
    if (value) Add(*value);
  }
  void Add(const ResourceList& resources) { Add(resources.items()); }
  template <HasFields T>
  void Add(const T& value) {
    std::apply([this](const auto&... member) { (Add(member), ...); }, Fields(value));
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
  Hasher hasher;
  hasher.Add(spec);
  return hasher.value();
}

void SetEffectiveRequests(const std::vector<ContainerRequests>& init, const std::vector<ContainerRequests>& containers,
                          const ResourceList& pod_level, const ResourceList& overhead, CountedAs as, PodSpec* spec) {
  Amounts amounts = AmountsOf(init, containers);
  Amounts waiting = amounts;  // upstream's score of a pod that waits reads its containers alone
  bool asks_itself = false;
  for (const auto& [name, amount] : pod_level) {
    if (!IsPodLevelResource(name)) continue;
    amounts.Set(name, amount);
    asks_itself = true;
  }
  for (const auto& [name, amount] : overhead)
    for (Amounts* of : {&amounts, &waiting}) of->AddOverhead(name, amount);
  const Amounts& counted = as == CountedAs::kWaiting ? waiting : amounts;
  spec->requests = amounts.Totals();
  const auto nonzero = [&](std::string_view name, int64_t with_defaults) {
    const bool named = asks_itself && as == CountedAs::kOccupant && spec->requests.Has(name);
    return std::min(named ? spec->requests.Get(name) : with_defaults, kLargestRequest);
  };
  spec->nonzero_cpu = nonzero(kCpu, counted.nonzero_cpu());
  spec->nonzero_memory = nonzero(kMemory, counted.nonzero_memory());
  spec->saturated =
      std::ranges::any_of(spec->requests.items(), [](const auto& item) { return item.second > kLargestRequest; });
}

}  // namespace tutti::model
