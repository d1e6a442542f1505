// SPDX-License-Identifier: Apache-2.0
#include "sim/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "sim/connection.h"

namespace tutti::sim {
namespace {

constexpr size_t kMaxConnections = 1024;
constexpr int kBacklog = 512;  // the library's own 5 makes a burst of clients wait for SYN retries of a second
constexpr int kIdleConnectionSeconds = 300;
constexpr std::chrono::milliseconds kLookForClient(1000);

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

class HttpServer::Listener final : public httplib::Server {
 public:
  explicit Listener(ApiHandler& handler) {
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
      Serve(handler.Handle(FromLibrary(request)), response);
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

  // REQUIRES: bound.
  void WidenBacklog() { ::listen(svr_sock_, kBacklog); }
  // Ends idle connections at once, and others after the answer they are writing.
  void BeginStop() {
    stopping_ = true;
    const base::MutexLock lock(mutex_);
    for (const int socket : open_) ::shutdown(socket, SHUT_RD);
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    {
      const base::MutexLock lock(mutex_);
      open_.insert(socket);
    }
    {
      const auto forget = [this](Connection* connection) {
        const base::MutexLock lock(mutex_);
        open_.erase(connection->socket());
        delete connection;
      };
      std::unique_ptr<Connection, decltype(forget)> connection(new Connection(socket), forget);
      bool closed = false;
      while (!stopping_ && !closed && connection->WaitForRequest(kIdleConnectionSeconds)) {
        if (!process_request(*connection, false, closed, [](httplib::Request&) {})) break;
      }
    }
    return true;
  }

  void Serve(const HttpResponse& from, httplib::Response& response) {
    response.status = from.code;
    if (!from.etag.empty()) response.set_header("ETag", from.etag);
    if (!from.warning.empty()) response.set_header("Warning", WarningHeader(from.warning));
    if (!from.watch) {
      response.set_content(from.body, from.content_type);
      return;
    }
    response.set_chunked_content_provider(from.content_type,
                                          [this, stream = from.watch](size_t, httplib::DataSink& sink) {
                                            const auto piece = stream->Next(kLookForClient);
                                            if (!piece || stopping_) {
                                              sink.done();
                                              return true;
                                            }
                                            if (piece->empty()) return sink.is_writable();
                                            return sink.write(piece->data(), piece->size());
                                          });
  }

  std::atomic<bool> stopping_ = false;
  base::Mutex mutex_;
  std::set<int> open_ ABSL_GUARDED_BY(mutex_);
};

HttpServer::HttpServer(Door& door) : handler_(door), listener_(std::make_unique<Listener>(handler_)) {}

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
