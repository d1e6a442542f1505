// SPDX-License-Identifier: Apache-2.0
// Callers: tells who makes a call, and how a call that has no answer fails. Thread-safe.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <memory>

#include "doors/desk.h"
#include "server/client_authorities.h"
#include "server/delegated_access.h"

namespace tutti::rpc {

grpc::Status StatusOf(const doors::Failure& failure);

class Callers {
 public:
  // `desk` and `access` outlive this. `authorities` judge client certificates. `trusts_loopback`: callers on this
  // machine may see everything.
  Callers(const doors::Desk& desk, server::DelegatedAccess& access, server::ClientAuthorities& authorities,
          bool trusts_loopback)
      : desk_(desk), access_(access), authorities_(authorities), trusts_loopback_(trusts_loopback) {}

  using Rights = std::shared_ptr<const server::Rights>;
  // Returns the caller's rights. May block for seconds. Failures: kAnonymous, kUnavailable.
  doors::DoorResult<Rights> RightsOf(const grpc::ServerContextBase& context) const;

 private:
  const doors::Desk& desk_;
  server::DelegatedAccess& access_;
  server::ClientAuthorities& authorities_;
  const bool trusts_loopback_;
};

}  // namespace tutti::rpc
