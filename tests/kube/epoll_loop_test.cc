// SPDX-License-Identifier: Apache-2.0
#include "kube/epoll_loop.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "skipping_clock.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

// The numbers of this process' eventfds.
std::set<int> EventFds() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) == "anon_inode:[eventfd]")
      found.insert(std::stoi(entry.path().filename()));
  }
  return found;
}

TEST_CASE("a wake that comes when its task has run already wakes once") {
  const std::set<int> others = EventFds();
  const base::SystemClock clock;
  EpollLoop loop(clock);
  int wake = -1;
  for (const int fd : EventFds())
    if (!others.contains(fd)) wake = fd;
  REQUIRE(wake >= 0);
  bool wakes_again = true;
  loop.After(0, [&] {
    // The second half of a Post whose thread was stopped in between.
    const uint64_t one = 1;
    CHECK(write(wake, &one, sizeof one) == sizeof one);
    loop.After(0, [&] {
      pollfd readable{wake, POLLIN, 0};
      wakes_again = poll(&readable, 1, 0) > 0;
      loop.Stop();
    });
  });
  loop.Run();
  CHECK_FALSE(wakes_again);
}

TEST_CASE("a loop that hangs is known by its last turn") {
  SkippingClock clock;
  EpollLoop loop(clock);
  std::promise<void> hangs, over;
  loop.Post([&] {
    hangs.set_value();
    over.get_future().wait();
  });
  std::thread thread([&loop] { loop.Run(); });
  hangs.get_future().wait();
  clock.Skip(61'000);
  CHECK(loop.SinceLastTurnMs() >= 61'000);
  over.set_value();
  Skip(0, clock, loop);
  CHECK(loop.SinceLastTurnMs() < 60'000);
  loop.Stop();
  thread.join();
}

// Its loop's turns are counted by their readings of it.
class CountingClock final : public base::Clock {
 public:
  base::Millis WallMs() const override { return 0; }
  base::Millis MonotonicMs() const override {
    if (++readings_ == 10) enough_();
    return 0;
  }
  void set_enough(std::function<void()> enough) { enough_ = std::move(enough); }

 private:
  mutable int readings_ = 0;
  std::function<void()> enough_;
};

TEST_CASE("a loop turns though nothing happens") {
  CountingClock clock;
  EpollLoop loop(clock, 1);
  std::promise<void> enough;
  clock.set_enough([&enough] { enough.set_value(); });
  std::thread thread([&loop] { loop.Run(); });
  CHECK(enough.get_future().wait_for(std::chrono::minutes(1)) == std::future_status::ready);
  loop.Stop();
  thread.join();
}

TEST_CASE("what is posted to a loop that is gone is dropped") {
  std::shared_ptr<EpollLoop::Inbox> inbox;
  {
    const base::SystemClock clock;
    const EpollLoop loop(clock);
    inbox = loop.inbox();
  }
  const auto ran = std::make_shared<bool>(false);
  inbox->Post([ran] { *ran = true; });
  inbox = nullptr;
  CHECK_FALSE(*ran);
  CHECK(ran.use_count() == 1);
}

}  // namespace
}  // namespace tutti::kube
