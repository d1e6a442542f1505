// SPDX-License-Identifier: Apache-2.0
#include "kube/curl_transport.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"

namespace tutti::kube {
namespace {

constexpr long kConnections = 3;         // over HTTP/2: one in use; the others are for use after a GOAWAY
constexpr long kHttp1Connections = 128;  // a watch takes one each
constexpr long kConnectTimeoutMs = 10'000;
constexpr base::Millis kAuthoritiesMaxAgeMs = 1'000;

// Makes a SOCKS proxy look names up itself, as in Go: it may know names that this machine does not.
std::string ForCurl(const std::string& proxy) {
  constexpr std::string_view kSocks = "socks5:";
  return proxy.starts_with(kSocks) ? "socks5h:" + proxy.substr(kSocks.size()) : proxy;
}

void StartLibrary() {
  static const CURLcode result = curl_global_init(CURL_GLOBAL_DEFAULT);
  TUTTI_CHECK(result == CURLE_OK, "curl_global_init failed");
}

// Sets keep-alive, so that a vanished peer is noticed within half a minute, even without a request.
int OnSocketMade(void*, curl_socket_t socket, curlsocktype) {
  const int patience_ms = kSocketPatienceMs;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
  return CURL_SOCKOPT_OK;
}

// Says how the request failed. With `sent` it may have left before: if a reused connection breaks, libcurl itself sends
// the request again.
Response::Failure Classify(CURLcode code, bool sent) {
  if (code == CURLE_OPERATION_TIMEDOUT) return sent ? Response::Failure::kTimeout : Response::Failure::kNotSent;
  if (sent) return Response::Failure::kLost;
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_ABORTED_BY_CALLBACK:  // BeforeSending
    case CURLE_NO_CONNECTION_AVAILABLE: return Response::Failure::kNotSent;
    default: return Response::Failure::kLost;
  }
}

// Splits "Name: value\r\n"; the name in lower case, and empty when it is no header.
std::pair<std::string, std::string_view> SplitHeader(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == line.npos) return {};
  std::string name = base::LowerCase(line.substr(0, colon));
  line.remove_prefix(colon + 1);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  return {std::move(name), line};
}

}  // namespace

struct CurlTransport::Multi {
  CurlTransport* owner = nullptr;
  CURLM* handle = nullptr;
  TimerId timer = 0;
  bool http1 = false;
};

struct CurlTransport::Exchange {
  CurlTransport* owner = nullptr;
  Multi* multi = nullptr;
  Handle handle;
  RequestId id = 0;
  Request request;
  OnDone done;
  OnData data;
  Response response;
  bool cancelled = false;
  bool sent = false;  // a part of the request may have left
  curl_slist* own_headers = nullptr;
  char error[CURL_ERROR_SIZE] = {};
};

CurlTransport::CurlTransport(const Config& config, std::string user_agent, EpollLoop& loop)
    : config_(config), user_agent_(std::move(user_agent)), loop_(loop) {
  StartLibrary();
  const Url url = SplitUrl(config_.server);
  base_url_ = config_.server;
  loopback_ = url.loopback();
  if (!config_.tls_server_name.empty()) {
    base_url_ = fmt::format("{}://{}:{}{}", url.scheme, config_.tls_server_name, url.port, url.prefix);
    host_header_ = "Host: " + url.authority;
    const char* form = url.host.find(':') == std::string::npos ? "::{}:{}" : "::[{}]:{}";
    connect_list_ = curl_slist_append(nullptr, fmt::format(fmt::runtime(form), url.host, url.port).c_str());
  }
  const bool plain = url.scheme == "http";
  for (auto& multi : multis_) {
    multi = std::make_unique<Multi>();
    multi->owner = this;
    multi->handle = curl_multi_init();
    TUTTI_CHECK(multi->handle != nullptr, "curl_multi_init failed");
    curl_multi_setopt(multi->handle, CURLMOPT_SOCKETFUNCTION, &OnSocket);
    curl_multi_setopt(multi->handle, CURLMOPT_SOCKETDATA, multi.get());
    curl_multi_setopt(multi->handle, CURLMOPT_TIMERFUNCTION, &OnTimer);
    curl_multi_setopt(multi->handle, CURLMOPT_TIMERDATA, multi.get());
    curl_multi_setopt(multi->handle, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi->handle, CURLMOPT_MAX_HOST_CONNECTIONS, kConnections);
    if (plain) AllowHttp1(*multi);
  }
}

