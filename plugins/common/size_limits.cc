// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/size_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/list_limit.h"

namespace tutti::plugins {
namespace {

// The decoder keeps more than these limits, so a truncated spec is always too large.
static_assert(model::kMostRead > kMostThings && model::kMostRead > 2 * kMostSpreadConstraints);

// So many values of a requirement count as one thing, because they are looked up and not compared one by one.
constexpr size_t kValuesPerThing = 64;

// Return the work on each node in things; one thing costs about as much as comparing one label.
size_t Extent(const model::Requirement& requirement) { return 1 + requirement.values.size() / kValuesPerThing; }

size_t Extent(const std::vector<model::Requirement>& requirements) {
  size_t sum = 0;
  for (const model::Requirement& requirement : requirements) sum += Extent(requirement);
  return sum;
}

size_t Extent(const model::NodeSelectorTerm& term) {
  return 1 + Extent(term.match_expressions) + Extent(term.match_fields);
}

size_t Extent(const std::optional<model::LabelSelector>& selector) {
  return selector ? selector->match_labels.size() + Extent(selector->match_expressions) : 0;
}

size_t Extent(const model::PodAffinityTerm& term) {
  return 1 + Extent(term.selector) + Extent(term.namespace_selector) + term.namespaces.size() / kValuesPerThing +
         term.match_label_keys.size() + term.mismatch_label_keys.size();
}

size_t Extent(const model::PodAffinity& affinity) {
  size_t sum = 0;
  for (const model::PodAffinityTerm& term : affinity.required) sum += Extent(term);
  for (const model::WeightedPodAffinityTerm& weighted : affinity.preferred) sum += Extent(weighted.term);
  return sum;
}

size_t ExtentOfNodeAffinity(const model::PodSpec& spec) {
  size_t sum = spec.node_selector.size();
  if (spec.required_node_affinity)
    for (const model::NodeSelectorTerm& term : spec.required_node_affinity->terms) sum += Extent(term);
  for (const model::PreferredNodeTerm& preferred : spec.preferred_node_affinity) sum += Extent(preferred.term);
  return sum;
}

size_t ExtentOfSpread(const model::PodSpec& spec) {
  size_t sum = 0;
  for (const model::TopologySpread& spread : spec.spread)
    sum += 1 + Extent(spread.selector) + spread.match_label_keys.size();
  return sum;
}

size_t Extent(const std::vector<model::PodVolume>& volumes) {
  size_t sum = volumes.size();
  for (const model::PodVolume& volume : volumes) sum += volume.monitors.size();
  return sum;
}

std::optional<std::string> TooManyConstraints(const model::PodSpec& spec) {
  const auto hard = static_cast<size_t>(std::ranges::count_if(spec.spread, &model::TopologySpread::hard));
  for (const auto& [when, count] : {std::pair("DoNotSchedule", hard), {"ScheduleAnyway", spec.spread.size() - hard}})
    if (count > kMostSpreadConstraints)
      return fmt::format("the pod has more than {} topologySpreadConstraints with {}, and no more are looked at",
                         kMostSpreadConstraints, when);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> TooLarge(const model::PodSpec& spec) {
  const std::array<std::pair<const char*, size_t>, 8> parts = {{
      {"resources", spec.requests.items().size()},
      {"nodeSelector and nodeAffinity", ExtentOfNodeAffinity(spec)},
      {"podAffinity", Extent(spec.pod_affinity)},
      {"podAntiAffinity", Extent(spec.pod_anti_affinity)},
      {"topologySpreadConstraints", ExtentOfSpread(spec)},
      {"tolerations", spec.tolerations.size()},
      {"host ports", spec.host_ports.size()},
      {"volumes", Extent(spec.volumes)},
  }};
  for (const auto& [name, extent] : parts)
    if (extent > kMostThings)
      return fmt::format("the pod's {} have more than {} things to look at on each node, and no more are looked at",
                         name, kMostThings);
  return TooManyConstraints(spec);
}

bool IsLookedAt(const model::PodAffinity& affinity) {
  return affinity.required.size() + affinity.preferred.size() <= kMostThings && Extent(affinity) <= kMostThings;
}

bool IsLookedAt(const std::vector<model::PodVolume>& volumes) {
  return volumes.size() <= kMostThings && Extent(volumes) <= kMostThings;
}

}  // namespace tutti::plugins
