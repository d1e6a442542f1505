// SPDX-License-Identifier: Apache-2.0
// Writes a built-in object's JSON as Go does in Kubernetes' protobuf: in the order of the fields' numbers, and with
// each field that is not a pointer, even if it is zero. A value of another type than its field counts as absent.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace tutti::fuzz {

// Returns the message alone. REQUIRES: sim's type table has the kind.
std::string ToProtobuf(const std::string& kind, const base::Json& object);

// Returns it as a body of the API: "k8s\0" and a runtime.Unknown.
std::string InEnvelope(std::string_view api_version, std::string_view kind, std::string_view message);

}  // namespace tutti::fuzz
