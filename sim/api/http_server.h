// SPDX-License-Identifier: Apache-2.0
// sim/api/http_server.h - the embedded cluster on a TCP port: HTTP/1.1, no TLS.
//
// One thread a connection, made when there is none idle: 60 watches and 80 calls in
// flight are 140. All access to the store is through its door.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "sim/api/api_handler.h"
#include "sim/api/beside.h"
#include "sim/store/door.h"

namespace tutti::sim {

class HttpListener;

class HttpServer {
 public:
  // `warnings`: as ApiHandler's.
  explicit HttpServer(Door& door, Warnings warnings = nullptr, Beside beside = nullptr);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens and serves; `port` 0: a free one. An IPv6 address may be in brackets. Error kInvalid: it cannot listen
  // there, and why. REQUIRES: called once.
  base::Status Start(const std::string& host, int port);
  // Ends watches and connections, and waits for their threads. May be called twice.
  void Stop();

  int port() const { return port_; }
  // "http://127.0.0.1:8001"
  std::string url() const;

 private:
  ApiHandler handler_;
  std::unique_ptr<HttpListener> listener_;
  std::thread accepting_;
  std::string host_;
  int port_ = 0;
};

// A kubeconfig for it, as text.
std::string KubeconfigFor(const std::string& url);

}  // namespace tutti::sim
