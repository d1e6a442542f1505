// SPDX-License-Identifier: Apache-2.0
// sim/store/admission_defaults.h - what a pod or claim gets because other objects of the cluster say so: a namespace's
// limit ranges, and the default storage class.
#pragma once

#include <string>

#include "sim/objects/object.h"
#include "sim/store/store.h"

namespace tutti::sim {

// The class of claims that name none: the youngest that is marked as default. "": there is none.
std::string DefaultStorageClass(const Store& store);
// The class "" is one, too.
bool NamesStorageClass(const Json& claim);

// Defaults of containers that follow from each other within a limit range.
void PrepareLimitRange(Json& range);
// Writes its limits in one form; its status is there from the first.
void PrepareResourceQuota(Json& quota);
// Requests and limits that a pod's containers leave out.
void AddDefaultLimits(const Store& store, Json& pod);

}  // namespace tutti::sim
