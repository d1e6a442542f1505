// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/text.h"
#include "server/connections.h"
#include "server/listening.h"
#include "server/places.h"
#include "server/tls_server.h"

namespace tutti::server {
namespace {

constexpr time_t kReadSeconds = 5;
constexpr const char* kProxiedAuthorization = "X-Tutti-Authorization";

std::string Verb(const std::string& method) { return base::LowerCase(method); }

// Returns the length of the body as the request says it; nullopt: it does not.
std::optional<size_t> BodyLength(const httplib::Request& request) {
  size_t length = 0;
  if (request.has_header("Transfer-Encoding") || request.get_header_value_count("Content-Length") != 1 ||
      !absl::SimpleAtoi(request.get_header_value("Content-Length"), &length))
    return std::nullopt;
  return length;
}

bool HasBody(const httplib::Request& request) {
  if (request.has_header("Transfer-Encoding")) return true;
  const auto [from, to] = request.headers.equal_range("Content-Length");
  return std::any_of(from, to, [](const auto& header) { return header.second != "0"; });
}

// Refuses, in `response`, a question that cannot be read, or has more than `most` bytes. True: it was refused.
// Only JSON is taken: other types a browser sends for a page of another site without asking.
bool Unreadable(const httplib::Request& request, size_t most, httplib::Response& response) {
  const std::optional<size_t> length = BodyLength(request);
  const auto refuse = [&response](int status, const std::string& why) {
    response.status = status;
    response.set_content(why, kText);
    return true;
  };
  if (!length) return refuse(411, "the header Content-Length is needed\n");
  // For each range the library copies the bytes that it covers.
  if (!request.ranges.empty()) return refuse(416, "the answer to a question has no ranges\n");
  if (*length > most)
    return refuse(413, fmt::format("a question may have {} bytes, and this one has {}\n", most, *length));
  if (request.get_header_value("Content-Type").rfind(kJson, 0) != 0)
    return refuse(415, "a question must be JSON, with Content-Type: application/json\n");
  Connections::LetBodyBeRead(*length);
  return false;
}

// Refuses, in `response`, a request of a kind that no page accepts. True: it was refused.
bool Untaken(const httplib::Request& request, httplib::Response& response) {
  if (request.method != "GET" && request.method != "HEAD") {
    response.status = 405;
    response.set_header("Allow", "GET, HEAD");
    return true;
  }
  if (HasBody(request)) {
    response.status = 413;
    return true;
  }
  // For each range the library copies the bytes that it covers.
  if (request.ranges.size() < 2) return false;
  response.status = 416;
  return true;
}

// Answers 400 if the query has a parameter that the page does not know; else 200.
PageAnswer Unknown(const Page& page, const Query& query) {
  if (page.parameters.empty()) return {};
  for (const auto& [name, value] : query)
    if (std::ranges::find(page.parameters, name) == page.parameters.end())
      return {400, fmt::format("unknown parameter \"{}\"; known are {}\n", name, fmt::join(page.parameters, ", "))};
  return {};
}

void Refuse(const httplib::Request& request, const Access& access, httplib::Response& response) {
  switch (access.kind) {
    case Access::Kind::kUnauthenticated:
      response.status = 401;
      response.set_header("WWW-Authenticate", "Bearer");
      response.set_content("Unauthorized\n", kText);
      return;
    case Access::Kind::kForbidden:
      response.status = 403;
      response.set_content(
          fmt::format("Forbidden: user \"{}\" may not {} this path\n", access.user, Verb(request.method)), kText);
      return;
    default:
      response.status = 500;
      response.set_content("the API server could not say who this is; try again\n", kText);
  }
}

}  // namespace

struct Server::Impl {
  Impl(Pages shown, const ServerOptions& options, std::shared_ptr<Certificate> served, const base::Clock& clock,
       AccessReview* review, ClientAuthorities::ReadTrust client_trust)
      : pages(std::move(shown)),
        always_allowed(options.always_allow_paths),
        always_allow_loopback(options.always_allow_loopback),
        share_port(options.share_port),
        certificate(std::move(served)),
        time(clock),
        authorities(std::move(client_trust), clock),
        delegated(review, options.access_times, clock),
        http([this, tls = options.tls](SSL_CTX& context) {
          Connections::Install(context);
          authorities.Install(context);
          return Apply(tls, context) && certificate->Install(context);
        }) {}