CurlTransport::~CurlTransport() {
  while (!active_.empty()) Detach(*active_.begin()->second->multi, active_.begin()->second);
  for (const Handle& handle : idle_) curl_easy_cleanup(handle.easy);
  for (auto& multi : multis_) {
    loop_.CancelTimer(multi->timer);
    curl_multi_cleanup(multi->handle);
    loop_.CancelTimer(multi->timer);
  }
  for (const auto& [key, list] : header_cache_) curl_slist_free_all(list);
  for (curl_slist* list : retired_headers_) curl_slist_free_all(list);
  curl_slist_free_all(connect_list_);
}

void CurlTransport::AllowHttp1(Multi& multi) {
  multi.http1 = true;
  curl_multi_setopt(multi.handle, CURLMOPT_MAX_HOST_CONNECTIONS, kHttp1Connections);
  curl_multi_setopt(multi.handle, CURLMOPT_MAXCONNECTS, kHttp1Connections);
  // libcurl does not look again at transfers that wait for a connection.
  for (const auto& [id, exchange] : active_) {
    if (exchange->multi != &multi || exchange->handle.easy == nullptr) continue;
    curl_off_t pretransfer = 0;
    curl_easy_getinfo(exchange->handle.easy, CURLINFO_PRETRANSFER_TIME_T, &pretransfer);
    if (pretransfer > 0) continue;
    curl_multi_remove_handle(multi.handle, exchange->handle.easy);
    curl_multi_add_handle(multi.handle, exchange->handle.easy);
  }
}

// --- Requests ---

RequestId CurlTransport::Send(Request request, OnDone done, OnData data) {
  auto exchange = std::make_unique<Exchange>();
  exchange->owner = this;
  exchange->multi = multis_[static_cast<size_t>(request.channel)].get();
  exchange->id = ++last_id_;
  exchange->request = std::move(request);
  exchange->done = std::move(done);
  exchange->data = std::move(data);
  const RequestId id = exchange->id;
  active_.emplace(id, exchange.get());
  if (curl_depth_ > 0) {
    // The exchange is in active_ until then; a cancellation in between is seen by Start.
    deferred_.push_back([this, raw = exchange.release()] { Start(std::unique_ptr<Exchange>(raw)); });
  } else {
    Start(std::move(exchange));
  }
  return id;
}

CurlTransport::Handle CurlTransport::TakeHandle() {
  if (!idle_.empty()) {
    const Handle handle = idle_.back();
    idle_.pop_back();
    return handle;
  }
  CURL* easy = curl_easy_init();
  TUTTI_CHECK(easy != nullptr, "curl_easy_init failed");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   config_.server.starts_with("https") ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, user_agent_.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &OnSocketMade);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &BeforeSending);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &OnHeader);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // the answer to a proxy's CONNECT
  if (connect_list_ != nullptr) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_list_);
  if (config_.insecure_skip_tls_verify) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  // As in Go, the proxy of the environment is not used for the loopback address.
  if (!config_.proxy_url.empty())
    curl_easy_setopt(easy, CURLOPT_PROXY, ForCurl(config_.proxy_url).c_str());
  else if (loopback_)
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
  return {easy};
}

// Gives the handle the current authorities. It does so for each request, because any may open a new connection.
void CurlTransport::UpdateAuthorities(Handle& handle) {
  if (loop_.Now() >= authorities_due_ms_) {
    authorities_due_ms_ = loop_.Now() + kAuthoritiesMaxAgeMs;
    if (RereadAuthorities(&config_)) ++authorities_generation_;
  }
  if (std::exchange(handle.authorities_generation, authorities_generation_) == authorities_generation_) return;
  if (config_.insecure_skip_tls_verify || config_.ca_pem.empty()) return;
  curl_blob blob{config_.ca_pem.data(), config_.ca_pem.size(), CURL_BLOB_COPY};
  curl_easy_setopt(handle.easy, CURLOPT_CAINFO_BLOB, &blob);
  curl_easy_setopt(handle.easy, CURLOPT_CAPATH, nullptr);
}

