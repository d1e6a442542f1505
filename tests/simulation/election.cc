// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/election.h"

#include <algorithm>

namespace tutti::simulation {

using base::Millis;

namespace {

constexpr Millis kForever = std::numeric_limits<Millis>::max();
constexpr const char* kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

sim::HttpRequest ToHttp(const kube::Request& request) {
  sim::HttpRequest http;
  http.method = kMethods[static_cast<int>(request.method)];
  const size_t query = request.target.find('?');
  http.path = request.target.substr(0, query);
  if (query != std::string::npos) {
    const std::string parameter = request.target.substr(query + 1);
    const size_t equals = parameter.find('=');
    http.params.emplace(parameter.substr(0, equals), parameter.substr(equals + 1));
  }
  http.accept = request.accept;
  http.content_type = request.content_type;
  http.body = request.body;
  return http;
}

kube::LeaseOptions Options(std::string identity) {
  kube::LeaseOptions options;
  options.ns = "default";
  options.identity = std::move(identity);
  options.lease_duration_ms = 15'000;
  options.renew_deadline_ms = 10'000;
  options.retry_period_ms = 2'000;
  return options;
}

}  // namespace

Election::Election(sim::ApiHandler& api, const base::Clock& clock, Faults& faults, std::string identity, uint64_t seed,
                   Callbacks callbacks)
    : api_(api), clock_(clock), faults_(faults), random_(seed) {
  election_ =
      std::make_unique<kube::LeaderElection>(Options(std::move(identity)), *this, *this, random_, std::move(callbacks));
}

Election::~Election() = default;

kube::TimerId Election::After(Millis delay_ms, kube::Task task) {
  const kube::TimerId id = ++last_id_;
  timers_.emplace(std::pair(clock_.MonotonicMs() + delay_ms, id), std::move(task));
  return id;
}

void Election::CancelTimer(kube::TimerId id) {
  std::erase_if(timers_, [id](const auto& timer) { return timer.first.second == id; });
}

kube::RequestId Election::Send(kube::Request request, kube::OnDone done, kube::OnData data) {
  const Millis now = clock_.MonotonicMs();
  Call call{std::move(request), std::move(done), now, now, kForever, false, false, {}};
  // In this network no watch comes back: who waits for the lease must do with reading it.
  if (data) {
    call.arrives_ms = call.answered_ms = kForever;
    calls_.emplace(++last_id_, std::move(call));
    return last_id_;
  }
  if (call.request.timeout_ms > 0) call.times_out_ms = now + call.request.timeout_ms;
  if (faults_.Strikes(Fault::kLeaseDrop)) call.arrives_ms = call.answered_ms = kForever;
  if (faults_.Strikes(Fault::kLeaseLate))
    call.arrives_ms = call.answered_ms = now + faults_.dice(Fault::kLeaseLate).Between(1, 15'000);
  if (faults_.Strikes(Fault::kLeaseLoseReply)) call.answered_ms = kForever;
  calls_.emplace(++last_id_, std::move(call));
  return last_id_;
}

// What has left still arrives.
void Election::Cancel(kube::RequestId id) {
  if (const auto at = calls_.find(id); at != calls_.end()) at->second.done = nullptr;
}

void Election::Carry(Call& call) {
  call.carried = true;
  const sim::HttpResponse response = api_.Handle(ToHttp(call.request));
  call.response.status = response.code;
  call.response.content_type = response.content_type;
  call.response.body = response.body;
}

// Answers one call that is due, or times one out.
bool Election::Answer() {
  const Millis now = clock_.MonotonicMs();
  for (auto& [id, call] : calls_) {
    if (!call.carried && call.arrives_ms <= now) Carry(call);
    const bool answered = call.carried && call.answered_ms <= now;
    if (call.done && (answered || call.times_out_ms <= now)) {
      kube::Response response = answered ? call.response : kube::Response{};
      if (!answered) response.failure = kube::Response::Failure::kTimeout;
      kube::OnDone done = std::exchange(call.done, nullptr);
      done(std::move(response));
      return true;
    }
  }
  std::erase_if(calls_, [](const auto& item) {
    return !item.second.done && (item.second.carried || item.second.arrives_ms == kForever);
  });
  return false;
}

bool Election::Turn() {
  bool any = false;
  const Millis now = clock_.MonotonicMs();
  for (bool more = true; more; any = any || more) {
    more = Answer();
    while (!posted_.empty()) {
      kube::Task task = std::move(posted_.front());
      posted_.pop_front();
      task();
      more = true;
    }
    if (!timers_.empty() && timers_.begin()->first.first <= now) {
      auto timer = timers_.extract(timers_.begin());
      timer.mapped()();
      more = true;
    }
  }
  return any;
}

std::optional<Millis> Election::NextDeadline() const {
  Millis next = timers_.empty() ? kForever : timers_.begin()->first.first;
  for (const auto& [id, call] : calls_) {
    if (!call.carried) next = std::min(next, call.arrives_ms);
    if (call.done) next = std::min({next, call.times_out_ms, call.carried ? call.answered_ms : kForever});
  }
  return next == kForever ? std::nullopt : std::optional(next);
}

}  // namespace tutti::simulation
