// SPDX-License-Identifier: Apache-2.0
// SubGroups: what a Volcano PodGroup's spec.subGroupPolicy asks for parts of its gang: the pods that agree in some
// labels are to be near each other, and so many such parts are to start together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dialects/dialect.h"
#include "model/selector.h"

namespace tutti::dialects {

struct SubGroupPolicy {
  std::optional<model::LabelSelector> selector;  // absent: every pod of the group
  std::vector<std::string> keys;                 // pods that agree in these labels are a subgroup; none: all are one
  model::TopologyRequest topology;               // of each subgroup; no subset is set
  model::UnitSpec unit;                          // how large each is, and how many there must be
  friend bool operator==(const SubGroupPolicy&, const SubGroupPolicy&) = default;
};

// Puts the pod into the subgroup it belongs to, if there is one: its unit, and what is asked for it. A pod that lacks a
// label of `keys`, or has it empty, is in no subgroup of that policy; the first policy that it is in counts (upstream:
// pkg/scheduler/api/sub_job_info.go).
void JoinSubGroup(const std::vector<SubGroupPolicy>& policies, const model::Pod& pod, Membership* membership);

}  // namespace tutti::dialects
