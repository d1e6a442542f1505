// SPDX-License-Identifier: Apache-2.0
// HttpRig: an HTTP server on loopback, on a thread of its own.
#pragma once

#include <httplib.h>

#include <functional>
#include <string>
#include <thread>

namespace tutti::tests {

class HttpRig {
 public:
  // Serves what `route` sets up, from here on.
  explicit HttpRig(const std::function<void(httplib::Server& http)>& route) {
    route(http_);
    port_ = http_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~HttpRig() {
    http_.stop();
    thread_.join();
  }
  HttpRig(const HttpRig&) = delete;
  HttpRig& operator=(const HttpRig&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  httplib::Server http_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace tutti::tests
