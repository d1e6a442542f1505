// SPDX-License-Identifier: Apache-2.0
#include "kube/authorized_transport.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace tutti::kube {
namespace {

// Removes the credential from an error. A proxy or server may repeat the request in it, and its text gets into logs,
// conditions and Events.
void Redact(const Credential& credential, Response* response) {
  const std::string_view header = credential.authorization;
  const std::string_view secret = header.substr(std::min(header.find(' ') + 1, header.size()));
  if (secret.empty()) return;
  RedactAll(secret, &response->error);
  RedactAll(secret, &response->body);
}

// Says which credential is in use, without its content.
std::string Who(const Config& config) {
  const std::string kind = config.exec                       ? "exec plugin " + config.exec->command
                           : !config.token_file.empty()      ? "token file " + config.token_file
                           : !config.token.empty()           ? "token"
                           : !config.username.empty()        ? "password"
                           : !config.client_cert_pem.empty() ? "client certificate"
                                                             : "no credential";
  return config.user.empty() ? kind + " of " + config.source
                             : kind + " of user " + config.user + " in " + config.source;
}

}  // namespace

AuthorizedTransport::AuthorizedTransport(const Config& config, Loop& loop, Transport& inner, Told told)
    : loop_(loop), inner_(inner), credentials_(config, loop), told_(std::move(told)), who_(Who(config)) {}

AuthorizedTransport::~AuthorizedTransport() {
  loop_.CancelTimer(bury_timer_);
  for (const auto& [id, exchange] : open_) inner_.Cancel(exchange.inner);
}

RequestId AuthorizedTransport::Send(Request request, OnDone done, OnData data) {
  const RequestId id = ++last_id_;
  open_.emplace(id, Exchange{std::move(request), std::move(done), std::move(data)});
  if (credentials_.ready())
    SendInner(id);
  else
    credentials_.WhenReady([this, id] { SendInner(id); });
  return id;
}

void AuthorizedTransport::SendInner(RequestId id) {
  const auto at = open_.find(id);
  if (at == open_.end()) return;  // cancelled while it waited
  Exchange& exchange = at->second;
  exchange.request.credential = credentials_.Current();
  exchange.sent_ms = loop_.Now();
  OnData data;
  // The exchange lives until OnAnswer or Cancel, after which no data comes.
  if (exchange.data) data = [&exchange](const Response& head, std::string_view piece) { exchange.data(head, piece); };
  exchange.inner = inner_.Send(
      exchange.request,
      [this, id](Response response) {
        Tell(open_.at(id), response);
        OnAnswer(id, std::move(response));
      },
      std::move(data));
}

void AuthorizedTransport::OnAnswer(RequestId id, Response response) {
  const auto at = open_.find(id);
  Exchange& exchange = at->second;
  if (!response.ok()) Redact(*exchange.request.credential, &response);
  if (response.status == 401 && !exchange.second) {
    exchange.second = true;
    exchange.inner = 0;
    const uint64_t refused = exchange.request.credential->generation;
    credentials_.Renew(refused, [this, id, response = std::move(response)](bool worth_retrying) mutable {
      if (worth_retrying) return SendInner(id);
      if (open_.contains(id)) OnAnswer(id, std::move(response));
    });
    return;
  }
  if (response.status == 401) ComplainOfRefusal(*exchange.request.credential);
  OnDone done = std::move(exchange.done);
  open_.erase(at);
  done(std::move(response));
}

void AuthorizedTransport::Tell(const Exchange& exchange, const Response& response) const {
  if (!told_) return;
  const bool watch = exchange.request.target.find("watch=1") != std::string::npos;
  const double seconds = static_cast<double>(loop_.Now() - exchange.sent_ms) / 1000;
  told_({exchange.request.method, response.status, watch ? -1 : seconds});
}

// Logs a refusal once for each credential, because every request is then refused.
void AuthorizedTransport::ComplainOfRefusal(const Credential& refused) {
  if (std::exchange(complained_, refused.generation) == refused.generation) return;
  base::LogError(
      "the API server does not accept our credential (401 Unauthorized): it may have expired, or be another "
      "cluster's",
      {{"credential", who_}, {"check", "kubectl auth whoami with the same kubeconfig"}});
}

void AuthorizedTransport::Cancel(RequestId id) {
  const auto at = open_.find(id);
  if (at == open_.end()) return;
  inner_.Cancel(at->second.inner);
  if (cancelled_.empty()) bury_timer_ = loop_.After(0, [this] { cancelled_.clear(); });
  cancelled_.push_back(open_.extract(at));
}

}  // namespace tutti::kube
