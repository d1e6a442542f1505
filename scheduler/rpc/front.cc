// SPDX-License-Identifier: Apache-2.0
#include "rpc/front.h"

#include <fmt/format.h>

namespace tutti::rpc {

grpc::Status TooMany(const char* what, server::Places::Refusal refusal, const std::string& user) {
  const std::string whose = refusal == server::Places::Refusal::kAllTaken ? "" : fmt::format(" of user \"{}\"", user);
  return {grpc::StatusCode::RESOURCE_EXHAUSTED,
          fmt::format("as many {}{} are open as may be at a time; try again later", what, whose)};
}

grpc::Status Stopping() { return {grpc::StatusCode::UNAVAILABLE, "this process stops; ask again"}; }

}  // namespace tutti::rpc
