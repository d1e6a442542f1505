// SPDX-License-Identifier: Apache-2.0
#include "plugins/unsupported/unsupported.h"

#include <fmt/format.h>

#include <vector>

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

}  // namespace

std::optional<std::string> UnsupportedReason(const model::PodSpec& spec) {
  std::vector<std::string_view> asks;
  if (spec.has_claims) asks.push_back("resourceClaims");
  if (spec.has_volumes) asks.push_back("volumes that restrict its nodes");
  if (!spec.pod_affinity.empty()) asks.push_back("podAffinity");
  if (!spec.pod_anti_affinity.empty()) asks.push_back("podAntiAffinity");
  if (!spec.spread.empty()) asks.push_back("topologySpreadConstraints");
  if (asks.empty()) return std::nullopt;
  return fmt::format("the pod asks for {}, which this version does not schedule by yet", fmt::join(asks, " and "));
}

std::unique_ptr<framework::FilterState> Unsupported::PrepareFilter(const cluster::PodClass& pod_class,
                                                                   const cluster::Snapshot&) const {
  auto reason = UnsupportedReason(*pod_class.spec);
  return reason ? std::make_unique<UnsupportedState>(*std::move(reason)) : nullptr;
}

}  // namespace tutti::plugins
