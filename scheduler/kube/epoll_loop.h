// SPDX-License-Identifier: Apache-2.0
// EpollLoop: the Loop of production. It sleeps in epoll_wait until a socket, a timer or a posted task wakes it.
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

  // The queue of tasks from other threads. An object that may outlive the loop holds a pointer to it: tasks that are
  // posted after the loop's end are dropped. Any thread.
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

  // Makes a loop that takes a turn at least once in `longest_sleep_ms`.
  explicit EpollLoop(const base::Clock& clock, base::Millis longest_sleep_ms = 5'000);
  ~EpollLoop() override;
  EpollLoop(const EpollLoop&) = delete;
  EpollLoop& operator=(const EpollLoop&) = delete;

  // Runs until Stop(). The calling thread becomes the loop's thread.
  void Run();
  // Ends Run(). Tasks that are already posted still run. Any thread.
  void Stop();
  // Returns the time since the last turn began, asleep or stuck. Any thread.
  base::Millis SinceLastTurnMs() const { return clock_.MonotonicMs() - turned_ms_.load(std::memory_order_relaxed); }

  void Post(Task task) override { inbox_->Post(std::move(task)); }
  std::shared_ptr<Inbox> inbox() const { return inbox_; }
  const base::Clock& clock() const override { return clock_; }
  TimerId After(base::Millis delay_ms, Task task) override;
  void CancelTimer(TimerId id) override;

  // Watches the socket, level-triggered. A second call replaces its events and callback.
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
