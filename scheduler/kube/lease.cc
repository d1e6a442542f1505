// SPDX-License-Identifier: Apache-2.0
#include "kube/lease.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/json_string.h"
#include "base/log.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"
#include "kube/retry.h"
#include "kube/text_at.h"

namespace tutti::kube {
namespace {

using Json = base::Json;

constexpr base::Millis kSoonMs = 250;

int64_t Number(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return at != object.end() && at->is_number_integer() ? at->get<int64_t>() : 0;
}

const Json& SpecOf(const Json& lease) {
  static const Json none = Json::object();
  const auto at = lease.is_object() ? lease.find("spec") : lease.end();
  return at != lease.end() && at->is_object() ? *at : none;
}

}  // namespace

std::string MakeIdentity() {
  std::array<unsigned char, 16> bytes{};
  TUTTI_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()), "getrandom failed");
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string identity = std::string(host.data()) + "_";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) identity += '-';
    identity += fmt::format("{:02x}", bytes[i]);
  }
  return identity;
}

LeaderElection::LeaderElection(LeaseOptions options, Loop& loop, Transport& transport, base::Random& random,
                               Callbacks callbacks)
    : options_(std::move(options)),
      loop_(loop),
      transport_(transport),
      random_(random),
      callbacks_(std::move(callbacks)),
      soon_(kSoonMs, options_.retry_period_ms * 2, random) {}

LeaderElection::~LeaderElection() {
  transport_.Cancel(request_);
  transport_.Cancel(watch_);
  loop_.CancelTimer(timer_);
  loop_.CancelTimer(deadline_timer_);
}

void LeaderElection::Start() { Try(); }

