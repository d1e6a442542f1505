// SPDX-License-Identifier: Apache-2.0
// Names and helpers that the parts of the workload share.
#pragma once

#include "base/check.h"
#include "sim/store/store.h"

namespace tutti::simulation {

inline constexpr const char* kNamespace = "default";
inline constexpr const char* kDisks = "disks";           // a StorageClass of volumes that nodes have
inline constexpr const char* kNetwork = "network";       // a StorageClass of volumes that its driver makes
inline constexpr const char* kUnit = "unit";             // pods with one value of this label are a subgroup
inline constexpr const char* kGuardedLabel = "guarded";  // pods with this label are protected by a budget
inline constexpr const char* kQueueLabel = "kueue.x-k8s.io/queue-name";
inline constexpr const char* kGroupLabel = "kueue.x-k8s.io/pod-group-name";
inline const sim::GroupResource kClaims{"", "persistentvolumeclaims"};
inline const sim::GroupResource kVolumes{"", "persistentvolumes"};
inline const sim::GroupResource kVolcanoPodGroups{"scheduling.volcano.sh", "podgroups"};
inline const sim::GroupResource kWorkloads{"kueue.x-k8s.io", "workloads"};
inline const sim::GroupResource kClusterQueues{"kueue.x-k8s.io", "clusterqueues"};
inline const sim::GroupResource kLocalQueues{"kueue.x-k8s.io", "localqueues"};

// Creates an object without which the world would not be as the seed has it. A refusal is a failed CHECK.
inline void MustCreate(sim::Store& store, sim::Json object, bool restore = false) {
  const auto created = store.Create(std::move(object), {.restore = restore});
  TUTTI_CHECK(created, created ? "" : created.error().message);
}

}  // namespace tutti::simulation