curl_slist* CurlTransport::Headers(const Request& request, const Credential& credential) {
  if (credential.generation != header_generation_) {
    for (const auto& [key, list] : header_cache_) retired_headers_.push_back(list);
    header_cache_.clear();
    header_generation_ = credential.generation;
  }
  const bool has_body = !request.body.empty();
  curl_slist*& cached = header_cache_[{request.accept, request.content_type, has_body}];
  if (cached != nullptr && request.if_none_match.empty()) return cached;
  curl_slist* list = curl_slist_append(nullptr, fmt::format("Accept: {}", request.accept).c_str());
  if (has_body) list = curl_slist_append(list, fmt::format("Content-Type: {}", request.content_type).c_str());
  list = curl_slist_append(list, "Expect:");
  if (!credential.authorization.empty())
    list = curl_slist_append(list, ("Authorization: " + credential.authorization).c_str());
  for (const auto& [name, value] : credential.impersonation)
    list = curl_slist_append(list, fmt::format(fmt::runtime(value.empty() ? "{};" : "{}: {}"), name, value).c_str());
  if (!host_header_.empty()) list = curl_slist_append(list, host_header_.c_str());
  if (!request.if_none_match.empty())
    return curl_slist_append(list, ("If-None-Match: " + request.if_none_match).c_str());
  return cached = list;
}

void CurlTransport::Configure(Exchange& exchange) {
  CURL* easy = exchange.handle.easy;
  const Request& request = exchange.request;
  const Credential& credential = *request.credential;
  UpdateAuthorities(exchange.handle);
  if (exchange.handle.credential_generation != credential.generation) {
    exchange.handle.credential_generation = credential.generation;
    if (!credential.client_cert_pem.empty()) {
      curl_blob cert{const_cast<char*>(credential.client_cert_pem.data()), credential.client_cert_pem.size(),
                     CURL_BLOB_COPY};
      curl_blob key{const_cast<char*>(credential.client_key_pem.data()), credential.client_key_pem.size(),
                    CURL_BLOB_COPY};
      curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &cert);
      curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
    }
  }
  curl_slist* headers = Headers(request, credential);
  if (!request.if_none_match.empty()) exchange.own_headers = headers;
  curl_easy_setopt(easy, CURLOPT_URL, (base_url_ + request.target).c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &exchange);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange.error);
  if (request.body.empty() && request.method != Method::kPost && request.method != Method::kPut) {
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  } else {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, Name(request.method));
}

void CurlTransport::Start(std::unique_ptr<Exchange> exchange) {
  if (exchange->cancelled) {
    active_.erase(exchange->id);
    return;
  }
  exchange->handle = TakeHandle();
  Configure(*exchange);
  Exchange* raw = exchange.release();  // curl's private pointer owns it until Detach
  const CURLMcode result = curl_multi_add_handle(raw->multi->handle, raw->handle.easy);
  TUTTI_CHECK(result == CURLM_OK, curl_multi_strerror(result));
}

void CurlTransport::Cancel(RequestId id) {
  const auto at = active_.find(id);
  if (at == active_.end() || at->second->cancelled) return;
  Exchange* exchange = at->second;
  exchange->cancelled = true;
  if (exchange->handle.easy == nullptr) return;  // not started yet; Start sees it
  if (curl_depth_ == 0) {
    Detach(*exchange->multi, exchange);
    return;
  }
  deferred_.push_back([this, id] {
    if (const auto still = active_.find(id); still != active_.end()) Detach(*still->second->multi, still->second);
  });
}

// Takes the exchange out of curl, and its handle back.
std::unique_ptr<CurlTransport::Exchange> CurlTransport::Detach(Multi& multi, Exchange* exchange) {
  std::unique_ptr<Exchange> owned(exchange);
  active_.erase(exchange->id);
  if (exchange->handle.easy != nullptr) {
    ++curl_depth_;
    curl_multi_remove_handle(multi.handle, exchange->handle.easy);
    --curl_depth_;
    curl_easy_setopt(exchange->handle.easy, CURLOPT_ERRORBUFFER, nullptr);
    idle_.push_back(exchange->handle);
    exchange->handle = {};
  }
  curl_slist_free_all(exchange->own_headers);
  exchange->own_headers = nullptr;
  return owned;
}

void CurlTransport::RunDeferred() {
  while (!deferred_.empty())
    for (Task& task : std::exchange(deferred_, {})) task();
}

// --- Driving ---

void CurlTransport::Drive(Multi& multi, curl_socket_t socket, int events) {
  int running = 0;
  ++curl_depth_;
  curl_multi_socket_action(multi.handle, socket, events, &running);
  --curl_depth_;
  Collect(multi);
  RunDeferred();
}

