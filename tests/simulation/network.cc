// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cluster/json_text.h"

namespace tutti::simulation {

using base::Millis;
using Fate = sim::Fate;

namespace {

constexpr Millis kForever = std::numeric_limits<Millis>::max();
constexpr const char* kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

// "a%3Db" as "a=b".
std::string Unescape(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size();
    plain += escaped ? static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)) : text[i];
    i += escaped ? 2 : 0;
  }
  return plain;
}

std::string PathOf(const std::string& target) { return target.substr(0, target.find('?')); }

sim::HttpRequest ToHttp(const kube::Request& request) {
  sim::HttpRequest http;
  http.method = kMethods[static_cast<int>(request.method)];
  const size_t query = request.target.find('?');
  http.path = PathOf(request.target);
  for (size_t from = query; from < request.target.size();) {
    const size_t to = std::min(request.target.find('&', from + 1), request.target.size());
    const std::string parameter = request.target.substr(from + 1, to - from - 1);
    const size_t equals = std::min(parameter.find('='), parameter.size());
    http.params.emplace(parameter.substr(0, equals),
                        equals < parameter.size() ? Unescape(parameter.substr(equals + 1)) : "");
    from = to;
  }
  http.accept = request.accept;
  http.content_type = request.content_type;
  http.body = request.body;
  http.if_none_match = request.if_none_match;
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

// Its path without what is drawn by lot of the object's name: all pods of a set are one to the dice, or what is left
// out of a run would change the names, and so the fates, of all others.
std::string SetOf(const std::string& target) {
  std::string path = PathOf(target);
  if (const size_t dash = path.rfind('-'); dash != std::string::npos) path.erase(dash, path.find('/', dash) - dash);
  return path;
}

std::string Describe(const std::string& process, const kube::Request& request) {
  return fmt::format("{}'s {} {}", process, kMethods[static_cast<int>(request.method)], PathOf(request.target));
}

}  // namespace

Network::Network(Parts parts) : parts_(std::move(parts)) {}

kube::TimerId Network::After(Millis delay_ms, kube::Task task) {
  const kube::TimerId id = ++last_id_;
  const Millis at = parts_.clock.MonotonicMs() + delay_ms;
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
  call.sent_ms = call.arrives_ms = parts_.clock.MonotonicMs();
  call.times_out_ms = call.request.timeout_ms > 0 ? call.sent_ms + call.request.timeout_ms : kForever;
  call.given_up_ms = call.times_out_ms;
  if (call.kind == Kind::kBind) call.times_out_ms = call.sent_ms + parts_.plant.Patience(call.request.timeout_ms);
  if (call.kind == Kind::kWatch) {
    call.data = std::move(data);
    watches_[PathOf(call.request.target)] = last_id_ + 1;
    if (!parts_.watches) call.arrives_ms = call.answered_ms = call.times_out_ms = kForever;
    parts_.plant.Watch(call.request.target);
  }
  Decide(call);
  none_due_before_ms_ = std::min(none_due_before_ms_, call.times_out_ms);
  leaving_.insert(++last_id_);
  if (call.kind == Kind::kWatch) listening_.insert(last_id_);
  calls_.emplace(last_id_, std::move(call));
  return last_id_;
}

void Network::Decide(Call& call) {
  Faults& faults = parts_.faults;
  if (call.kind == Kind::kRead || call.kind == Kind::kWatch)
    call.fate = faults.DecideRead(parts_.process + PathOf(call.request.target));
  else if (call.kind == Kind::kBind)
    call.fate = faults.DecideBind(PodOf(call.request.target).second, SetOf(call.request.target), call.sent_ms);
  else if (call.kind == Kind::kWrite)
    call.fate = faults.DecideWrite(SetOf(call.request.target));
  else
    call.fate = DecideLease(call.sent_ms);
  call.arrives_ms += call.fate.request_delay_ms;
  NoteFate(call);
}

