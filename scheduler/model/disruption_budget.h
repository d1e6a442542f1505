// SPDX-License-Identifier: Apache-2.0
// DisruptionBudget: a PodDisruptionBudget, reduced to what a preemption reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/selector.h"

namespace tutti::model {

struct DisruptionBudget {
  std::string ns, name;
  std::optional<LabelSelector> selector;  // none or an empty one: it protects no pod
  int64_t allowed = 0;                    // status.disruptionsAllowed
  std::vector<std::string> disrupted;     // names of pods whose eviction is counted in `allowed` already; sorted
  friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
};

}  // namespace tutti::model
