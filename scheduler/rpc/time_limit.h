// SPDX-License-Identifier: Apache-2.0
// TimeLimit: cancels calls that take too long, so that a caller who does not read its answer, and set no deadline, does
// not keep it here. Thread-safe.
#pragma once

#include <grpcpp/server_context.h>

#include <list>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"

namespace tutti::rpc {

class TimeLimit {
 public:
  // `clock` outlives this.
  TimeLimit(base::Millis longest_ms, const base::Clock& clock);
  ~TimeLimit();

  // Watches the call until what is returned is gone, which this outlives, as `context` does.
  std::shared_ptr<void> Watch(grpc::ServerContextBase& context);

 private:
  struct Call {
    grpc::ServerContextBase* context = nullptr;
    base::Millis ends_ms = 0;  // monotonic
    bool cancelled = false;
  };
  void Run();

  const base::Millis longest_ms_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  base::Condition stop_;
  std::list<Call> calls_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tutti::rpc
