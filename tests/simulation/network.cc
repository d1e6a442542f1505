// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tutti::simulation {

using base::Millis;
using Fate = sim::Fate;

namespace {

constexpr Millis kForever = std::numeric_limits<Millis>::max();
constexpr const char* kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

sim::HttpRequest ToHttp(const kube::Request& request) {
  sim::HttpRequest http;
  http.method = kMethods[static_cast<int>(request.method)];
  const size_t query = request.target.find('?');
  http.path = request.target.substr(0, query);
  for (size_t from = query; from < request.target.size();) {
    const size_t to = std::min(request.target.find('&', from + 1), request.target.size());
    const std::string parameter = request.target.substr(from + 1, to - from - 1);
    const size_t equals = std::min(parameter.find('='), parameter.size());
    http.params.emplace(parameter.substr(0, equals), equals < parameter.size() ? parameter.substr(equals + 1) : "");
    from = to;
  }
  http.accept = request.accept;
  http.content_type = request.content_type;
  http.body = request.body;
  return http;
}

// "/api/v1/namespaces/NS/pods/NAME..." in parts; empty for all other paths.
std::pair<std::string, std::string> PodOf(const std::string& target) {
  constexpr std::string_view kBefore = "/api/v1/namespaces/", kPods = "/pods/";
  const size_t pods = target.find(kPods);
  if (!target.starts_with(kBefore) || pods == std::string::npos) return {};
  const size_t name = pods + kPods.size();
  return {target.substr(kBefore.size(), pods - kBefore.size()),
          target.substr(name, target.find_first_of("/?", name) - name)};
}

}  // namespace

Network::Network(sim::ApiHandler& api, const base::Clock& clock, Faults& faults, Checks& checks, Plant& plant,
                 std::string process, uint64_t& done)
    : api_(api),
      clock_(clock),
      faults_(faults),
      checks_(checks),
      plant_(plant),
      process_(std::move(process)),
      done_(done) {}

kube::TimerId Network::After(Millis delay_ms, kube::Task task) {
  const kube::TimerId id = ++last_id_;
  const Millis at = clock_.MonotonicMs() + delay_ms;
  timers_.emplace(std::pair(at, id), std::move(task));
  timer_at_.emplace(id, at);
  return id;
}

void Network::CancelTimer(kube::TimerId id) {
  const auto at = timer_at_.find(id);
  if (at == timer_at_.end()) return;
  timers_.erase({at->second, id});
  timer_at_.erase(at);
}

Network::Kind Network::KindOf(const kube::Request& request) {
  if (request.target.find("/leases") != std::string::npos) return Kind::kLease;
  if (request.method == kube::Method::kGet) return Kind::kRead;
  return request.target.find("/binding") != std::string::npos ? Kind::kBind : Kind::kWrite;
}

kube::RequestId Network::Send(kube::Request request, kube::OnDone done, kube::OnData data) {
  Call call;
  call.kind = data ? Kind::kWatch : KindOf(request);
  call.request = std::move(request);
  call.done = std::move(done);
  call.sent_ms = call.arrives_ms = clock_.MonotonicMs();
  call.times_out_ms = call.request.timeout_ms > 0 ? call.sent_ms + call.request.timeout_ms : kForever;
  call.given_up_ms = call.times_out_ms;
  if (call.kind == Kind::kBind) call.times_out_ms = call.sent_ms + plant_.Patience(call.request.timeout_ms);
  // In this network no watch comes back: who waits for the lease must do with reading it.
  if (call.kind == Kind::kWatch) call.arrives_ms = call.answered_ms = call.times_out_ms = kForever;
  Decide(call);
  calls_.emplace(++last_id_, std::move(call));
  return last_id_;
}

