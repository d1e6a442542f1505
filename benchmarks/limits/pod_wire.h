// SPDX-License-Identifier: Apache-2.0
// Writes a pod's JSON as the API server's protobuf, for the fields that these benchmarks use.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace tutti::bench {

// Returns the bare message, as kube::DecodePod reads it. An unknown field ends the program.
std::string PodMessage(const base::Json& pod);

}  // namespace tutti::bench