  bool IsOpen(const httplib::Request& request) const {
    // A proxy on this machine speaks for others.
    const bool is_local = IsLoopback(request.remote_addr) && SSL_get0_peer_certificate(request.ssl) == nullptr;
    return always_allowed.Covers(request.path) || (always_allow_loopback && is_local);
  }

  Caller CallerOf(const httplib::Request& request) {
    std::string token = BearerToken(request.get_header_value("Authorization"));
    // The API server's proxy keeps the header Authorization to itself.
    if (token.empty()) token = BearerToken(request.get_header_value(kProxiedAuthorization));
    return {std::move(token), authorities.UserOf(request.ssl, {request.headers.begin(), request.headers.end()})};
  }

  Access Decide(const httplib::Request& request) {
    if (IsOpen(request)) return {Access::Kind::kAllowed, {}};
    // What a folder shows is decided there.
    if (FolderOf(request.path) != nullptr) return {Access::Kind::kAllowed, {}};
    return delegated.Decide(CallerOf(request), Verb(request.method), request.path);
  }

  const Folder* FolderOf(std::string_view path) const {
    const auto at = std::ranges::find_if(
        pages.folders, [path](const Folder& folder) { return path.substr(0, folder.prefix.size()) == folder.prefix; });
    return at == pages.folders.end() ? nullptr : &*at;
  }

  bool IsQuestion(const httplib::Request& request) const {
    const Folder* folder = FolderOf(request.path);
    return request.method == "POST" && folder != nullptr &&
           std::ranges::find(folder->questions, request.path) != folder->questions.end();
  }

  // Lets a question be read that comes from a known user.
  httplib::Server::HandlerResponse Admit(const httplib::Request& request, httplib::Response& response) {
    if (!IsOpen(request)) {
      const DelegatedAccess::Identity identity = delegated.Identify(CallerOf(request));
      const bool known = identity.rights && identity.rights->user() != kAnonymousUser;
      if (!known) {
        Refuse(request, identity.rights ? Access{Access::Kind::kUnauthenticated, {}} : identity.refused, response);
        return httplib::Server::HandlerResponse::Handled;
      }
    }
    return Unreadable(request, Folder::kMostBody, response) ? httplib::Server::HandlerResponse::Handled
                                                            : httplib::Server::HandlerResponse::Unhandled;
  }

  bool IsOpenQuestion(const httplib::Request& request) const {
    return request.method == "POST" &&
           std::ranges::find(pages.questions, request.path, &OpenQuestion::path) != pages.questions.end();
  }

  // The body is read here, where its place is held.
  void AddQuestion(const OpenQuestion& question) {
    http.Post(question.path, [this, &question](const httplib::Request& request, httplib::Response& response,
                                               const httplib::ContentReader& reader) {
      const auto [place, refusal] = questions.Take(request.remote_addr);
      if (!place) {
        response.status = refusal == Places::Refusal::kAllTaken ? 503 : 429;
        response.set_header("Retry-After", "1");
        return response.set_content("too many questions are being read; try again\n", kText);
      }
      std::string body;
      const auto append = [&body](const char* data, size_t length) {
        body.append(data, length);
        return body.size() <= kMostQuestion;
      };
      if (!reader(append)) {
        response.status = 400;
        return response.set_content("the question could not be read to its end\n", kText);
      }
      PageAnswer answer = question.answer(body);
      response.status = answer.status;
      response.set_header("Cache-Control", "no-store");
      response.set_content(std::move(answer.body), answer.status == 200 ? kJson : kText);
    });
  }