void Network::Decide(Call& call) {
  if (call.kind == Kind::kRead || call.kind == Kind::kWatch) return;
  if (call.kind != Kind::kLease) {
    call.fate = faults_.Decide(call.kind == Kind::kBind);
    call.arrives_ms += call.fate.request_delay_ms;
    if (call.fate.stray && (call.kind == Kind::kBind || call.request.method == kube::Method::kDelete))
      checks_.ExpectStray(PodOf(call.request.target));
    return;
  }
  // Its own connection is cut, while that of the writes may live on.
  if (faults_.Strikes(Fault::kLeaseDrop))
    lease_cut_until_ms_ = call.sent_ms + faults_.dice(Fault::kLeaseDrop).Between(1, 20'000);
  if (faults_.on() && call.sent_ms < lease_cut_until_ms_) call.fate.kind = Fate::Kind::kDrop;
  if (faults_.Strikes(Fault::kLeaseLate)) call.arrives_ms += faults_.dice(Fault::kLeaseLate).Between(1, 15'000);
  if (faults_.Strikes(Fault::kLeaseLoseReply) && call.fate.kind == Fate::Kind::kDeliver)
    call.fate.kind = Fate::Kind::kLoseReply;
}

// What has left still arrives.
void Network::Cancel(kube::RequestId id) {
  if (const auto at = calls_.find(id); at != calls_.end()) at->second.done = nullptr;
}

void Network::CarryOne(Call& call) {
  const Millis now = clock_.MonotonicMs();
  const bool write = call.kind == Kind::kWrite || call.kind == Kind::kBind;
  call.carried = true;
  call.answered_ms = now + call.fate.reply_delay_ms;
  // The API server gives up what its sender has given up.
  const bool given_up = write && now > call.given_up_ms && !call.fate.stray;
  if (call.fate.kind == Fate::Kind::kDrop || given_up) {
    call.answered_ms = kForever;
  } else if (call.fate.kind == Fate::Kind::kRefuse) {
    call.response.status = call.fate.http_status;
    call.response.body = sim::Json{{"kind", "Status"}, {"message", call.fate.message}}.dump();
  } else {
    sim::HttpRequest http = ToHttp(call.request);
    http.bodyless = write;
    const sim::HttpResponse response = api_.Handle(http);
    call.response.status = response.code;
    call.response.content_type = response.content_type;
    call.response.body = response.body;
    const bool done = response.code >= 200 && response.code < 300;
    done_ += write && done;
    if (done && call.kind == Kind::kLease && call.request.method != kube::Method::kGet) OnLease(response.body);
    // A renewal takes effect after it was sent, so this is the latest that anybody may hope for.
    if (done && write && !call.fate.stray && lease_over_ms_ && now > *lease_over_ms_)
      checks_.Fail("no write outlives its lease", fmt::format("{}: {} takes effect {} ms after it", process_,
                                                              call.request.target, now - *lease_over_ms_));
    if (done && call.kind == Kind::kBind) checks_.OnBind(process_, PodOf(call.request.target));
    if (done && call.request.method == kube::Method::kDelete) checks_.OnDelete(PodOf(call.request.target));
    if (call.fate.kind == Fate::Kind::kLoseReply) call.answered_ms = kForever;
  }
}

// Renewed, or given up.
void Network::OnLease(const std::string& written) {
  const sim::Json lease = sim::Json::parse(written, nullptr, false);
  const bool held = sim::DigString(lease, "spec", "holderIdentity") == process_;
  const Millis duration_ms = 1'000 * sim::IntOf(sim::Dig(lease, "spec", "leaseDurationSeconds"), 0);
  lease_over_ms_ = clock_.MonotonicMs() + (held ? duration_ms : 0);
}

size_t Network::Carry(size_t writes) {
  const Millis now = clock_.MonotonicMs();
  size_t carried = 0;
  for (auto& [id, call] : calls_) {
    if (call.carried || call.arrives_ms > now) continue;
    const bool write = call.kind == Kind::kWrite || call.kind == Kind::kBind;
    if (write && carried == writes) continue;
    CarryOne(call);
    carried += write;
  }
  return carried;
}

// Answers one call that is due, or times one out.
bool Network::AnswerDue() {
  const Millis now = clock_.MonotonicMs();
  for (auto& [id, call] : calls_) {
    const bool answered = call.carried && call.answered_ms <= now;
    if (!call.done || !(answered || call.times_out_ms <= now)) continue;
    kube::Response response = answered ? std::move(call.response) : kube::Response{};
    if (!answered) response.failure = kube::Response::Failure::kTimeout;
    if (call.kind == Kind::kWrite || call.kind == Kind::kBind) plant_.Response(response, call.kind == Kind::kBind);
    kube::OnDone done = std::exchange(call.done, nullptr);
    done(std::move(response));
    return true;
  }
  return false;
}

void Network::Sweep() {
  std::erase_if(calls_, [](const auto& item) {
    return !item.second.done && (item.second.carried || item.second.kind == Kind::kWatch);
  });
}

size_t Network::Turn(size_t writes, bool* moved) {
  size_t carried = 0;
  const Millis now = clock_.MonotonicMs();
  for (bool more = true; more; *moved = *moved || more) {
    more = false;
    while (!posted_.empty()) {
      kube::Task task = std::move(posted_.front());
      posted_.pop_front();
      task();
      more = true;
    }
    if (!timers_.empty() && timers_.begin()->first.first <= now) {
      auto timer = timers_.extract(timers_.begin());
      timer_at_.erase(timer.key().second);
      timer.mapped()();
      more = true;
    }
    const size_t these = Carry(writes - carried);
    carried += these;
    more = AnswerDue() || these > 0 || more;
  }
  Sweep();
  return carried;
}

void Network::Die() {
  timers_.clear();
  timer_at_.clear();
  posted_.clear();
  for (auto& [id, call] : calls_) call.done = nullptr;
  std::erase_if(calls_, [](const auto& item) {
    const Call& call = item.second;
    return call.carried || call.kind == Kind::kWatch || call.arrives_ms == call.sent_ms;
  });
}

size_t Network::Bury() {
  const size_t carried = Carry(std::numeric_limits<size_t>::max());
  Sweep();
  return carried;
}

std::optional<Millis> Network::NextDeadline() const {
  Millis next = timers_.empty() ? kForever : timers_.begin()->first.first;
  for (const auto& [id, call] : calls_) {
    if (!call.carried) next = std::min(next, call.arrives_ms);
    if (call.done) next = std::min({next, call.times_out_ms, call.carried ? call.answered_ms : kForever});
  }
  if (!posted_.empty()) next = clock_.MonotonicMs();
  return next == kForever ? std::nullopt : std::optional(next);
}

}  // namespace tutti::simulation
