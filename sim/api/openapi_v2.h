// SPDX-License-Identifier: Apache-2.0
// sim/api/openapi_v2.h - the OpenAPI v2 document as protobuf (gnostic's openapi.v2.Document), which is the only form
// that kubectl asks for. It reads one thing in it: whether PATCH of a kind takes `fieldValidation`, for input of kind
// List.
#pragma once

#include <string>

#include "sim/objects/resources.h"

namespace tutti::sim {

std::string OpenApiV2(const ResourceTable& resources);

}  // namespace tutti::sim
