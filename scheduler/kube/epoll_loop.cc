// SPDX-License-Identifier: Apache-2.0
#include "kube/epoll_loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/check.h"

namespace tutti::kube {
namespace {

// Packs the 64 bits of an epoll event: the fd, and the low half of its generation.
uint64_t Pack(int fd, uint64_t generation) {
  return static_cast<uint64_t>(static_cast<uint32_t>(fd)) | generation << 32;
}

}  // namespace

EpollLoop::Inbox::Inbox() : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  TUTTI_CHECK(wake_fd_ >= 0, "eventfd failed");
}

EpollLoop::Inbox::~Inbox() { close(wake_fd_); }

void EpollLoop::Inbox::Post(Task task) {
  posted_.Put(std::move(task));
  if (wake_pending_.exchange(true, std::memory_order_acq_rel)) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

EpollLoop::EpollLoop(const base::Clock& clock, base::Millis longest_sleep_ms)
    : clock_(clock),
      longest_sleep_ms_(longest_sleep_ms),
      epoll_fd_(epoll_create1(EPOLL_CLOEXEC)),
      turned_ms_(clock.MonotonicMs()) {
  TUTTI_CHECK(epoll_fd_ >= 0, "epoll_create1 failed");
  // Empties the fd whenever it is readable: a Post may write to it after its task has run.
  Watch(inbox_->wake_fd_, EPOLLIN, [fd = inbox_->wake_fd_](uint32_t) {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(fd, &count, sizeof count);
  });
}

EpollLoop::~EpollLoop() { close(epoll_fd_); }

void EpollLoop::Run() {
  // Writing to a socket that the other side closed is an error, not the end of the process.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  std::array<epoll_event, 64> events;
  while (!stopping_.load(std::memory_order_acquire)) {
    turned_ms_.store(Now(), std::memory_order_relaxed);
    const int ready = epoll_wait(epoll_fd_, events.data(), static_cast<int>(events.size()), WaitMs());
    TUTTI_CHECK(ready >= 0 || errno == EINTR, "epoll_wait failed");
    for (int i = 0; i < ready; ++i) {
      const uint64_t packed = events[static_cast<size_t>(i)].data.u64;
      const auto at = sockets_.find(static_cast<int>(static_cast<uint32_t>(packed)));
      if (at == sockets_.end() || Pack(at->first, at->second.generation) != packed) continue;
      SocketCallback callback = std::move(at->second.callback);  // the callback may unwatch its own socket
      const uint64_t generation = at->second.generation;
      callback(events[static_cast<size_t>(i)].events);
      const auto still = sockets_.find(static_cast<int>(static_cast<uint32_t>(packed)));
      if (still != sockets_.end() && still->second.generation == generation && !still->second.callback)
        still->second.callback = std::move(callback);
    }
    RunTimers();
    RunPosted();
  }
  RunPosted();
}

void EpollLoop::Stop() {
  stopping_.store(true, std::memory_order_release);
  Post([] {});
}

void EpollLoop::RunPosted() {
  if (!inbox_->wake_pending_.exchange(false, std::memory_order_acq_rel)) return;
  for (Task& task : inbox_->posted_.TakeAll(std::chrono::milliseconds(0))) task();
}

TimerId EpollLoop::After(base::Millis delay_ms, Task task) {
  const base::Millis due = Now() + std::max<base::Millis>(delay_ms, 0);
  const TimerId id = ++last_timer_;
  timers_.emplace(std::pair(due, id), std::move(task));
  timer_due_.emplace(id, due);
  return id;
}

void EpollLoop::CancelTimer(TimerId id) {
  const auto at = timer_due_.find(id);
  if (at == timer_due_.end()) return;
  timers_.erase({at->second, id});
  timer_due_.erase(at);
}

// Runs the timers that are due. A timer made meanwhile waits for the next round, so that sockets get their turn.
void EpollLoop::RunTimers() {
  if (timers_.empty()) return;
  const base::Millis now = Now();
  const TimerId newest = last_timer_;
  while (!timers_.empty()) {
    auto first = timers_.begin();
    while (first != timers_.end() && first->first.first <= now && first->first.second > newest) ++first;
    if (first == timers_.end() || first->first.first > now) return;
    Task task = std::move(first->second);
    timer_due_.erase(first->first.second);
    timers_.erase(first);
    task();
  }
}

int EpollLoop::WaitMs() const {
  if (inbox_->wake_pending_.load(std::memory_order_acquire)) return 0;
  const base::Millis left = timers_.empty() ? longest_sleep_ms_ : timers_.begin()->first.first - Now();
  return static_cast<int>(std::clamp<base::Millis>(left, 0, longest_sleep_ms_));
}

void EpollLoop::Watch(int fd, uint32_t events, SocketCallback callback) {
  auto [at, fresh] = sockets_.try_emplace(fd);
  if (fresh) at->second.generation = ++last_generation_ & 0xffffffffu;
  at->second.callback = std::move(callback);
  epoll_event event{};
  event.events = events;
  event.data.u64 = Pack(fd, at->second.generation);
  const int result = epoll_ctl(epoll_fd_, fresh ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
  // After a socket was closed and another opened under its number, the kernel may or may not know the number.
  if (result != 0 && errno == ENOENT) epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
  if (result != 0 && errno == EEXIST) epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event);
}

void EpollLoop::Unwatch(int fd) {
  if (sockets_.erase(fd) == 0) return;
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);  // fails harmlessly when curl closed it first
}

}  // namespace tutti::kube