  void AddFolder(const Folder& folder) {
    const auto answer = [this, &folder](const httplib::Request& request, httplib::Response& response) {
      DelegatedAccess::Identity identity{std::make_shared<const AllRights>()};
      const bool open = IsOpen(request);
      if (!open) identity = delegated.Identify(CallerOf(request));
      if (!identity.rights) return Refuse(request, identity.refused, response);
      FolderAnswer answer = folder.answer({request.path, Query(request.params.begin(), request.params.end()),
                                           identity.rights, request.get_header_value("Last-Event-ID"),
                                           request.method == "POST" ? "POST" : "GET", request.body});
      response.status = answer.status;
      if (answer.status == 401) response.set_header("WWW-Authenticate", "Bearer");
      response.set_header("Cache-Control", "no-store");
      response.set_header("X-Content-Type-Options", "nosniff");
      if (answer.stream)
        return Send(std::move(answer.stream), open ? "" : identity.rights->user(), answer.type, response);
      // So that a client of the API server's tries again, and perhaps asks another replica.
      if (answer.status == 503) response.set_header("Retry-After", "1");
      response.set_content(std::move(answer.body), answer.type);
    };
    http.Get(folder.prefix + ".*", answer);
    for (const std::string& path : folder.questions) http.Post(path, answer);
  }

  void Send(std::shared_ptr<Stream> stream, const std::string& user, const char* type, httplib::Response& response) {
    auto [place, refusal] = streams.Take(user);
    if (!place) {
      const bool all = refusal == Places::Refusal::kAllTaken;
      response.status = all ? 503 : 429;
      response.set_header("Retry-After", "5");
      const std::string why = all ? fmt::format("{} streams are open", kMostStreams)
                                  : fmt::format("user \"{}\" has {} streams open", user, kMostStreamsEach);
      response.set_content(why + ", which is the most; try again later\n", kText);
      return;
    }
    response.set_chunked_content_provider(
        type, [this, stream = std::move(stream), place = std::move(place)](size_t, httplib::DataSink& sink) {
          const auto piece = stopping ? std::nullopt : stream->Next(Connections::kLook);
          if (!piece) {
            sink.done();
            return true;
          }
          if (piece->empty()) return true;
          if (!sink.write(piece->data(), piece->size())) return false;
          Connections::PieceIsSent();
          return true;
        });
  }

  void AddHealth(const char* path, const std::vector<HealthCheck>& checks) {
    const auto ask = [this, path](const httplib::Request& request, httplib::Response& response, const auto& asked) {
      HealthQuestion question{path, request.has_param("verbose"), {}, {}};
      for (size_t i = 0; i < request.get_param_value_count("exclude"); ++i)
        question.excluded.push_back(request.get_param_value("exclude", i));
      if (pages.on_check)
        question.asked = [this, path](std::string_view check, bool well) { pages.on_check(path, check, well); };
      const HealthAnswer answer = AskHealth(asked, question);
      response.status = answer.well ? 200 : 500;
      response.set_content(answer.text, kText);
    };
    const std::string at = std::string("/") + path;
    http.Get(at, [ask, &checks](const auto& request, auto& response) { ask(request, response, checks); });
    for (const HealthCheck& check : checks)
      http.Get(at + "/" + check.name,
               [ask, &check](const auto& request, auto& response) { ask(request, response, check); });
  }

  void AddPage(const Page& page) {
    http.Get(page.path, [&page](const httplib::Request& request, httplib::Response& response) {
      const Query query(request.params.begin(), request.params.end());
      PageAnswer answer = Unknown(page, query);
      if (answer.status == 200) answer = page.show(query);
      response.status = answer.status;
      response.set_content(std::move(answer.body), answer.status == 200 ? page.type : kText);
    });
  }

