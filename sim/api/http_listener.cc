// SPDX-License-Identifier: Apache-2.0
#include "sim/api/http_listener.h"

#include <sys/socket.h>

#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "sim/api/connection.h"

namespace tutti::sim {
namespace {

constexpr size_t kMaxConnections = 1024;
constexpr int kBacklog = 512;  // the library's own 5 makes a burst of clients wait for SYN retries of a second
constexpr int kIdleConnectionSeconds = 300;

// Threads on demand: a pool of fixed size starves behind long watches, or is mostly idle.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> job) override {
    const base::MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
    if (jobs_.size() > idle_ && threads_.size() < kMaxConnections) {
      threads_.emplace_back([this] { Work(); });
    } else {
      arrived_.NotifyOne();
    }
  }

  void shutdown() override {
    std::vector<std::thread> threads;
    {
      const base::MutexLock lock(mutex_);
      ending_ = true;
      threads.swap(threads_);
    }
    arrived_.NotifyAll();
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void Work() {
    while (const std::function<void()> job = Take()) job();
  }

  // Nothing when all ends.
  std::function<void()> Take() {
    const base::MutexLock lock(mutex_);
    ++idle_;
    while (!ending_ && jobs_.empty()) arrived_.Wait(mutex_);
    --idle_;
    if (jobs_.empty()) return nullptr;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }

  base::Mutex mutex_;
  base::Condition arrived_;
  std::deque<std::function<void()>> jobs_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
};

HttpRequest FromLibrary(const httplib::Request& request) {
  HttpRequest out;
  out.method = request.method == "HEAD" ? "GET" : request.method;
  out.path = request.path;
  out.params.insert(request.params.begin(), request.params.end());
  out.accept = request.get_header_value("Accept");
  out.content_type = request.get_header_value("Content-Type");
  out.if_none_match = request.get_header_value("If-None-Match");
  out.body = request.body;
  return out;
}

// One warning a line of `text`; each is a quoted string.
std::string WarningHeader(const std::string& text) {
  std::string header = "299 - \"";
  for (const char c : text) {
    if (c == '\n') {
      header += "\", 299 - \"";
      continue;
    }
    if (c == '"' || c == '\\') header += '\\';
    header += c == '\r' ? ' ' : c;
  }
  return header + '"';
}

}  // namespace

HttpListener::HttpListener(ApiHandler& handler, std::chrono::milliseconds look_for_client, Beside beside)
    : look_for_client_(look_for_client), beside_(std::move(beside)) {
  new_task_queue = [] { return new ConnectionThreads; };
  set_keep_alive_max_count(1'000'000'000);
  set_keep_alive_timeout(kIdleConnectionSeconds);
  // The library's own choice, SO_REUSEPORT, shares a port that is taken instead of refusing it.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  set_tcp_nodelay(true);
  const auto serve = [this, &handler](const httplib::Request& request, httplib::Response& response) {
    if (!AnswerBeside(request, response)) Answer(handler.Handle(FromLibrary(request)), response);
  };
  Get("/.*", serve);
  Post("/.*", serve);
  Put("/.*", serve);
  Patch("/.*", serve);
  Delete("/.*", serve);
  set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr thrown) {
    std::string what;
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {
      what = "unknown";
    }
    const HttpResponse error = ErrorResponse(InternalError(what));
    response.status = error.code;
    response.set_content(error.body, error.content_type);
  });
}

void HttpListener::WidenBacklog() { ::listen(svr_sock_, kBacklog); }

void HttpListener::BeginStop() {
  stopping_ = true;
  const base::MutexLock lock(mutex_);
  for (const int socket : open_) ::shutdown(socket, SHUT_RD);
}

bool HttpListener::ServeOne(httplib::Stream& stream) {
  bool closed = false;
  return process_request(stream, false, closed, [](httplib::Request&) {}) && !closed;
}

bool HttpListener::process_and_close_socket(socket_t socket) {
  {
    const base::MutexLock lock(mutex_);
    open_.insert(socket);
  }
  const auto forget = [this](Connection* connection) {
    const base::MutexLock lock(mutex_);
    open_.erase(connection->socket());
    delete connection;
  };
  const std::unique_ptr<Connection, decltype(forget)> connection(new Connection(socket), forget);
  while (!stopping_ && connection->WaitForRequest(kIdleConnectionSeconds) && ServeOne(*connection)) {
  }
  return true;
}

void HttpListener::Answer(const HttpResponse& from, httplib::Response& response) {
  response.status = from.code;
  if (!from.etag.empty()) response.set_header("ETag", from.etag);
  if (!from.warning.empty()) response.set_header("Warning", WarningHeader(from.warning));
  if (!from.watch) {
    response.set_content(from.body, from.content_type);
    return;
  }
  Send([stream = from.watch](std::chrono::milliseconds patience) { return stream->Next(patience); }, from.content_type,
       response);
}

bool HttpListener::AnswerBeside(const httplib::Request& request, httplib::Response& response) {
  if (!beside_) return false;
  BesideRequest asked{
      request.method == "HEAD" ? "GET" : request.method, request.path, {}, request.get_header_value("Last-Event-ID")};
  asked.body = request.body;
  asked.params.insert(request.params.begin(), request.params.end());
  std::optional<BesideAnswer> answer = beside_(asked);
  if (!answer) return false;
  response.status = answer->code;
  response.set_header("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : answer->headers) response.set_header(name, value);
  if (answer->pieces)
    Send(std::move(answer->pieces), answer->content_type, response);
  else
    response.set_content(std::move(answer->body), answer->content_type);
  return true;
}

void HttpListener::Send(Pieces next, const std::string& type, httplib::Response& response) {
  response.set_chunked_content_provider(type, [this, next = std::move(next)](size_t, httplib::DataSink& sink) {
    const auto piece = next(look_for_client_);
    if (!piece || stopping_) {
      sink.done();
      return true;
    }
    if (piece->empty()) return sink.is_writable();
    return sink.write(piece->data(), piece->size());
  });
}

}  // namespace tutti::sim
