// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <fmt/format.h>

#include "base/json.h"
#include "plugins/common/args.h"
#include "plugins/inter_pod_affinity/filter_state.h"
#include "plugins/inter_pod_affinity/score_state.h"

namespace tutti::plugins {

base::Result<std::shared_ptr<InterPodAffinity>> InterPodAffinity::Make(const base::Json& args) {
  const std::string path = "InterPodAffinityArgs";
  if (const auto checked = CheckFields(args, path, {"hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"});
      !checked)
    return tl::make_unexpected(checked.error());
  const auto weight = Field<int64_t>(args, path, "hardPodAffinityWeight", 1);
  if (!weight) return tl::make_unexpected(weight.error());
  if (*weight < 0 || *weight > 100)
    return base::Invalid(fmt::format("{}.hardPodAffinityWeight: {}: not in valid range [0, 100]", path, *weight));
  const auto ignore = Field<bool>(args, path, "ignorePreferredTermsOfExistingPods", false);
  if (!ignore) return tl::make_unexpected(ignore.error());
  auto plugin = std::make_shared<InterPodAffinity>();
  plugin->hard_weight_ = *weight;
  plugin->ignore_preferred_of_others_ = *ignore;
  return plugin;
}

std::unique_ptr<framework::FilterState> InterPodAffinity::PrepareFilter(const cluster::PodClass& pod_class,
                                                                        const cluster::Snapshot& snapshot) const {
  return std::make_unique<InterPodAffinityFilter>(pod_class, snapshot);
}

std::unique_ptr<framework::ScoreState> InterPodAffinity::PrepareScore(const cluster::PodClass& pod_class,
                                                                      const cluster::Snapshot& snapshot) const {
  const model::PodSpec& spec = *pod_class.spec;
  const bool has_preferred = !spec.pod_affinity.preferred.empty() || !spec.pod_anti_affinity.preferred.empty();
  if (ignore_preferred_of_others_ && !has_preferred) return nullptr;
  return std::make_unique<InterPodAffinityScore>(pod_class, snapshot, hard_weight_);
}

}  // namespace tutti::plugins