  // Answers a request for what is open to all. False: it is for something else.
  bool ShowOpen(const httplib::Request& request, httplib::Response& response) {
    const std::optional<OpenAnswer> answer = pages.open ? pages.open(request.path) : std::nullopt;
    if (!answer) return false;
    response.status = answer->status;
    response.set_header("Cache-Control", "no-cache");
    response.set_header("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : answer->headers) response.set_header(name, value);
    response.set_content(answer->body.data(), answer->body.size(), answer->type);
    return true;
  }

  void AddIndex() {
    std::string list;
    for (const char* path : {"/healthz", "/livez", "/readyz"}) list += fmt::format("{}\n", path);
    for (const Page& page : pages.shown) {
      list += page.path;
      if (!page.parameters.empty()) list += fmt::format("?{}=", fmt::join(page.parameters, "=&"));
      list += '\n';
    }
    for (const Folder& folder : pages.folders) list += folder.prefix + '\n';
    if (!pages.open_at.empty()) list += pages.open_at + '\n';
    http.Get("/", [list](const httplib::Request&, httplib::Response& response) { response.set_content(list, kText); });
  }

  void AddPages() {
    http.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      Connections::HeadIsRead();
      // Refuse before the body is read, because the library takes all of it into memory.
      if (IsQuestion(request)) return Admit(request, response);
      if (IsOpenQuestion(request))
        return Unreadable(request, kMostQuestion, response) ? httplib::Server::HandlerResponse::Handled
                                                            : httplib::Server::HandlerResponse::Unhandled;
      if (Untaken(request, response)) return httplib::Server::HandlerResponse::Handled;
      if (ShowOpen(request, response)) return httplib::Server::HandlerResponse::Handled;
      const Access access = Decide(request);
      if (access.kind == Access::Kind::kAllowed) return httplib::Server::HandlerResponse::Unhandled;
      Refuse(request, access, response);
      return httplib::Server::HandlerResponse::Handled;
    });
    AddHealth("livez", pages.live);
    AddHealth("healthz", pages.health);
    AddHealth("readyz", pages.ready);
    for (const Page& page : pages.shown) AddPage(page);
    for (const Folder& folder : pages.folders) AddFolder(folder);
    for (const OpenQuestion& question : pages.questions) AddQuestion(question);
    AddIndex();
  }

  void Tune() {
    http.new_task_queue = [this] { return new Connections(time, stopping); };
    http.set_idle_interval(Connections::kLook);
    // By default the library sets SO_REUSEPORT, with which a port in use is shared instead of refused.
    http.set_socket_options([this](socket_t socket) { PrepareToListen(socket, share_port); });
    http.set_payload_max_length(std::max(Folder::kMostBody, kMostQuestion));
    http.set_tcp_nodelay(true);
    http.set_read_timeout(kReadSeconds);
    http.set_write_timeout(kReadSeconds);
  }

  // Constant after construction.
  const Pages pages;
  const AlwaysAllowed always_allowed;
  const bool always_allow_loopback;
  const bool share_port;
  const std::shared_ptr<Certificate> certificate;
  const base::Clock& time;

  std::atomic<bool> stopping = false;
  Places streams{kMostStreams, kMostStreamsEach};
  Places questions{kMostQuestions, kMostQuestionsEach};
  ClientAuthorities authorities;
  DelegatedAccess delegated;

  TlsServer http;
  int port = 0;
  std::thread thread;
};

base::Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, Pages pages, const base::Clock& clock,
                                                    AccessReview* review, ClientAuthorities::ReadTrust client_trust) {
  auto certificate = options.certificate.cert.empty() ? Certificate::SelfSigned(options.bind_address)
                                                      : Certificate::Load(options.certificate);
  if (!certificate) return tl::make_unexpected(certificate.error());
  auto impl = std::make_unique<Impl>(std::move(pages), options, *std::move(certificate), clock, review,
                                     std::move(client_trust));
  impl->Tune();
  impl->AddPages();
  const std::string address = ListenAddress(options.bind_address);
  errno = 0;
  if (options.port == 0) {
    impl->port = impl->http.bind_to_any_port(address);
  } else {
    impl->port = impl->http.bind_to_port(address, options.port) ? options.port : -1;
  }
  if (impl->port < 0) {
    return base::Fail(
        base::ErrorCode::kUnavailable,
        fmt::format("cannot listen on {}:{}: {}; choose another with --bind-address and --secure-port, or "
                    "none with --secure-port=0",
                    options.bind_address, options.port, WhyNotListening(address, errno)));
  }
  Impl* serving = impl.get();
  impl->thread = std::thread([serving] { serving->http.listen_after_bind(); });
  // A stop() before the server runs would have no effect, and the destructor would not end.
  while (!serving->http.is_running()) std::this_thread::yield();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->stopping = true;
  impl_->http.stop();
  impl_->thread.join();
}

int Server::port() const { return impl_->port; }

}  // namespace tutti::server
