// SPDX-License-Identifier: Apache-2.0
// WatchCall: a call of Decisions.Watch. It has a thread of its own while it is open.
//
// Invariants
//   (1) the thread ends the call with Finish, and touches nothing after that;
//   (2) one message is written at a time. A reader that takes none for GrpcServer::kLongestMs is cut off.
#pragma once

#include <grpcpp/support/server_callback.h>
#include <tutti/v1/decisions.pb.h>

#include <deque>
#include <memory>
#include <thread>

#include "base/mutex.h"
#include "doors/follower.h"
#include "rpc/front.h"

namespace tutti::rpc {

class WatchCall final : public grpc::ServerWriteReactor<v1::WatchGangsResponse>, doors::Follower::Reader {
 public:
  // Begins a call, which frees itself. `front` outlives it.
  static grpc::ServerWriteReactor<v1::WatchGangsResponse>* Begin(Front& front, grpc::CallbackServerContext& context,
                                                                 const v1::WatchGangsRequest& request);

 private:
  WatchCall(Front& front, grpc::CallbackServerContext& context, const v1::WatchGangsRequest& request)
      : front_(front), context_(context), request_(request) {}

  void OnDone() override;
  void OnCancel() override;
  void OnWriteDone(bool well) override;

  void TellCurrent(uint64_t sequence) override;
  void TellChange(const doors::Hub::Change& change, bool sees_all, uint64_t sequence) override;
  void TellRelist(const std::string& why) override;
  bool has_enough() const override;

  // Both on the call's thread.
  grpc::Status Serve();
  // Writes what was told. False: the reader is gone.
  bool Send();
  bool Write(const v1::WatchGangsResponse& response, bool more_follow);
  bool cancelled();

  Front& front_;
  grpc::CallbackServerContext& context_;
  const v1::WatchGangsRequest request_;
  std::shared_ptr<void> place_;
  std::deque<v1::WatchGangsResponse> told_;  // the call's thread only
  size_t told_bytes_ = 0;
  std::thread thread_;
  base::Mutex mutex_;
  base::Condition written_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool well_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace tutti::rpc
