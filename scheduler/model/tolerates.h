// SPDX-License-Identifier: Apache-2.0
// Tolerates: whether a toleration is of a taint.
#pragma once

#include "model/node.h"
#include "model/pod_spec.h"

namespace tutti::model {

// Tells whether a pod with the toleration may stand the taint. An empty key or effect is of each. An operator that is
// unknown tolerates nothing.
inline bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return (toleration.op.empty() || toleration.op == "Equal") && toleration.value == taint.value;
}

}  // namespace tutti::model
