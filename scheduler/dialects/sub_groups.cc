// SPDX-License-Identifier: Apache-2.0
#include "dialects/sub_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/label_match.h"

namespace tutti::dialects {
namespace {

// Which subgroup of the policy the pod is in, as text that no other subgroup has: no label's value has a slash.
std::optional<std::string> SubGroupOf(const SubGroupPolicy& policy, const model::StringMap& labels) {
  if (policy.selector && !Selects(*policy.selector, labels)) return std::nullopt;
  std::string values;
  for (const std::string& key : policy.keys) {
    const std::string* value = model::Find(labels, key);
    if (!value || value->empty()) return std::nullopt;
    values += '/' + *value;
  }
  return values;
}

}  // namespace

std::shared_ptr<const model::TopologyRequest> TopologyOfSubGroup(const std::vector<SubGroupPolicy>& policies,
                                                                 const model::Pod& pod) {
  for (size_t i = 0; i < policies.size(); ++i) {
    const auto sub_group = SubGroupOf(policies[i], pod.meta.labels);
    if (!sub_group) continue;
    if (policies[i].topology.empty()) return nullptr;
    model::TopologyRequest request = policies[i].topology;
    request.subset = fmt::format("volcano/{}{}", i, *sub_group);
    return std::make_shared<const model::TopologyRequest>(std::move(request));
  }
  return nullptr;
}

}  // namespace tutti::dialects
