// SPDX-License-Identifier: Apache-2.0
// sim/store/patch.h - the four ways to PATCH: JSON patch, JSON merge patch, strategic merge
// patch, and server-side apply, which here is a forced merge without field ownership.
#pragma once

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"
#include "sim/objects/resources.h"
#include "sim/store/store.h"

namespace tutti::sim {

// Changes `target` as `patch` says. On an error `target` is of no further use.
ApiResult<void> ApplyPatch(const ApiResource& resource, PatchType type, const Json& patch, Json& target);

}  // namespace tutti::sim
