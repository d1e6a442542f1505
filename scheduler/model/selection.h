// SPDX-License-Identifier: Apache-2.0
// Selection: an object that selects pods of its namespace, reduced to how it does: what default spread constraints are
// about (pkg/scheduler/framework/plugins/helper/spread.go).
#pragma once

#include <string>

#include "model/selector.h"

namespace tutti::model {

struct Selection {
  enum class Kind { kService, kReplicationController, kReplicaSet, kStatefulSet };
  Kind kind = Kind::kService;
  std::string ns, name;
  LabelSelector selector;  // empty: it selects nothing, or everything, which tells no pods apart
  friend bool operator==(const Selection&, const Selection&) = default;
};

}  // namespace tutti::model
