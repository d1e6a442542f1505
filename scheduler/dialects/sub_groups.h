// SPDX-License-Identifier: Apache-2.0
// SubGroups: what a Volcano PodGroup's spec.subGroupPolicy asks for parts of its gang: the pods that agree in some
// labels are to be near each other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/pod.h"
#include "model/selector.h"
#include "model/topology.h"

namespace tutti::dialects {

struct SubGroupPolicy {
  std::optional<model::LabelSelector> selector;  // absent: every pod of the group
  std::vector<std::string> keys;                 // pods that agree in these labels are a subgroup; none: all are one
  model::TopologyRequest topology;               // of each subgroup; no subset is set
  friend bool operator==(const SubGroupPolicy&, const SubGroupPolicy&) = default;
};

// What is asked for the subgroup that the pod is in; null: it is in none, or nothing is asked. A pod that lacks a label
// of `keys`, or has it empty, is in no subgroup of that policy; the first policy that it is in counts (upstream:
// pkg/scheduler/api/sub_job_info.go).
std::shared_ptr<const model::TopologyRequest> TopologyOfSubGroup(const std::vector<SubGroupPolicy>& policies,
                                                                 const model::Pod& pod);

}  // namespace tutti::dialects
