// SPDX-License-Identifier: Apache-2.0
#include "kube/http2_transport.h"

#include <utility>

namespace tutti::kube {
namespace {

constexpr int kMostMoves = 3;

}  // namespace

Http2Transport::Http2Transport(const Config& config, std::string user_agent, EpollLoop& loop, Transport& http1)
    : config_(config), url_(SplitUrl(config.server)), user_agent_(std::move(user_agent)), loop_(loop), http1_(http1) {}

Http2Transport::~Http2Transport() {
  loop_.CancelTimer(sweep_timer_);
  for (const auto& [id, slot] : slots_) {
    loop_.CancelTimer(slot->exchange.timer);
    if (slot->forwarded != 0) http1_.Cancel(slot->forwarded);
  }
}

RequestId Http2Transport::Send(Request request, OnDone done, OnData data) {
  auto slot = std::make_unique<Slot>();
  Http2Exchange& exchange = slot->exchange;
  const RequestId id = exchange.id = ++last_id_;
  exchange.request = std::move(request);
  exchange.done = std::move(done);
  exchange.data = std::move(data);
  Slot& kept = *slots_.emplace(id, std::move(slot)).first->second;
  Dispatch(kept);
  return id;
}

void Http2Transport::Dispatch(Slot& slot) {
  Http2Exchange& exchange = slot.exchange;
  if (speaks_http1_) return Forward(slot);
  if (exchange.timer == 0 && exchange.request.timeout_ms > 0)
    exchange.timer = loop_.After(exchange.request.timeout_ms, [this, id = exchange.id] { OnTimeout(id); });
  ApplyCertificate(*exchange.request.credential);
  auto& connections = connections_[static_cast<size_t>(exchange.request.channel)];
  if (!connections.empty() && connections.back()->Submit(exchange)) return;
  const auto fresh = Connect(exchange.request.channel, *exchange.request.credential);
  if (fresh)
    (*fresh)->Submit(exchange);
  else
    FinishSoon(exchange, Response::Failure::kNotSent, fresh.error().message);
}

// Retires all connections if the client certificate changed: a connection keeps the user that it was made for.
void Http2Transport::ApplyCertificate(const Credential& credential) {
  if (credential.generation == tls_generation_) return;
  tls_generation_ = credential.generation;
  if (credential.client_cert_pem == tls_cert_pem_) return;
  tls_cert_pem_ = credential.client_cert_pem;
  tls_ = nullptr;
  for (auto& channel : connections_)
    for (auto& connection : channel) connection->Retire();
  SweepSoon();
}

void Http2Transport::Forward(Slot& slot) {
  Http2Exchange& exchange = slot.exchange;
  loop_.CancelTimer(std::exchange(exchange.timer, 0));
  slot.forwarded = http1_.Send(
      std::move(exchange.request),
      [this, id = exchange.id](Response response) {
        const std::unique_ptr<Slot> done = Take(id);
        done->exchange.done(std::move(response));
      },
      std::move(exchange.data));
}

base::Result<Http2Connection*> Http2Transport::Connect(Channel channel, const Credential& credential) {
  if (RereadAuthorities(&config_)) tls_ = nullptr;
  if (tls_ == nullptr) {
    auto made = TlsContext::Make(config_, credential);
    if (!made) return tl::make_unexpected(made.error());
    tls_ = *std::move(made);
  }
  auto& connections = connections_[static_cast<size_t>(channel)];
  if (!connections.empty()) SweepSoon();
  connections.push_back(std::make_unique<Http2Connection>(
      loop_, tls_, url_, user_agent_,
      Http2Connection::Callbacks{[this](Http2Exchange& exchange) { Finish(exchange); },
                                 [this](Http2Exchange& exchange) { Move(exchange); },
                                 [this] { speaks_http1_ = true; }}));
  return connections.back().get();
}

std::unique_ptr<Http2Transport::Slot> Http2Transport::Take(RequestId id) {
  const auto at = slots_.find(id);
  if (at == slots_.end()) return nullptr;
  std::unique_ptr<Slot> slot = std::move(at->second);
  slots_.erase(at);
  loop_.CancelTimer(std::exchange(slot->exchange.timer, 0));
  return slot;
}

void Http2Transport::Finish(Http2Exchange& exchange) {
  const std::unique_ptr<Slot> slot = Take(exchange.id);
  const bool retiring = connections_[static_cast<size_t>(exchange.request.channel)].size() > 1;
  if (retiring || exchange.response.failure != Response::Failure::kNone) SweepSoon();
  slot->exchange.done(std::move(slot->exchange.response));
}

void Http2Transport::FinishSoon(Http2Exchange& exchange, Response::Failure failure, std::string error) {
  exchange.response.failure = failure;
  exchange.response.error = std::move(error);
  loop_.CancelTimer(exchange.timer);
  exchange.timer = loop_.After(0, [this, id = exchange.id] {
    slots_.at(id)->exchange.timer = 0;
    Finish(slots_.at(id)->exchange);
  });
}

// Sends the exchange on another connection, because its own did not send it and accepts no more.
void Http2Transport::Move(Http2Exchange& exchange) {
  SweepSoon();
  if (++exchange.moves <= kMostMoves) return Dispatch(*slots_.at(exchange.id));
  FinishSoon(exchange, Response::Failure::kNotSent, "the server refuses one connection after another");
}

void Http2Transport::OnTimeout(RequestId id) {
  const std::unique_ptr<Slot> slot = Take(id);
  Http2Exchange& exchange = slot->exchange;
  exchange.timer = 0;
  if (exchange.connection != nullptr) exchange.connection->TimeOut(exchange);
  SweepSoon();
  exchange.response.Break(exchange.sent ? Response::Failure::kTimeout : Response::Failure::kNotSent,
                          "no answer in time");
  exchange.done(std::move(exchange.response));
}

void Http2Transport::Cancel(RequestId id) {
  std::unique_ptr<Slot> slot = Take(id);
  if (slot == nullptr) return;
  if (slot->forwarded != 0) http1_.Cancel(slot->forwarded);
  if (slot->exchange.connection != nullptr) slot->exchange.connection->Abandon(slot->exchange);
  buried_.push_back(std::move(slot));
  SweepSoon();
}

// Frees finished slots and connections in the next turn, outside of their callbacks.
void Http2Transport::SweepSoon() {
  if (sweep_timer_ != 0) return;
  sweep_timer_ = loop_.After(0, [this] {
    sweep_timer_ = 0;
    buried_.clear();
    for (auto& channel : connections_) std::erase_if(channel, [](const auto& one) { return one->over(); });
  });
}

}  // namespace tutti::kube
