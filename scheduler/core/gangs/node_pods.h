// SPDX-License-Identifier: Apache-2.0
// Pods that each node has of its own.
#pragma once

#include "model/pod.h"

namespace tutti::core {

// Tells whether the pod is of a DaemonSet, or of the node's own manifests.
inline bool IsOnEachNode(const model::Pod& pod) {
  const model::OwnerReference* controller = pod.meta.Controller();
  return controller && (controller->kind == "DaemonSet" || controller->kind == "Node");
}

}  // namespace tutti::core
