// SPDX-License-Identifier: Apache-2.0
// A pod's JSON as the API server would send it in protobuf, as far as these benchmarks write pods.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace tutti::bench {

// The bare message, as kube::DecodePod reads it. A field that it does not know ends the program.
std::string PodMessage(const base::Json& pod);

}  // namespace tutti::bench
