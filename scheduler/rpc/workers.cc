// SPDX-License-Identifier: Apache-2.0
#include "rpc/workers.h"

#include <pthread.h>

#include <utility>

namespace tutti::rpc {

Workers::Workers() {
  for (int i = 0; i < kThreads; ++i)
    threads_.emplace_back([this] {
      pthread_setname_np(pthread_self(), "grpc-answers");
      Run();
    });
}

Workers::~Workers() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  posted_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::Post(std::function<void()> work) {
  {
    const base::MutexLock lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  posted_.NotifyOne();
}

void Workers::Run() {
  for (;;) {
    std::function<void()> work;
    {
      const base::MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) posted_.Wait(mutex_);
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace tutti::rpc
