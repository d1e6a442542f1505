// SPDX-License-Identifier: Apache-2.0
// sim/store/door.h - the one way to a Store from more than one thread.
//
// The thread inside With owns the store: HTTP threads, the kubelets' and controllers'
// loop, a feed. Observers run inside it too, on the writer's thread. Objects taken out
// stay valid outside, being immutable, so long work (printing a list) is done there.
#pragma once

#include <utility>

#include "base/mutex.h"
#include "sim/store/store.h"

namespace tutti::sim {

class Door {
 public:
  explicit Door(Store& store) : store_(store) {}  // `store` must outlive the door

  // Must not be entered twice by one thread.
  template <class Work>
  auto With(Work&& work) {
    const base::MutexLock lock(mutex_);
    return std::forward<Work>(work)(store_);
  }

 private:
  base::Mutex mutex_;
  Store& store_;  // used under mutex_
};

}  // namespace tutti::sim
