// SPDX-License-Identifier: Apache-2.0
// Http2Transport: Transport over TLS and HTTP/2. Each channel has one connection, made when first needed.
//
// A connection accepts no more requests after a GOAWAY, when the server does not answer it, when a request timed out
// before anything was heard, when its stream numbers are used up, or when the client certificate was renewed. It is
// closed after its last request. Requests that it did not send move to its successor. A server that does not speak
// HTTP/2 gets everything through `http1`. The loop's thread only.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "kube/config.h"
#include "kube/http2_connection.h"
#include "kube/transport.h"

namespace tutti::kube {

class Http2Transport final : public Transport {
 public:
  // `loop` and `http1` must outlive it. REQUIRES: every request has a credential.
  Http2Transport(const Config& config, std::string user_agent, EpollLoop& loop, Transport& http1);
  ~Http2Transport() override;

  RequestId Send(Request request, OnDone done, OnData data) override;
  void Cancel(RequestId id) override;

 private:
  struct Slot {
    Http2Exchange exchange;
    RequestId forwarded = 0;  // its number at `http1_`
  };

  void Dispatch(Slot& slot);
  void Forward(Slot& slot);
  base::Result<Http2Connection*> Connect(Channel channel, const Credential& credential);
  void ApplyCertificate(const Credential& credential);
  void Finish(Http2Exchange& exchange);
  void FinishSoon(Http2Exchange& exchange, Response::Failure failure, std::string error);
  void Move(Http2Exchange& exchange);
  void OnTimeout(RequestId id);
  std::unique_ptr<Slot> Take(RequestId id);
  void SweepSoon();

  Config config_;
  const Url url_;
  const std::string user_agent_;
  EpollLoop& loop_;
  Transport& http1_;
  bool speaks_http1_ = false;
  std::shared_ptr<TlsContext> tls_;
  uint64_t tls_generation_ = 0;  // of the credential that `tls_` was made for
  std::string tls_cert_pem_;
  std::unordered_map<RequestId, std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Slot>> buried_;  // freed later: their callback may be running
  std::array<std::vector<std::unique_ptr<Http2Connection>>, kChannels> connections_;  // the newest last
  TimerId sweep_timer_ = 0;
  RequestId last_id_ = 0;
};

}  // namespace tutti::kube