base::Millis LeaderElection::CallTimeout() const {
  return std::max<base::Millis>(options_.renew_deadline_ms / 2, 1'000);
}

base::Millis LeaderElection::Pause() {
  return random_.Between(options_.retry_period_ms, options_.retry_period_ms * 22 / 10);
}

// Starts a round: a leader renews the Lease that it wrote last; others read it first.
void LeaderElection::Try() { leading_&& observed_.is_object() ? Write() : Ask(); }

void LeaderElection::Ask() {
  Request request;
  request.channel = Channel::kControl;
  request.target = ObjectPath("coordination.k8s.io", "v1", "leases", options_.ns, options_.name);
  request.timeout_ms = CallTimeout();
  request_ = transport_.Send(std::move(request), [this](const Response& response) { OnRead(response); });
}

void LeaderElection::OnRead(const Response& response) {
  request_ = 0;
  Json lease = response.ok() ? cluster::ParseJson(response.body) : Json();
  if (response.status != 404 && !lease.is_object()) {
    if (stopping_) return Released();
    Complain(response.ok() ? "a Lease that cannot be read" : Complaint(Judge(response)));
    return AgainAfterFailure(response);
  }
  response.status == 404 ? ObserveNone() : Observe(std::move(lease));
  const bool there = observed_.is_object(), ours = holder_ == options_.identity;
  if (stopping_) return there && ours ? Write() : Released();
  if (leading_ && there && !holder_.empty() && !ours) return Lose("the lease is held by " + holder_);
  const base::Millis left_ms = over_at_ms_ - loop_.Now();
  if (leading_ || left_ms <= 0) return Write();
  soon_.Reset();
  Watch();
  Again(std::exchange(given_up_, false) ? 0 : std::min(Pause(), left_ms));
}

// Opens the watch. If it ends, the next read opens it again.
void LeaderElection::Watch() {
  if (watch_ != 0) return;
  Request request;
  request.channel = Channel::kControl;
  request.target = CollectionPath("coordination.k8s.io", "v1", "leases", options_.ns) +
                   "?watch=1&fieldSelector=metadata.name%3D" + Escape(options_.name);
  parser_ = std::make_unique<WatchParser>(false);
  watch_ = transport_.Send(
      std::move(request),
      [this](const Response& response) {
        watch_ = 0;
        if (response.status >= 400) Complain(Complaint(Judge(response)));
      },
      [this](const Response&, std::string_view piece) {
        WatchParser::Each each = [this](WatchType type, const WireObject& object) { OnSeen(type, object); };
        if (parser_->Feed(piece, each)) return;
        Complain("a watch that cannot be read");
        transport_.Cancel(std::exchange(watch_, 0));
      });
}

void LeaderElection::OnSeen(WatchType type, const WireObject& object) {
  if (leading_ || stopping_ || object.json == nullptr) return;
  if (type == WatchType::kDeleted) return ObserveNone();
  if (type != WatchType::kAdded && type != WatchType::kModified) return;
  Observe(*object.json);
  if (!holder_.empty()) return;
  if (request_ == 0)
    Again(0);
  else
    given_up_ = true;  // the read under way may return the state before this
}

void LeaderElection::Observe(Json lease) {
  observed_ = std::move(lease);
  std::string record = base::PrintJson(SpecOf(observed_));
  if (record == observed_record_) return;
  observed_record_ = std::move(record);
  const std::string before = std::exchange(holder_, TextAt(SpecOf(observed_), "holderIdentity"));
  if (holder_ != before && callbacks_.held) callbacks_.held(holder_);
  const bool taken = !holder_.empty() && holder_ != options_.identity;
  over_at_ms_ = taken ? loop_.Now() + Number(SpecOf(observed_), "leaseDurationSeconds") * 1000 : 0;
  if (holder_ != before && taken && !leading_)
    base::LogInfo("waiting for the lease", {{"lease", options_.ns + "/" + options_.name}, {"holder", holder_}});
}

// Handles a missing Lease: it was deleted. Before this was seen it may have been renewed, or taken by another process.
void LeaderElection::ObserveNone() {
  const base::Millis duration_ms =
      std::max<base::Millis>(options_.lease_duration_ms, Number(SpecOf(observed_), "leaseDurationSeconds") * 1000);
  observed_ = nullptr;
  if (std::exchange(observed_record_, "").empty()) return;
  over_at_ms_ = loop_.Now() + duration_ms;
  Complain("the Lease was deleted");
}

Json LeaderElection::Spec() const {
  Json spec = SpecOf(observed_);
  const std::string now = base::FormatMicroTime(loop_.clock().WallMs());
  if (TextAt(spec, "holderIdentity") != options_.identity) {
    const bool first = !observed_.is_object();
    spec["acquireTime"] = now;
    spec["leaseTransitions"] = first ? 0 : Number(spec, "leaseTransitions") + 1;
  }
  spec["holderIdentity"] = options_.identity;
  spec["leaseDurationSeconds"] = options_.lease_duration_ms / 1000;
  spec["renewTime"] = now;
  if (stopping_) {
    spec["holderIdentity"] = "";
    spec["leaseDurationSeconds"] = 1;
  }
  return spec;
}

void LeaderElection::Write() {
  const bool create = !observed_.is_object();
  Json lease = observed_;
  if (create)
    lease = {{"apiVersion", "coordination.k8s.io/v1"},
             {"kind", "Lease"},
             {"metadata", {{"name", options_.name}, {"namespace", options_.ns}}}};
  lease["spec"] = Spec();
  Request request;
  request.channel = Channel::kControl;
  request.method = create ? Method::kPost : Method::kPut;
  request.target = create ? CollectionPath("coordination.k8s.io", "v1", "leases", options_.ns)
                          : ObjectPath("coordination.k8s.io", "v1", "leases", options_.ns, options_.name);
  request.target += fmt::format("?timeout={}ms", CallTimeout());
  request.body = base::PrintJson(lease);
  request.timeout_ms = CallTimeout();
  request_ = transport_.Send(std::move(request),
                             [this, sent_ms = loop_.Now()](const Response& response) { OnWritten(response, sent_ms); });
}

void LeaderElection::OnWritten(const Response& response, base::Millis sent_ms) {
  request_ = 0;
  // On a conflict our own last renewal may have been first; read the Lease again, once.
  if (stopping_) return response.status == 409 && !std::exchange(asked_to_release_, true) ? Ask() : Released();
  if (response.ok()) {
    last_complaint_.clear();
    if (Json lease = cluster::ParseJson(response.body); lease.is_object()) Observe(std::move(lease));
    Won(sent_ms);
    return Again(options_.retry_period_ms);
  }
  // Another process wrote the Lease: read it. Not after a create, because that may fail in the same way again and
  // again.
  const bool changed = response.status == 409 || response.status == 404;
  if (changed && leading_ && observed_.is_object()) return Ask();
  if (response.status != 409) Complain(Complaint(Judge(response)));
  AgainAfterFailure(response);
}

void LeaderElection::Won(base::Millis sent_ms) {
  renewed_ms_ = sent_ms;
  // Other processes count from when they saw it, and in whole seconds, as the Lease has them.
  callbacks_.writable(renewed_ms_ + options_.renew_deadline_ms,
                      renewed_ms_ + options_.lease_duration_ms / 1'000 * 1'000);
  loop_.CancelTimer(deadline_timer_);
  deadline_timer_ = loop_.After(renewed_ms_ + options_.renew_deadline_ms - loop_.Now(), [this] { CheckRenewal(); });
  if (std::exchange(leading_, true)) return;
  base::LogInfo("leading", {{"lease", options_.ns + "/" + options_.name}, {"identity", options_.identity}});
  transport_.Cancel(std::exchange(watch_, 0));
  callbacks_.won();
}

void LeaderElection::CheckRenewal() {
  deadline_timer_ = 0;
  if (leading_) Lose("the lease could not be renewed in time");
}

void LeaderElection::Lose(const std::string& why) {
  base::LogError("not leading any more", {{"lease", options_.ns + "/" + options_.name}, {"why", why}});
  leading_ = false;
  callbacks_.writable(0, 0);
  loop_.CancelTimer(std::exchange(deadline_timer_, 0));
  transport_.Cancel(std::exchange(request_, 0));
  loop_.CancelTimer(std::exchange(timer_, 0));
  callbacks_.lost();
}

void LeaderElection::Again(base::Millis delay_ms) {
  loop_.CancelTimer(timer_);
  timer_ = loop_.After(delay_ms, [this] {
    timer_ = 0;
    Try();
  });
}

// Schedules the next try after a failure. A standby must not miss the end of the term, and after it must not flood a
// failing server.
void LeaderElection::AgainAfterFailure(const Response& response) {
  if (leading_) return Again(std::max<base::Millis>(options_.retry_period_ms / 2, 1));
  const base::Millis left_ms = over_at_ms_ - loop_.Now();
  const base::Millis pause_ms = Pause(), soon_ms = soon_.Next();  // this fixes the order of the draws
  const base::Millis wait_ms = std::min(pause_ms, std::max({left_ms, soon_ms, response.retry_after_ms}));
  Again(std::exchange(given_up_, false) ? 0 : wait_ms);
}

void LeaderElection::Release(Task done) {
  stopping_ = true;
  loop_.CancelTimer(std::exchange(timer_, 0));
  loop_.CancelTimer(std::exchange(deadline_timer_, 0));
  transport_.Cancel(std::exchange(request_, 0));
  transport_.Cancel(std::exchange(watch_, 0));
  callbacks_.writable(0, 0);
  if (!leading_) return done();
  released_ = std::move(done);
  Try();
  leading_ = false;
}

void LeaderElection::Released() {
  if (released_) std::exchange(released_, nullptr)();
}

void LeaderElection::Complain(const std::string& what) {
  if (what.empty() || what == last_complaint_) return;
  last_complaint_ = what;
  base::LogWarn("leader election", {{"lease", options_.ns + "/" + options_.name}, {"error", what}});
}

}  // namespace tutti::kube
