// SPDX-License-Identifier: Apache-2.0
// Verdict: the answer to a question of scheduling. It is an outcome, never an error.
#pragma once

#include <cstdint>

namespace tutti::framework {

enum class Verdict : uint8_t {
  kFits,
  kNotNow,  // it may change when pods leave (kube-scheduler: Unschedulable)
  kNever,   // only another node or another pod could change it (kube-scheduler: UnschedulableAndUnresolvable)
  kGaveUp,  // the search was cut off; this proves nothing
};

// The events that could reverse a refusal; a bit set.
enum class Wake : uint32_t {
  kNothing = 0,
  kNodeAdded = 1 << 0,
  kNodeCapacity = 1 << 1,  // allocatable grew
  kNodeLabels = 1 << 2,
  kNodeTaints = 1 << 3,  // or spec.unschedulable
  kPodGone = 1 << 4,     // a pod left a node, or a reservation was released
  kPodPlaced = 1 << 5,   // a pod came to a node (affinity)
  kQueue = 1 << 6,       // the gang's queue, or one above it, is declared otherwise
  kMembers = 1 << 7,     // of the gang itself: a member or its PodGroup came, went or changed
  kTime = 1 << 8,        // an instant, which stands beside it
  kVolume = 1 << 9,      // a PersistentVolume or StorageClass came or changed (the pod's own claims: kMembers)
  kDriver = 1 << 10,  // a CSINode, CSIDriver or CSIStorageCapacity came or changed, or a limit was removed; see Storage
  kSelection = 1 << 11,  // a Service or controller selects other pods now (default spread constraints)
  kAll = ~0u,
};
constexpr Wake operator|(Wake a, Wake b) { return Wake(uint32_t(a) | uint32_t(b)); }
constexpr Wake operator&(Wake a, Wake b) { return Wake(uint32_t(a) & uint32_t(b)); }
constexpr Wake operator~(Wake a) { return Wake(~uint32_t(a)); }
constexpr bool Any(Wake w) { return w != Wake::kNothing; }

}  // namespace tutti::framework
