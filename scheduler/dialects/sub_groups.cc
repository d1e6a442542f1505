// SPDX-License-Identifier: Apache-2.0
#include "dialects/sub_groups.h"

#include <fmt/format.h>

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

void JoinSubGroup(const std::vector<SubGroupPolicy>& policies, const model::Pod& pod, Membership* membership) {
  for (size_t i = 0; i < policies.size(); ++i) {
    const auto sub_group = SubGroupOf(policies[i], pod.meta.labels);
    if (!sub_group) continue;
    const std::string name = fmt::format("volcano/{}{}", i, *sub_group);
    if (policies[i].unit.size > 1 || policies[i].unit.min > 0)
      membership->unit = std::make_shared<const model::Unit>(model::Unit{i, name});
    if (policies[i].topology.empty()) return;
    model::TopologyRequest request = policies[i].topology;
    request.subset = name;
    membership->topology = std::make_shared<const model::TopologyRequest>(std::move(request));
    return;
  }
}

}  // namespace tutti::dialects
