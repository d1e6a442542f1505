// SPDX-License-Identifier: Apache-2.0
// AuthorizedTransport: gives every request the current credential. It sends a request that was refused with 401 once
// more if there is a newer credential. The loop's thread only.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "kube/credentials.h"
#include "kube/transport.h"

namespace tutti::kube {

class AuthorizedTransport final : public Transport {
 public:
  using Told = std::function<void(const Answered&)>;

  AuthorizedTransport(const Config& config, Loop& loop, Transport& inner, Told told = nullptr);
  ~AuthorizedTransport() override;

  // Sends the request; until there is a first credential, it waits for that.
  RequestId Send(Request request, OnDone done, OnData data) override;
  void Cancel(RequestId id) override;

 private:
  struct Exchange {
    Request request;  // kept for the second time
    OnDone done;
    OnData data;
    RequestId inner = 0;  // 0: not sent
    bool second = false;
    base::Millis sent_ms = 0;  // monotonic
  };

  void SendInner(RequestId id);
  void OnAnswer(RequestId id, Response response);
  void Tell(const Exchange& exchange, const Response& response) const;
  void ComplainOfRefusal(const Credential& refused);

  Loop& loop_;
  Transport& inner_;
  Credentials credentials_;
  std::unordered_map<RequestId, Exchange> open_;
  std::vector<std::unordered_map<RequestId, Exchange>::node_type> cancelled_;  // perhaps from inside their own callback
  TimerId bury_timer_ = 0;
  RequestId last_id_ = 0;
  const Told told_;
  const std::string who_;    // for messages: where the credential comes from
  uint64_t complained_ = 0;  // the generation whose refusal was logged last
};

}  // namespace tutti::kube
