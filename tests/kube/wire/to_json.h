// SPDX-License-Identifier: Apache-2.0
// A message of proto/kubernetes as the JSON that the API server would send for the same object.
#pragma once

#include <google/protobuf/message.h>

#include "base/json.h"

namespace tutti::tests {

base::Json ToJson(const google::protobuf::Message& message);

}  // namespace tutti::tests