// Its own connection is cut, while that of the writes may live on.
Fate Network::DecideLease(Millis now) {
  Faults& faults = parts_.faults;
  Fate fate;
  if (faults.Strikes(Fault::kLeaseDrop, parts_.process))
    lease_cut_until_ms_ = now + faults.dice(Fault::kLeaseDrop).Between(1, 20'000);
  if (faults.on() && now < lease_cut_until_ms_) fate.kind = Fate::Kind::kDrop;
  if (faults.Strikes(Fault::kLeaseLate, parts_.process))
    fate.request_delay_ms = faults.dice(Fault::kLeaseLate).Between(1, 15'000);
  if (faults.Strikes(Fault::kLeaseLoseReply, parts_.process) && fate.kind == Fate::Kind::kDeliver)
    fate.kind = Fate::Kind::kLoseReply;
  return fate;
}

void Network::NoteFate(const Call& call) const {
  if (!parts_.note) return;
  const Fate& fate = call.fate;
  std::string what;
  if (fate.kind == Fate::Kind::kDrop) what = " is lost";
  if (fate.kind == Fate::Kind::kLoseReply) what = " has its answer lost";
  if (fate.kind == Fate::Kind::kRefuse) what = fmt::format(" is refused: {} {}", fate.http_status, fate.message);
  if (fate.request_delay_ms > 0)
    what += fmt::format(" comes {} ms late{}", fate.request_delay_ms, fate.stray ? ", past every time-out" : "");
  if (fate.reply_delay_ms > 0) what += fmt::format(" is answered {} ms late", fate.reply_delay_ms);
  if (!what.empty()) parts_.note("fault: " + Describe(parts_.process, call.request) + what);
}

// What has left still arrives.
void Network::Cancel(kube::RequestId id) {
  const auto at = calls_.find(id);
  if (at == calls_.end()) return;
  at->second.done = nullptr;
  at->second.stream = nullptr;
  over_ = true;
}

void Network::CarryOne(Call& call) {
  const Millis now = parts_.clock.MonotonicMs();
  const bool write = call.kind == Kind::kWrite || call.kind == Kind::kBind;
  const bool read = call.kind == Kind::kRead || call.kind == Kind::kWatch;
  call.carried = true;
  AnswerAt(call, now + call.fate.reply_delay_ms);
  over_ = over_ || !call.done;
  // The API server gives up what its sender has given up.
  const bool given_up = write && now > call.given_up_ms && !call.fate.stray;
  if (given_up && parts_.note) parts_.note("late: " + Describe(parts_.process, call.request) + " arrives, given up");
  if (read && unreachable_.contains(PathOf(call.request.target))) {
    call.response.failure = kube::Response::Failure::kNotSent;
    call.response.error = "connection refused";
  } else if (call.fate.kind == Fate::Kind::kDrop || given_up) {
    call.answered_ms = kForever;
  } else if (call.fate.kind == Fate::Kind::kRefuse) {
    if (call.kind == Kind::kBind && call.fate.http_status == 422) parts_.checks.OnRefused(PodOf(call.request.target));
    call.response.status = call.fate.http_status;
    call.response.body = sim::Json{{"kind", "Status"}, {"message", call.fate.message}}.dump();
  } else {
    sim::HttpRequest http = ToHttp(call.request);
    http.bodyless = write;
    const auto wrong = call.request.method == kube::Method::kDelete
                           ? parts_.checks.JudgeDelete(PodOf(call.request.target))
                           : std::nullopt;
    parts_.checks.set_stray(call.fate.stray);
    const sim::HttpResponse response = parts_.api.Handle(http);
    parts_.checks.set_stray(false);
    call.response.status = response.code;
    call.response.content_type = response.content_type;
    call.response.body = response.body;
    call.response.etag = response.etag;
    call.stream = response.watch;
    if (call.stream) call.answered_ms = kForever;
    const bool done = response.code >= 200 && response.code < 300;
    parts_.done += write && done;
    if (done && call.kind == Kind::kLease && call.request.method != kube::Method::kGet) OnLease(call, response.body);
    // A renewal takes effect after it was sent. So this is the latest time that a holder may count on.
    if (done && write && !call.fate.stray && lease_over_ms_ && now > *lease_over_ms_)
      parts_.checks.Fail("no write outlives its lease",
                         fmt::format("{}: {} takes effect {} ms after it", parts_.process, call.request.target,
                                     now - *lease_over_ms_));
    if (done && call.kind == Kind::kBind) {
      const bool heard = call.fate.kind != Fate::Kind::kLoseReply && call.answered_ms < call.times_out_ms;
      parts_.checks.OnBind(parts_.process, PodOf(call.request.target), heard);
    }
    if (done && wrong) parts_.checks.Fail(wrong->invariant, wrong->message);
    if (call.fate.kind == Fate::Kind::kLoseReply) call.answered_ms = kForever;
    if (parts_.note && call.fate.request_delay_ms > 0)
      parts_.note(fmt::format("late: {} arrives: {}", Describe(parts_.process, call.request), response.code));
  }
}

// Made, renewed, or given up. To be made it asks for nothing but that there is none.
void Network::OnLease(const Call& call, const std::string& written) {
  const sim::Json lease = cluster::ParseJson(written);
  const bool held = sim::DigString(lease, "spec", "holderIdentity") == parts_.process;
  const Millis duration_ms = 1'000 * sim::IntOf(sim::Dig(lease, "spec", "leaseDurationSeconds"), 0);
  const Millis now = parts_.clock.MonotonicMs();
  lease_over_ms_ = now + (held ? duration_ms : 0);
  std::optional<Millis> made_as_of_ms;
  if (call.request.method == kube::Method::kPost) made_as_of_ms = call.sent_ms;
  parts_.checks.OnLease(parts_.process, now, *lease_over_ms_, made_as_of_ms);
}

size_t Network::Carry(size_t writes) {
  const Millis now = parts_.clock.MonotonicMs();
  size_t carried = 0;
  std::erase_if(leaving_, [&](kube::RequestId id) {
    Call& call = calls_.at(id);
    const bool write = call.kind == Kind::kWrite || call.kind == Kind::kBind;
    if (call.arrives_ms > now || (write && carried == writes)) return false;
    CarryOne(call);
    carried += write;
    return true;
  });
  return carried;
}

// --- Watches ---

Network::Call* Network::Watch(const std::string& path) {
  const auto id = watches_.find(path);
  const auto call = id == watches_.end() ? calls_.end() : calls_.find(id->second);
  return call == calls_.end() || !call->second.stream ? nullptr : &call->second;
}

std::optional<Version> Network::Covered(kube::RequestId watch) const {
  const auto at = calls_.find(watch);
  if (at == calls_.end()) return std::nullopt;
  const Call& call = at->second;
  return call.stream && !call.silent && call.covered > 0 ? std::optional(call.covered) : std::nullopt;
}

// Hands over what one watch has to say.
bool Network::Pour() {
  const Millis now = parts_.clock.MonotonicMs();
  const bool lease_cut = parts_.faults.on() && now < lease_cut_until_ms_;
  for (const kube::RequestId id : listening_) {
    Call& call = calls_.at(id);
    if (!call.stream || call.silent || (lease_cut && KindOf(call.request) == Kind::kLease)) continue;
    const auto piece = now < call.stream->due_ms() ? std::string() : call.stream->Next(std::chrono::milliseconds(0));
    if (!piece) {  // the API server has ended it
      call.stream = nullptr;
      AnswerAt(call, now);
      return true;
    }
    const Version covered = parts_.store.resource_version();
    if (!piece->empty()) {
      // The receiver may give this watch up, and begin others.
      kube::OnData data = std::move(call.data);
      data(call.response, *piece);
      call.data = std::move(data);
    }
    call.covered = covered;
    if (!piece->empty()) return true;
  }
  return false;
}

void Network::Break(Call& call) {
  call.stream = nullptr;
  call.response.failure = kube::Response::Failure::kLost;
  call.response.error = "connection reset";
  AnswerAt(call, parts_.clock.MonotonicMs());
}

void Network::Cut(const std::string& path, base::Random& random) {
  unreachable_.insert(path);
  Call* call = Watch(path);
  if (!call) return;
  const auto piece = call->silent ? std::nullopt : call->stream->Next(std::chrono::milliseconds(0));
  if (piece && !piece->empty()) call->data(call->response, piece->substr(0, random.Below(piece->size())));
  Break(*call);
}

void Network::Silence(const std::string& path) {
  if (Call* call = Watch(path)) call->silent = true;
}

void Network::Expire(const std::string& path) {
  Call* call = Watch(path);
  if (!call || call->silent) return;
  call->stream = nullptr;
  AnswerAt(*call, parts_.clock.MonotonicMs());
  const sim::Json error = {{"type", "ERROR"}, {"object", sim::Expired("too old resource version").ToStatus()}};
  call->data(call->response, error.dump() + "\n");
}

void Network::MendWatches() {
  unreachable_.clear();
  for (auto& [id, call] : calls_)
    if (call.stream && call.silent) Break(call);
}

// --- Answers ---

void Network::AnswerAt(Call& call, Millis at) {
  call.answered_ms = at;
  none_due_before_ms_ = std::min(none_due_before_ms_, at);
}

// Answers one call that is due, or times one out.
bool Network::AnswerDue() {
  const Millis now = parts_.clock.MonotonicMs();
  if (now < none_due_before_ms_) return false;
  Millis next = kForever;
  for (auto& [id, call] : calls_) {
    if (!call.done) continue;
    const bool answered = call.carried && call.answered_ms <= now;
    if (!answered && call.times_out_ms > now) {
      next = std::min({next, call.times_out_ms, call.carried ? call.answered_ms : kForever});
      continue;
    }
    // Of a watch the head has come.
    kube::Response response = answered || call.stream ? std::move(call.response) : kube::Response{};
    call.stream = nullptr;
    if (!answered) response.failure = kube::Response::Failure::kTimeout;
    if (call.kind == Kind::kWrite || call.kind == Kind::kBind)
      parts_.plant.Response(response, call.kind == Kind::kBind);
    if (call.kind == Kind::kLease && call.request.method == kube::Method::kGet) parts_.plant.LeaseSeen(response.body);
    kube::OnDone done = std::exchange(call.done, nullptr);
    knows_lease_ = knows_lease_ || (call.kind == Kind::kLease && response.ok());
    over_ = true;
    done(std::move(response));
    return true;
  }
  none_due_before_ms_ = next;
  return false;
}

void Network::Sweep() {
  if (!std::exchange(over_, false)) return;
  Forget([](const Call& call) { return !call.done && (call.carried || call.kind == Kind::kWatch); });
}

template <typename Those>
void Network::Forget(Those&& those) {
  std::erase_if(calls_, [&](const auto& item) {
    const auto& [id, call] = item;
    if (!those(call)) return false;
    leaving_.erase(id);
    listening_.erase(id);
    return true;
  });
}

size_t Network::Turn(size_t writes, bool* moved) {
  size_t carried = 0;
  const Millis now = parts_.clock.MonotonicMs();
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
    more = Pour() || AnswerDue() || these > 0 || more;
  }
  Sweep();
  return carried;
}

void Network::Die() {
  timers_.clear();
  timer_at_.clear();
  posted_.clear();
  for (auto& [id, call] : calls_) call.done = nullptr;
  Forget([](const Call& call) { return call.carried || call.kind == Kind::kWatch || call.arrives_ms == call.sent_ms; });
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
    if (call.stream && !call.silent) next = std::min(next, call.stream->due_ms());
  }
  if (!posted_.empty()) next = parts_.clock.MonotonicMs();
  return next == kForever ? std::nullopt : std::optional(next);
}

}  // namespace tutti::simulation
