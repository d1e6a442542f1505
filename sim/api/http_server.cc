// SPDX-License-Identifier: Apache-2.0
#include "sim/api/http_server.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sim/api/http_listener.h"

namespace tutti::sim {

HttpServer::HttpServer(Door& door, Warnings warnings, Beside beside)
    : handler_(door, std::move(warnings)),
      listener_(std::make_unique<HttpListener>(handler_, std::chrono::milliseconds(1000), std::move(beside))) {}

HttpServer::~HttpServer() { Stop(); }

base::Status HttpServer::Start(const std::string& host, int port) {
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  const std::string bare = bracketed ? host.substr(1, host.size() - 2) : host;
  host_ = bare.find(':') == std::string::npos ? bare : fmt::format("[{}]", bare);
  errno = 0;
  port_ = port == 0 ? listener_->bind_to_any_port(bare) : listener_->bind_to_port(bare, port) ? port : -1;
  if (port_ < 0) {
    return base::Invalid(
        fmt::format("cannot listen on {}:{}: {}", host_, port, errno ? std::strerror(errno) : "no such address"));
  }
  listener_->WidenBacklog();
  accepting_ = std::thread([this] { listener_->listen_after_bind(); });
  return {};
}

void HttpServer::Stop() {
  if (!accepting_.joinable()) return;
  listener_->BeginStop();
  handler_.CloseWatches();
  // The library ignores a stop that comes before its loop has begun.
  while (!listener_->is_running()) std::this_thread::yield();
  listener_->stop();
  accepting_.join();
}

std::string HttpServer::url() const { return fmt::format("http://{}:{}", host_, port_); }

std::string KubeconfigFor(const std::string& url) {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: tutti-sim\n"
      "clusters:\n- name: tutti-sim\n  cluster:\n    server: {}\n"
      "users:\n- name: admin\n  user: {{}}\n"
      "contexts:\n- name: tutti-sim\n  context:\n    cluster: tutti-sim\n    user: admin\n",
      url);
}

}  // namespace tutti::sim
