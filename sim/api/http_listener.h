// SPDX-License-Identifier: Apache-2.0
// sim/api/http_listener.h - the HTTP library's server with an ApiHandler behind it: requests off the wire, answers and
// watches onto it.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <set>

#include "base/mutex.h"
#include "sim/api/api_handler.h"
#include "sim/api/beside.h"

namespace tutti::sim {

class HttpListener final : public httplib::Server {
 public:
  // `handler` must outlive it. A watch that has nothing to say looks so often whether its client is still there.
  explicit HttpListener(ApiHandler& handler,
                        std::chrono::milliseconds look_for_client = std::chrono::milliseconds(1000),
                        Beside beside = nullptr);

  // REQUIRES: bound.
  void WidenBacklog();
  // Ends idle connections at once, and others after the answer they are writing.
  void BeginStop();

  // Reads one request and writes its answer. False: it was the last of its connection.
  bool ServeOne(httplib::Stream& stream);

 private:
  bool process_and_close_socket(socket_t socket) override;
  void Answer(const HttpResponse& from, httplib::Response& response);
  void Send(Pieces next, const std::string& type, httplib::Response& response);
  // False: the API answers.
  bool AnswerBeside(const httplib::Request& request, httplib::Response& response);

  const std::chrono::milliseconds look_for_client_;
  const Beside beside_;
  std::atomic<bool> stopping_ = false;
  base::Mutex mutex_;
  std::set<int> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tutti::sim
