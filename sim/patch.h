// SPDX-License-Identifier: Apache-2.0
// sim/patch.h - the four ways to PATCH: JSON patch, JSON merge patch, strategic merge
// patch, and server-side apply, which here is a forced merge without field ownership.
#pragma once

#include "sim/api_error.h"
#include "sim/object.h"
#include "sim/resources.h"
#include "sim/store.h"

namespace tutti::sim {

// Changes `target` as `patch` says. On an error `target` is of no further use.
ApiResult<void> ApplyPatch(const ApiResource& resource, PatchType type, const Json& patch, Json& target);

}  // namespace tutti::sim
