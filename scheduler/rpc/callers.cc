// SPDX-License-Identifier: Apache-2.0
#include "rpc/callers.h"

#include <grpc/grpc_security_constants.h>

#include <string>
#include <string_view>

namespace tutti::rpc {
namespace {

using doors::Failure;

std::string TextOf(grpc::string_ref text) { return std::string(text.data(), text.size()); }

std::string PropertyOf(const grpc::AuthContext& context, const char* name) {
  const auto values = context.FindPropertyValues(name);
  return values.empty() ? "" : TextOf(values.front());
}

std::string TokenOf(const grpc::ServerContextBase& context) {
  const auto at = context.client_metadata().find("authorization");
  return at == context.client_metadata().end() ? "" : server::BearerToken(TextOf(at->second));
}

// `peer`: "ipv4:127.0.0.1:4711", or "ipv6:%5B::1%5D:4711".
bool IsFromLoopback(std::string_view peer) {
  constexpr std::string_view kIpv4 = "ipv4:", kIpv6 = "ipv6:%5B";
  if (peer.starts_with(kIpv4)) return server::IsLoopback(peer.substr(kIpv4.size()));
  if (!peer.starts_with(kIpv6)) return false;
  peer.remove_prefix(kIpv6.size());
  return server::IsLoopback(peer.substr(0, peer.find("%5D")));
}

}  // namespace

grpc::Status StatusOf(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::kInvalid: return {grpc::StatusCode::INVALID_ARGUMENT, failure.message};
    case Failure::Kind::kAnonymous: return {grpc::StatusCode::UNAUTHENTICATED, failure.message};
    case Failure::Kind::kForbidden: return {grpc::StatusCode::PERMISSION_DENIED, failure.message};
    case Failure::Kind::kNotFound: return {grpc::StatusCode::NOT_FOUND, failure.message};
    case Failure::Kind::kTooMany: return {grpc::StatusCode::RESOURCE_EXHAUSTED, failure.message};
    case Failure::Kind::kUnavailable: return {grpc::StatusCode::UNAVAILABLE, failure.message};
  }
  return {grpc::StatusCode::INTERNAL, failure.message};
}

doors::DoorResult<Callers::Rights> Callers::RightsOf(const grpc::ServerContextBase& context) const {
  if (trusts_loopback_ && IsFromLoopback(context.peer())) return std::make_shared<const server::AllRights>();
  server::Caller caller{TokenOf(context)};
  if (const auto auth = context.auth_context())
    caller.certificate = authorities_.UserOf(PropertyOf(*auth, GRPC_X509_PEM_CERT_PROPERTY_NAME),
                                             PropertyOf(*auth, GRPC_X509_PEM_CERT_CHAIN_PROPERTY_NAME));
  server::DelegatedAccess::Identity identity = access_.Identify(caller);
  if (!identity.rights) {
    if (identity.refused.kind == server::Access::Kind::kUnauthenticated)
      return doors::Fail(Failure::Kind::kAnonymous, "the credential is not valid");
    return doors::Fail(Failure::Kind::kUnavailable, "the API server could not say who this is; try again");
  }
  if (const doors::DoorResult<void> may = desk_.CheckSignedIn(identity.rights); !may)
    return tl::make_unexpected(may.error());
  return std::move(identity.rights);
}

}  // namespace tutti::rpc
