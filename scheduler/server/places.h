// SPDX-License-Identifier: Apache-2.0
// Places: how many streams or calls may be open at a time, in all and of one user. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"

namespace tutti::server {

class Places {
 public:
  Places(int most, int most_each) : most_(most), most_each_(most_each) {}

  enum class Refusal { kNone, kAllTaken, kUserHasEnough };
  struct Answer {
    std::shared_ptr<void> place;  // it is free again when this is gone, which the Places outlive; null: refused
    Refusal refusal = Refusal::kNone;
  };
  // `user`: empty: it is not known, and may have any number.
  Answer Take(const std::string& user) {
    const base::MutexLock lock(mutex_);
    if (taken_ >= most_) return {nullptr, Refusal::kAllTaken};
    if (!user.empty()) {
      int& own = of_user_[user];
      if (own >= most_each_) return {nullptr, Refusal::kUserHasEnough};
      ++own;
    }
    ++taken_;
    return {std::shared_ptr<void>(this, [user](Places* places) { places->Free(user); })};
  }

 private:
  void Free(const std::string& user) {
    const base::MutexLock lock(mutex_);
    --taken_;
    if (const auto at = of_user_.find(user); at != of_user_.end() && --at->second == 0) of_user_.erase(at);
  }

  const int most_, most_each_;
  base::Mutex mutex_;
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int> of_user_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tutti::server
