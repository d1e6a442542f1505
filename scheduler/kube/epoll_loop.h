// SPDX-License-Identifier: Apache-2.0
// EpollLoop: the Loop of production, sleeping in epoll_wait until a socket, a timer or a posted task wakes it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/mailbox.h"
#include "kube/loop.h"

namespace tutti::kube {

class EpollLoop final : public Loop {
 public:
  // `events` is a set of EPOLL* bits.
  using SocketCallback = absl::AnyInvocable<void(uint32_t events)>;

  // Where other threads leave tasks. Whoever may outlive the loop holds it, for what is posted to a loop that is gone
  // is dropped. Any thread.
  class Inbox {
   public:
    Inbox();
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;
    void Post(Task task);

   private:
    friend class EpollLoop;
    base::Mailbox<Task> posted_;
    std::atomic<bool> wake_pending_ = false;
    const int wake_fd_;
  };

  // Comes round once in `longest_sleep_ms` though nothing happens.
  explicit EpollLoop(const base::Clock& clock, base::Millis longest_sleep_ms = 5'000);
  ~EpollLoop() override;
  EpollLoop(const EpollLoop&) = delete;
  EpollLoop& operator=(const EpollLoop&) = delete;

  // Runs until Stop(). The calling thread becomes the loop's thread.
  void Run();
  // Any thread. Tasks already posted still run.
  void Stop();
  // Any thread. How long it has been at its last turn, asleep or stuck.
  base::Millis SinceLastTurnMs() const { return clock_.MonotonicMs() - turned_ms_.load(std::memory_order_relaxed); }

  void Post(Task task) override { inbox_->Post(std::move(task)); }
  std::shared_ptr<Inbox> inbox() const { return inbox_; }
  const base::Clock& clock() const override { return clock_; }
  TimerId After(base::Millis delay_ms, Task task) override;
  void CancelTimer(TimerId id) override;

  // Level-triggered; watching a socket again changes its events and callback.
  void Watch(int fd, uint32_t events, SocketCallback callback);
  void Unwatch(int fd);

 private:
  struct Socket {
    SocketCallback callback;
    uint64_t generation = 0;  // tells a late event for a closed fd from one for its successor
  };

  void RunPosted();
  void RunTimers();
  int WaitMs() const;

  const base::Clock& clock_;
  const base::Millis longest_sleep_ms_;
  const int epoll_fd_;

  // any thread
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::atomic<bool> stopping_ = false;
  std::atomic<base::Millis> turned_ms_;

  // the loop's thread only
  std::map<std::pair<base::Millis, TimerId>, Task> timers_;
  std::unordered_map<TimerId, base::Millis> timer_due_;
  TimerId last_timer_ = 0;
  std::unordered_map<int, Socket> sockets_;
  uint64_t last_generation_ = 0;
};

}  // namespace tutti::kube
