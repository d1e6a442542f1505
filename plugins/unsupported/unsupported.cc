// SPDX-License-Identifier: Apache-2.0
#include "plugins/unsupported/unsupported.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "plugins/common/size_limits.h"

namespace tutti::plugins {
namespace {

class UnsupportedState final : public framework::FilterState {
 public:
  explicit UnsupportedState(std::string reason) : reason_(std::move(reason)) {}

  framework::Verdict Check(model::NodeId) const override { return framework::Verdict::kNever; }
  void Explain(model::NodeId, std::vector<std::string>* reasons) const override { reasons->push_back(reason_); }
  std::string RefusesClass() const override { return reason_; }

 private:
  const std::string reason_;
};

bool SelectsNamespaces(const model::PodAffinityTerm& term) {
  return term.namespace_selector &&
         (!term.namespace_selector->match_labels.empty() || !term.namespace_selector->match_expressions.empty());
}

bool SelectsNamespaces(const model::PodAffinity& affinity) {
  return std::ranges::any_of(affinity.required, [](const auto& term) { return SelectsNamespaces(term); }) ||
         std::ranges::any_of(affinity.preferred, [](const auto& weighted) { return SelectsNamespaces(weighted.term); });
}

// Names a part of `spec` that is not supported, in a sentence for the pod's owner; nullopt when all of it is.
// `namespaces_known`: the labels of namespaces are known, so namespaceSelectors can be matched.
std::optional<std::string> UnsupportedReason(const model::PodSpec& spec, bool namespaces_known) {
  if (auto reason = TooLarge(spec)) return reason;
  std::vector<std::string_view> asks;
  if (spec.has_claims) asks.push_back("resourceClaims");
  if (!namespaces_known && (SelectsNamespaces(spec.pod_affinity) || SelectsNamespaces(spec.pod_anti_affinity)))
    asks.push_back("a namespaceSelector");
  if (asks.empty()) return std::nullopt;
  return fmt::format("the pod asks for {}, which this version does not schedule by yet", fmt::join(asks, " and "));
}

}  // namespace

std::unique_ptr<framework::FilterState> Unsupported::PrepareFilter(const cluster::PodClass& pod_class,
                                                                   const cluster::Snapshot& snapshot) const {
  auto reason = UnsupportedReason(*pod_class.spec, snapshot.namespaces().known());
  return reason ? std::make_unique<UnsupportedState>(*std::move(reason)) : nullptr;
}

}  // namespace tutti::plugins
