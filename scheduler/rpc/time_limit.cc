// SPDX-License-Identifier: Apache-2.0
#include "rpc/time_limit.h"

#include <pthread.h>

#include <chrono>

namespace tutti::rpc {
namespace {

constexpr std::chrono::milliseconds kLookAgain{250};

}  // namespace

TimeLimit::TimeLimit(base::Millis longest_ms, const base::Clock& clock) : longest_ms_(longest_ms), clock_(clock) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "grpc-limit");
    Run();
  });
}

TimeLimit::~TimeLimit() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.NotifyAll();
  thread_.join();
}

std::shared_ptr<void> TimeLimit::Watch(grpc::ServerContextBase& context) {
  const base::MutexLock lock(mutex_);
  const auto at = calls_.insert(calls_.end(), {&context, clock_.MonotonicMs() + longest_ms_});
  return {this, [at](TimeLimit* limit) {
            const base::MutexLock forgetting(limit->mutex_);
            limit->calls_.erase(at);
          }};
}

void TimeLimit::Run() {
  const base::MutexLock lock(mutex_);
  while (!stopping_) {
    const base::Millis now = clock_.MonotonicMs();
    for (Call& call : calls_) {
      if (call.ends_ms > now) break;
      if (!call.cancelled) call.context->TryCancel();
      call.cancelled = true;
    }
    stop_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kLookAgain);
  }
}

}  // namespace tutti::rpc
