// SPDX-License-Identifier: Apache-2.0
// base/json.h - the JSON value of all rooms: objects of the API server, patches, configuration.
#pragma once

#include <nlohmann/json.hpp>

#include "base/flat_map.h"
#include "base/json_fwd.h"