void CurlTransport::Collect(Multi& multi) {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi.handle, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Exchange* exchange = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
    Finish(multi, exchange, message->data.result);
  }
}

void CurlTransport::Finish(Multi& multi, Exchange* exchange, CURLcode result) {
  Response& response = exchange->response;
  long status = 0;
  curl_easy_getinfo(exchange->handle.easy, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  if (result != CURLE_OK) {
    curl_off_t connected = 0, pretransfer = 0;
    curl_easy_getinfo(exchange->handle.easy, CURLINFO_CONNECT_TIME_T, &connected);
    curl_easy_getinfo(exchange->handle.easy, CURLINFO_PRETRANSFER_TIME_T, &pretransfer);
    // Before there is a connection, libcurl's error may quote the proxy's URL with the password.
    const bool may_quote = connected == 0 && pretransfer == 0;
    response.Break(Classify(result, exchange->sent),
                   exchange->error[0] == '\0' || may_quote ? curl_easy_strerror(result) : exchange->error);
  }
  const std::unique_ptr<Exchange> owned = Detach(multi, exchange);
  if (owned->cancelled) return;
  owned->done(std::move(response));
}

int CurlTransport::OnSocket(CURL*, curl_socket_t socket, int what, void* user, void*) {
  Multi& multi = *static_cast<Multi*>(user);
  EpollLoop& loop = multi.owner->loop_;
  if (what == CURL_POLL_REMOVE) {
    loop.Unwatch(socket);
    return 0;
  }
  const uint32_t events =
      (what & CURL_POLL_IN ? uint32_t{EPOLLIN} : 0) | (what & CURL_POLL_OUT ? uint32_t{EPOLLOUT} : 0);
  loop.Watch(socket, events, [&multi, socket](uint32_t ready) {
    int bits = 0;
    if (ready & (EPOLLIN | EPOLLRDHUP)) bits |= CURL_CSELECT_IN;
    if (ready & EPOLLOUT) bits |= CURL_CSELECT_OUT;
    if (ready & (EPOLLERR | EPOLLHUP)) bits |= CURL_CSELECT_ERR | CURL_CSELECT_IN;
    multi.owner->Drive(multi, socket, bits);
  });
  return 0;
}

int CurlTransport::OnTimer(CURLM*, long timeout_ms, void* user) {
  Multi& multi = *static_cast<Multi*>(user);
  EpollLoop& loop = multi.owner->loop_;
  loop.CancelTimer(std::exchange(multi.timer, 0));
  if (timeout_ms >= 0)
    multi.timer = loop.After(timeout_ms, [&multi] {
      multi.timer = 0;
      multi.owner->Drive(multi, CURL_SOCKET_TIMEOUT, 0);
    });
  return 0;
}

// Called when there is a connection, before a byte of the request leaves.
int CurlTransport::BeforeSending(void* user, char*, char*, int, int) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  const base::Millis not_after_ms = exchange.request.not_after_ms;
  const bool too_late = not_after_ms > 0 && exchange.owner->loop_.Now() > not_after_ms;
  if (too_late) return CURL_PREREQFUNC_ABORT;
  exchange.sent = true;
  return CURL_PREREQFUNC_OK;
}

size_t CurlTransport::OnBody(char* data, size_t size, size_t count, void* user) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  const std::string_view piece(data, size * count);
  if (exchange.cancelled) return 0;
  Response& response = exchange.response;
  if (exchange.data && response.ok()) {
    exchange.data(response, piece);
  } else {
    response.AppendBody(piece);
  }
  return piece.size();
}

size_t CurlTransport::OnHeader(char* data, size_t size, size_t count, void* user) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  Response& response = exchange.response;
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) {
    const size_t space = line.find(' ');
    if (space != line.npos) std::from_chars(line.data() + space + 1, line.data() + line.size(), response.status);
    if (line.starts_with("HTTP/1") && !exchange.multi->http1) {
      CurlTransport* owner = exchange.owner;
      owner->deferred_.push_back([owner, multi = exchange.multi] { owner->AllowHttp1(*multi); });
    }
  } else {
    const auto [name, value] = SplitHeader(line);
    response.ReadHeader(name, value);
  }
  return line.size();
}

}  // namespace tutti::kube
