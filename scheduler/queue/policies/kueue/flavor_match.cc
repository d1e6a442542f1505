// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/flavor_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "model/tolerates.h"

namespace tutti::queue {
namespace {

bool IsTolerated(const model::Taint& taint, const model::PodSpec& pod, const model::Flavor& flavor) {
  const auto tolerates = [&](const model::Toleration& toleration) { return model::Tolerates(toleration, taint); };
  return std::ranges::any_of(pod.tolerations, tolerates) || std::ranges::any_of(flavor.tolerations, tolerates);
}

// As Kubernetes prints a taint that has no time.
std::string Print(const model::Taint& taint) {
  return fmt::format("{{{} {} {} <nil>}}", taint.key, taint.value, taint.effect);
}

std::optional<int64_t> Number(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool Meets(const model::Requirement& requirement, const std::string& label) {
  const bool named = std::ranges::find(requirement.values, label) != requirement.values.end();
  const auto compares = [&](auto compare) {
    if (requirement.values.size() != 1) return false;
    const auto have = Number(label), bound = Number(requirement.values[0]);
    return have && bound && compare(*have, *bound);
  };
  switch (requirement.op) {
    case model::Operator::kIn: return named;
    case model::Operator::kNotIn: return !named;
    case model::Operator::kExists: return true;
    case model::Operator::kDoesNotExist: return false;
    case model::Operator::kGt: return compares(std::greater());
    case model::Operator::kLt: return compares(std::less());
    case model::Operator::kInvalid: return false;
  }
  return false;
}

// A term of which the flavor has no label leaves all to the nodes.
bool MeetsAffinity(const model::NodeSelector& affinity, const model::Flavor& flavor) {
  bool any = false;
  for (const model::NodeSelectorTerm& term : affinity.terms) {
    bool named = false, met = true;
    for (const model::Requirement& requirement : term.match_expressions)
      if (const std::string* label = model::Find(flavor.labels, requirement.key)) {
        named = true;
        met = met && Meets(requirement, *label);
      }
    if (!named) return true;
    any = any || met;
  }
  return any || affinity.terms.empty();
}

bool MeetsSelectors(const model::PodSpec& pod, const model::Flavor& flavor) {
  for (const auto& [key, value] : pod.node_selector)
    if (const std::string* label = model::Find(flavor.labels, key); label && *label != value) return false;
  return !pod.required_node_affinity || MeetsAffinity(*pod.required_node_affinity, flavor);
}

}  // namespace

std::string MismatchOf(const model::PodSpec& pod, const model::Flavor& flavor) {
  for (const model::Taint& taint : flavor.taints)
    if ((taint.effect == "NoSchedule" || taint.effect == "NoExecute") && !IsTolerated(taint, pod, flavor))
      return fmt::format("untolerated taint {} in flavor {}", Print(taint), flavor.name);
  if (!MeetsSelectors(pod, flavor)) return fmt::format("flavor {} doesn't match node affinity", flavor.name);
  return {};
}

}  // namespace tutti::queue
