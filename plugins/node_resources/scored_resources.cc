// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources/scored_resources.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "plugins/common/args.h"
#include "plugins/common/resource_names.h"

namespace tutti::plugins {

std::vector<ResourceWeight> DefaultResources() {
  return {{std::string(model::kCpu), 1}, {std::string(model::kMemory), 1}};
}

base::Result<std::vector<ResourceWeight>> ReadResources(const base::Json& args, std::string_view path) {
  if (!args.is_object() || !args.contains("resources") || args["resources"].is_null()) return DefaultResources();
  const base::Json& list = args["resources"];
  if (!list.is_array()) return base::Invalid(fmt::format("{}.resources: must be a list", path));
  std::vector<ResourceWeight> resources;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = fmt::format("{}.resources[{}]", path, i);
    if (const auto checked = CheckFields(list[i], at, {"name", "weight"}); !checked)
      return tl::make_unexpected(checked.error());
    const auto name = Field<std::string>(list[i], at, "name", {});
    const auto weight = Field<int64_t>(list[i], at, "weight", 1);
    if (!name) return tl::make_unexpected(name.error());
    if (!weight) return tl::make_unexpected(weight.error());
    resources.push_back({*name, *weight == 0 ? 1 : *weight});
    if (resources.back().weight < 0 || resources.back().weight > 100)
      return base::Invalid(fmt::format("{}.weight: resource weight of {} not in valid range (0, 100]", at, *name));
  }
  return resources.empty() ? DefaultResources() : resources;
}

ScoredResources::ScoredResources(const std::vector<ResourceWeight>& resources, Requests requests,
                                 const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot)
    : snapshot_(snapshot) {
  const model::PodSpec& spec = *pod_class.spec;
  const bool nonzero = requests == Requests::kNonZero;
  for (const auto& [name, weight] : resources) {
    Entry entry{snapshot.resources().Column(name), Used::kRequested,
                std::min(spec.requests.Get(name), model::kLargestRequest), weight};
    if (nonzero && name == model::kCpu) {
      entry.used = Used::kNonZeroCpu;
      entry.pod = spec.nonzero_cpu;
    }
    if (nonzero && name == model::kMemory) {
      entry.used = Used::kNonZeroMemory;
      entry.pod = spec.nonzero_memory;
    }
    all_zero_ = all_zero_ && entry.pod == 0;
    const bool scalar = IsScalarResource(name);
    const bool counted = scalar || name == model::kCpu || name == model::kMemory || name == model::kEphemeralStorage;
    if (counted && !(scalar && entry.pod == 0)) entries_.push_back(entry);
  }
}

void ScoredResources::Look(std::vector<View>* views) const {
  views->clear();
  for (const Entry& entry : entries_) {
    const std::span<const int64_t> used = entry.used == Used::kRequested    ? snapshot_.requested(entry.column)
                                          : entry.used == Used::kNonZeroCpu ? snapshot_.nonzero_cpu()
                                                                            : snapshot_.nonzero_memory();
    views->push_back({snapshot_.allocatable(entry.column).data(), used.data(), entry.pod, entry.weight});
  }
}

}  // namespace tutti::plugins
