// SPDX-License-Identifier: Apache-2.0
// UnaryCall: a call with one answer, which a worker makes.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>

#include "rpc/front.h"

namespace tutti::rpc {

class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  // Makes the answer, by the caller's rights. Called on a worker's thread.
  using Ask = std::function<grpc::Status(const Callers::Rights& rights)>;

  // Begins a call, which frees itself. `front` outlives it.
  static grpc::ServerUnaryReactor* Begin(Front& front, grpc::CallbackServerContext& context, Ask ask);

 private:
  UnaryCall(Front& front, grpc::CallbackServerContext& context) : front_(front), context_(context) {}
  void OnDone() override { delete this; }
  grpc::Status Answer(const Ask& ask);

  Front& front_;
  grpc::CallbackServerContext& context_;
  // Kept until the answer is on its way: a caller who does not read it has its place taken.
  std::shared_ptr<void> place_, place_of_user_, limit_;
};

}  // namespace tutti::rpc
