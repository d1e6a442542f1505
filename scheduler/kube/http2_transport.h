// SPDX-License-Identifier: Apache-2.0
// Http2Transport: Transport over TLS and HTTP/2, with one connection a channel, made when first needed.
//
// A connection that the server asks to leave (GOAWAY), on which nobody answers, on which a request's time was up before
// anything was heard, whose stream numbers are used up, or whose client certificate was renewed, takes no more requests
// and goes when its last is done; what it had not sent moves to its successor. A server that does not speak HTTP/2 gets
// everything through `http1`. The loop's thread only.
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
  // `loop` and `http1` must outlive it. REQUIRES of every request: a credential.
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
  void HeedCertificate(const Credential& credential);
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
  uint64_t tls_generation_ = 0;  // of the credential that it was made for
  std::string tls_cert_pem_;
  std::unordered_map<RequestId, std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Slot>> buried_;  // perhaps from inside their own callback
  std::array<std::vector<std::unique_ptr<Http2Connection>>, kChannels> connections_;  // the newest last
  TimerId sweep_timer_ = 0;
  RequestId last_id_ = 0;
};

}  // namespace tutti::kube
