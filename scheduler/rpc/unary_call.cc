// SPDX-License-Identifier: Apache-2.0
#include "rpc/unary_call.h"

#include <utility>

namespace tutti::rpc {

grpc::ServerUnaryReactor* UnaryCall::Begin(Front& front, grpc::CallbackServerContext& context, Ask ask) {
  auto* call = new UnaryCall(front, context);
  auto [place, refusal] = front.calls.Take("");
  if (!place) {
    call->Finish(TooMany("calls", refusal, ""));
    return call;
  }
  call->place_ = std::move(place);
  call->limit_ = front.limit.Watch(context);
  front.workers.Post([call, asked = std::move(ask)] { call->Finish(call->Answer(asked)); });
  return call;
}

grpc::Status UnaryCall::Answer(const Ask& ask) {
  if (front_.stopping) return Stopping();
  if (context_.IsCancelled()) return grpc::Status::CANCELLED;  // or its deadline has passed
  const auto rights = front_.callers.RightsOf(context_);
  if (!rights) return StatusOf(rights.error());
  auto [place, refusal] = front_.calls_of_users.Take((*rights)->user());
  if (!place) return TooMany("calls", refusal, (*rights)->user());
  place_of_user_ = std::move(place);
  return ask(*rights);
}

}  // namespace tutti::rpc
