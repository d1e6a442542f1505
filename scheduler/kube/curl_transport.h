// SPDX-License-Identifier: Apache-2.0
// CurlTransport: Transport on libcurl, for HTTP/1.1 and for proxies. Http2Transport does the rest.
//
// Each channel has one multi handle with connections of its own, driven by the loop's epoll. libcurl 7.88 needs:
//   - PIPEWAIT and a cap on connections, or each request of a burst opens one. The cap is above one: after a GOAWAY
//     the old connection lives on for its watches, and a new one must be possible;
//   - easy handles are reused, header lists shared: a request allocates next to nothing;
//   - over HTTP/1.1 a watch takes a whole connection, so the cap is raised as soon as that protocol is known.
#pragma once

#include <curl/curl.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kube/config.h"
#include "kube/epoll_loop.h"
#include "kube/transport.h"

namespace tutti::kube {

class CurlTransport final : public Transport {
 public:
  CurlTransport(const Config& config, std::string user_agent, EpollLoop& loop);
  ~CurlTransport() override;
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  RequestId Send(Request request, OnDone done, OnData data) override;
  void Cancel(RequestId id) override;

 private:
  struct Multi;
  struct Exchange;
  struct Handle {
    CURL* easy = nullptr;
    uint64_t credential_generation = 0, authorities_generation = 0;
  };

  void Start(std::unique_ptr<Exchange> exchange);
  Handle TakeHandle();
  void Configure(Exchange& exchange);
  void UpdateAuthorities(Handle& handle);
  curl_slist* Headers(const Request& request, const Credential& credential);
  void Drive(Multi& multi, curl_socket_t socket, int events);
  void Collect(Multi& multi);
  void Finish(Multi& multi, Exchange* exchange, CURLcode result);
  std::unique_ptr<Exchange> Detach(Multi& multi, Exchange* exchange);
  void RunDeferred();
  void AllowHttp1(Multi& multi);

  static int OnSocket(CURL*, curl_socket_t socket, int what, void* user, void*);
  static int OnTimer(CURLM*, long timeout_ms, void* user);
  static int BeforeSending(void* user, char*, char*, int, int);
  static size_t OnBody(char* data, size_t size, size_t count, void* user);
  static size_t OnHeader(char* data, size_t size, size_t count, void* user);

  Config config_;
  const std::string user_agent_;
  std::string base_url_, host_header_, connect_to_;
  bool loopback_ = false;
  EpollLoop& loop_;
  curl_slist* connect_list_ = nullptr;
  std::array<std::unique_ptr<Multi>, kChannels> multis_;
  uint64_t authorities_generation_ = 1;
  base::Millis authorities_due_ms_ = 0;  // to be read again
  std::vector<Handle> idle_;             // to use again
  std::unordered_map<RequestId, Exchange*> active_;
  RequestId last_id_ = 0;
  int curl_depth_ = 0;          // > 0: inside a callback, where libcurl's functions must not be called
  std::vector<Task> deferred_;  // run by RunDeferred, once no callback is running
  std::map<std::tuple<const char*, const char*, bool>, curl_slist*> header_cache_;
  uint64_t header_generation_ = 0;
  std::vector<curl_slist*> retired_headers_;  // of an older credential; a watch may still use them
};

}  // namespace tutti::kube
