// SPDX-License-Identifier: Apache-2.0
// Connections: a thread for each connection, up to a number, so that some who connect and say nothing do not keep the
// kubelet's probes out. Used by the listening thread only.
#pragma once

#include <httplib.h>

#include <atomic>
#include <functional>
#include <list>
#include <semaphore>
#include <thread>

namespace tutti::server {

class Connections final : public httplib::TaskQueue {
 public:
  static constexpr int kMost = 256;

  // Waits while there are kMost.
  void enqueue(std::function<void()> serve) override {
    places_.acquire();
    open_.remove_if([](Connection& one) {
      if (!one.done) return false;
      one.thread.join();
      return true;
    });
    Connection& one = open_.emplace_back();
    one.thread = std::thread([this, &one, serve = std::move(serve)] {
      serve();
      one.done = true;
      places_.release();
    });
  }
  void shutdown() override {
    for (Connection& one : open_) one.thread.join();
    open_.clear();
  }

 private:
  struct Connection {
    std::thread thread;
    std::atomic<bool> done = false;
  };
  std::counting_semaphore<> places_{kMost};
  std::list<Connection> open_;
};

}  // namespace tutti::server
