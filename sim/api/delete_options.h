// SPDX-License-Identifier: Apache-2.0
// sim/api/delete_options.h - DeleteOptions, from the body or from query parameters.
#pragma once

#include "sim/api/http_types.h"
#include "sim/store/store.h"

namespace tutti::sim {

ApiResult<DeleteOptions> DeleteOptionsOf(const HttpRequest& request);

}  // namespace tutti::sim
