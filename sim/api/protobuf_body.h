// SPDX-License-Identifier: Apache-2.0
// sim/api/protobuf_body.h - request bodies in Kubernetes' protobuf encoding, which typed
// clients (kubectl create, most Go programs) send for built-in kinds.
//
// Only requests: answers are JSON, which all of them accept.
#pragma once

#include <string_view>

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"

namespace tutti::sim {

// The object in the envelope ("k8s\0", then runtime.Unknown), as the JSON it stands for.
// Fields that Go writes though they are zero are left out, as its JSON leaves them out.
// 400: not that encoding, or cut short; 415: a kind whose numbers are not known here.
ApiResult<Json> ParseProtobufBody(std::string_view body);

}  // namespace tutti::sim
