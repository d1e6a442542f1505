// SPDX-License-Identifier: Apache-2.0
// Front: what all calls share, and the bounds on their number.
#pragma once

#include <atomic>

#include "rpc/callers.h"
#include "rpc/client_ca.h"
#include "rpc/grpc_server.h"
#include "rpc/time_limit.h"
#include "rpc/workers.h"
#include "server/places.h"

namespace tutti::rpc {

struct Front {
  Front(doors::Desk& its_desk, const server::ServerOptions& options, server::AccessReview* review,
        server::ClientAuthorities::ReadTrust read_trust, const base::Clock& its_clock)
      : desk(its_desk),
        clock(its_clock),
        authorities(read_trust, its_clock),
        access(review, options.access_times, its_clock),
        callers(its_desk, access, authorities, options.always_allow_loopback),
        client_ca(std::move(read_trust), workers, its_clock) {}

  doors::Desk& desk;
  const base::Clock& clock;
  server::ClientAuthorities authorities;
  server::DelegatedAccess access;
  const Callers callers;
  std::atomic<bool> stopping = false;
  server::Places calls{GrpcServer::kMostCalls, GrpcServer::kMostCalls};
  server::Places calls_of_users{GrpcServer::kMostCalls, GrpcServer::kMostCallsEach};
  server::Places streams{GrpcServer::kMostStreams, GrpcServer::kMostStreamsEach};
  TimeLimit limit{GrpcServer::kLongestMs, clock};
  Workers workers;
  ClientCa client_ca;
};

// The status of a call beyond a bound.
grpc::Status TooMany(const char* what, server::Places::Refusal refusal, const std::string& user);
// The status of a call when this process ends.
grpc::Status Stopping();

}  // namespace tutti::rpc
