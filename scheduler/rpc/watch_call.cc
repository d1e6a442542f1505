// SPDX-License-Identifier: Apache-2.0
#include "rpc/watch_call.h"

#include <pthread.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "doors/text.h"

namespace tutti::rpc {
namespace {

// How often a waiting call looks whether it has to end.
constexpr std::chrono::milliseconds kLook{100};
constexpr size_t kEnoughBytes = 256 * 1024;

}  // namespace

grpc::ServerWriteReactor<v1::WatchGangsResponse>* WatchCall::Begin(Front& front, grpc::CallbackServerContext& context,
                                                                   const v1::WatchGangsRequest& request) {
  auto* call = new WatchCall(front, context, request);
  auto [place, refusal] = front.calls.Take("");  // until the caller is known
  if (!place) {
    call->Finish(TooMany("calls", refusal, ""));
    return call;
  }
  call->place_ = std::move(place);
  try {
    call->thread_ = std::thread([call] {
      pthread_setname_np(pthread_self(), "grpc-watch");
      call->Finish(call->Serve());
    });
  } catch (const std::system_error&) {
    call->Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "the system gives no more threads; try again later"});
  }
  return call;
}

void WatchCall::OnDone() {
  if (thread_.joinable()) thread_.join();
  delete this;
}

void WatchCall::OnCancel() {
  const base::MutexLock lock(mutex_);
  cancelled_ = true;
}

bool WatchCall::cancelled() {
  const base::MutexLock lock(mutex_);
  return cancelled_;
}

grpc::Status WatchCall::Serve() {
  const auto rights = front_.callers.RightsOf(context_);
  if (!rights) return StatusOf(rights.error());
  auto [place, refusal] = front_.streams.Take((*rights)->user());
  if (!place) return TooMany("streams", refusal, (*rights)->user());
  place_ = std::move(place);
  auto follower = front_.desk.Watch(request_.since(), front_.desk.SightOf(*rights, request_.namespace_()));
  if (!follower) return StatusOf(follower.error());
  while (!cancelled()) {
    if (front_.stopping) return Stopping();
    if (!follower->Next(kLook, *this)) break;
    if (!Send()) return grpc::Status::CANCELLED;
  }
  return grpc::Status::OK;
}

bool WatchCall::Send() {
  for (size_t i = 0; i < told_.size(); ++i)
    if (!Write(told_[i], i + 1 < told_.size())) return false;
  told_.clear();
  told_bytes_ = 0;
  return true;
}

bool WatchCall::Write(const v1::WatchGangsResponse& response, bool more_follow) {
  {
    const base::MutexLock lock(mutex_);
    writing_ = true;
  }
  StartWrite(&response, more_follow ? grpc::WriteOptions().set_buffer_hint() : grpc::WriteOptions());
  const base::Millis until = front_.clock.MonotonicMs() + GrpcServer::kLongestMs;
  bool cut = false;
  const base::MutexLock lock(mutex_);
  while (writing_) {
    written_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kLook);
    if (!writing_ || cut || front_.clock.MonotonicMs() < until) continue;
    cut = true;
    context_.TryCancel();
  }
  return well_;
}

void WatchCall::OnWriteDone(bool well) {
  const base::MutexLock lock(mutex_);
  writing_ = false;
  well_ = well;
  written_.NotifyAll();
}

void WatchCall::TellCurrent(uint64_t sequence) { told_.emplace_back().set_sequence(sequence); }

void WatchCall::TellRelist(const std::string& why) { told_.emplace_back().set_relist(doors::Utf8(why)); }

void WatchCall::TellChange(const doors::Hub::Change& change, bool sees_all, uint64_t sequence) {
  const std::string& bytes = change.ToReader(sees_all).bytes;
  v1::WatchGangsResponse response;
  if (!response.ParseFromString(bytes)) return;
  response.set_sequence(sequence);
  told_bytes_ += bytes.size();
  told_.push_back(std::move(response));
}

bool WatchCall::has_enough() const { return told_bytes_ >= kEnoughBytes; }

}  // namespace tutti::rpc
