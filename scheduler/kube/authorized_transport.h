// SPDX-License-Identifier: Apache-2.0
// AuthorizedTransport: gives every request the credential of the moment, and sends one that was refused with 401 a
// second time if there is a newer credential to be had. The loop's thread only.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "kube/credentials.h"
#include "kube/transport.h"

namespace tutti::kube {

class AuthorizedTransport final : public Transport {
 public:
  // Told of each answer; 0: no status came back.
  using Told = std::function<void(Method, int status)>;

  AuthorizedTransport(const Config& config, Loop& loop, Transport& inner, Told told = nullptr);
  ~AuthorizedTransport() override;

  // A request sent before the first credential is there waits for it.
  RequestId Send(Request request, OnDone done, OnData data) override;
  void Cancel(RequestId id) override;

 private:
  struct Exchange {
    Request request;  // kept for the second time
    OnDone done;
    OnData data;
    RequestId inner = 0;  // 0: not sent
    bool second = false;
  };

  void SendInner(RequestId id);
  void OnAnswer(RequestId id, Response response);

  Loop& loop_;
  Transport& inner_;
  Credentials credentials_;
  std::unordered_map<RequestId, Exchange> open_;
  std::vector<std::unordered_map<RequestId, Exchange>::node_type> cancelled_;  // perhaps from inside their own callback
  TimerId bury_timer_ = 0;
  RequestId last_id_ = 0;
  const Told told_;
};

}  // namespace tutti::kube
