// SPDX-License-Identifier: Apache-2.0
#include "server/acceptor.h"

#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "rig.h"

namespace tutti::server {
namespace {

// Returns what tells an open file from every other one; 0: the descriptor is not open.
ino_t FileOf(int descriptor) {
  struct stat status{};
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

// Keeps the sockets that it is given.
class Keeper {
 public:
  void Take(int socket) {
    const std::lock_guard lock(mutex_);
    sockets_.emplace_back(socket, FileOf(socket));
    came_.notify_all();
  }
  // Waits until so many have come, of those that were not ended.
  void Await(size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return sockets_.size() >= count; });
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return sockets_.size();
  }
  // Ends the oldest connection, and returns its socket, which is still to be closed.
  int EndFirst() {
    const std::lock_guard lock(mutex_);
    const int socket = sockets_.front().first;
    shutdown(socket, SHUT_RDWR);
    sockets_.pop_front();
    return socket;
  }
  // Whether all others are still what they were.
  bool well() {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(sockets_, [](const auto& one) { return FileOf(one.first) == one.second; });
  }
  ~Keeper() {
    for (const auto& [socket, file] : sockets_) close(socket);
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::pair<int, ino_t>> sockets_;
};

TEST_CASE("connections beyond the most wait until another one has ended") {
  Keeper keeper;
  auto acceptor = Acceptor::Listen({.address = "127.0.0.1", .most = 2});
  REQUIRE(acceptor);
  (*acceptor)->Begin([&](int socket) { keeper.Take(socket); });
  const RawClient first((*acceptor)->port()), second((*acceptor)->port()), third((*acceptor)->port());
  keeper.Await(2);
  CHECK(keeper.count() == 2);
  close(keeper.EndFirst());
  keeper.Await(2);
  CHECK(keeper.count() == 2);
}

TEST_CASE("a connection that has ended and is not closed yet takes no other one with it") {
  Keeper keeper;
  auto acceptor = Acceptor::Listen({.address = "127.0.0.1", .most = 2});
  REQUIRE(acceptor);
  (*acceptor)->Begin([&](int socket) { keeper.Take(socket); });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<RawClient>((*acceptor)->port()));
  keeper.Await(2);
  const int first = keeper.EndFirst();
  keeper.Await(2);  // the third has come, so the end was seen, and a descriptor was free for others
  const int second = keeper.EndFirst();
  keeper.Await(2);
  CHECK(keeper.well());
  close(first);
  close(second);
}

TEST_CASE("a port that is taken is not shared") {
  const auto first = Acceptor::Listen({.address = "127.0.0.1"});
  REQUIRE(first);
  const auto second = Acceptor::Listen({.address = "127.0.0.1", .port = (*first)->port()});
  REQUIRE_FALSE(second);
  CHECK(second.error().message == "Address already in use");
  CHECK_FALSE(Acceptor::Listen({.address = "no.such.address.invalid"}));
}

}  // namespace
}  // namespace tutti::server
