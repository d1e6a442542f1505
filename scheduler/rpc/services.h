// SPDX-License-Identifier: Apache-2.0
// Services: the calls of proto/tutti/v1, each answered by the desk.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>
#include <vector>

#include "rpc/front.h"

namespace tutti::rpc {

// Returns all services. `front` outlives them.
std::vector<std::unique_ptr<grpc::Service>> MakeServices(Front& front);

}  // namespace tutti::rpc
