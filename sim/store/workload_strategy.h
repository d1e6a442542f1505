// SPDX-License-Identifier: Apache-2.0
// sim/store/workload_strategy.h - defaults of workloads, Services and Secrets.
#pragma once

#include "sim/objects/object.h"
#include "sim/store/store.h"

namespace tutti::sim {

// REQUIRES of all: the object has passed ShapeErrors.

void PrepareReplicas(Json& workload);  // ReplicaSet, ReplicationController
void PrepareDeployment(Json& deployment);
void PrepareStatefulSet(Json& stateful_set);
void PrepareDaemonSet(Json& daemon_set);
// `creating`: with the selector and the template's labels that the API server generates from the uid.
void PrepareJob(Json& job, bool creating);
void PrepareService(const Store& store, Json& service);
void PrepareSecret(Json& secret);

}  // namespace tutti::sim
