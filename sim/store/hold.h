// SPDX-License-Identifier: Apache-2.0
// sim/store/hold.h - what the mutating policies of manifests/kueue/hold make of a new object.
//
// The embedded cluster evaluates no policy. It knows these seven by name, and each is in force while there is a binding
// of that name.
#pragma once

#include <string_view>

#include "sim/objects/object.h"
#include "sim/store/store.h"

namespace tutti::sim {

// A job or pod with this label is held until it is admitted to that queue.
inline constexpr const char* kQueueNameLabel = "kueue.x-k8s.io/queue-name";
inline const GroupResource kMutatingPolicyBindings{"admissionregistration.k8s.io", "mutatingadmissionpolicybindings"};

// Returns whether `policy` is the name of one of the eight.
bool IsHoldPolicy(std::string_view policy);

// Does what those that are in force do: tutti-hold-jobs, tutti-hold-ray-services and tutti-hold-training-jobs suspend a
// job that is labelled with a queue, tutti-hold-pods gates a pod that is, tutti-mark-pod-templates and
// tutti-mark-leader-worker-templates label the templates of what makes pods and cannot be suspended,
// tutti-place-queued-pods gives the pods of all to the scheduler `tutti`, and tutti-ungate-elastic-pods takes Kueue's
// gate off those of an elastic job. What another job made is left alone. `object` is about to be created.
void HoldQueued(const Store& store, const GroupResource& id, Json& object);

}  // namespace tutti::sim
