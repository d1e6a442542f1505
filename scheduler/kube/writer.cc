// SPDX-License-Identifier: Apache-2.0
#include "kube/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/json.h"
#include "cluster/json_decode.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"

namespace tutti::kube {
namespace {

using cluster::Outcome;

constexpr base::Millis kDeadlineUnlessSaidMs = 30'000;
constexpr base::Millis kReadTimeoutMs = 2'000;
constexpr int kMostBindTries = 4;
constexpr size_t kWritesPerRead = 4;  // 80 + 20: the 100 streams that an API server takes of a connection
// Beside binds, which should not be slowed, so many writes of the background go on, and only what has waited so long.
constexpr size_t kBesideStarts = 4;
constexpr base::Millis kBesideAfterMs = 1'000, kSinceNever = -1;
constexpr base::Millis kFirstRetryMs = 200, kLongestRetryMs = 5'000;
constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";

bool HasAll(const model::StringMap& have, const model::StringMap& want) {
  return std::ranges::all_of(want, [&](const auto& item) {
    const std::string* value = model::Find(have, item.first);
    return value != nullptr && *value == item.second;
  });
}

std::string WithTimeout(std::string path, base::Millis timeout_ms) {
  return path += fmt::format("?timeout={}ms", timeout_ms);
}

std::string ApiVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

}  // namespace

struct KubeWriter::Job {
  explicit Job(base::Random& random)
      : write_pause(kFirstRetryMs, kLongestRetryMs, random), read_pause(kFirstRetryMs, kLongestRetryMs, random) {}

  uint64_t number = 0;
  cluster::Command command;
  base::Millis deadline_ms = 0;
  TimerId deadline_timer = 0, wait_timer = 0;
  RequestId request = 0;
  Backoff write_pause, read_pause;
  bool writing = false;         // `request` is a write, and holds a place; else it reads the pod back
  bool uncertain = false;       // some try may have taken effect, or may yet
  bool refused = false;         // the last try was refused for good
  base::Millis settled_ms = 0;  // from then on no try can take effect any more
  base::Millis read_sent_ms = 0;
  int tries = 0;
  int http_status = 0;
  std::string why;
  std::string current_node;  // of a bind that was refused
  bool gone = false;
  std::shared_ptr<EventRecord> record;  // of an Event
  int count_on_its_way = 0;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&command.body);
  }
  // A bind of which it is to be found out what became of it, however long that takes.
  bool unsettled() const { return uncertain && As<cluster::Bind>() != nullptr; }
};

KubeWriter::KubeWriter(Options options, Loop& loop, Transport& transport, base::Random& random,
                       const KindResolver& kinds, cluster::EventSink& sink)
    : options_(std::move(options)), loop_(loop), transport_(transport), random_(random), kinds_(kinds), sink_(sink) {}

KubeWriter::~KubeWriter() {
  for (const auto& [number, job] : jobs_) {
    transport_.Cancel(job->request);
    loop_.CancelTimer(job->deadline_timer);
    loop_.CancelTimer(job->wait_timer);
  }
  loop_.CancelTimer(pump_timer_);
  loop_.CancelTimer(drain_timer_);
}

// --- In ---

void KubeWriter::Submit(std::vector<cluster::Command> commands) {
  loop_.Post([this, commands = std::move(commands)]() mutable {
    for (cluster::Command& command : commands) Enqueue(std::move(command));
    Pump();
  });
}

void KubeWriter::Enqueue(cluster::Command command) {
  auto owned = std::make_unique<Job>(random_);
  Job& job = *owned;
  job.number = ++last_job_;
  job.command = std::move(command);
  const base::Millis now = loop_.Now();
  job.deadline_ms = job.command.deadline_ms > 0 ? job.command.deadline_ms : now + kDeadlineUnlessSaidMs;
  jobs_.emplace(job.number, std::move(owned));
  if (draining_) return Finish(job, Outcome::kRefused, 0, "shutting down");
  if (job.As<cluster::EmitEvent>() != nullptr && !NoteEvent(job)) return;
  job.deadline_timer = loop_.After(job.deadline_ms - now, [this, number = job.number] { OnDeadline(number); });
  if (job.wait_timer == 0) lanes_.Push(job.command.lane, job.number, now);
}

// Counts the Event. False when it has been merged into one that is on its way, and the job is over.
bool KubeWriter::NoteEvent(Job& job) {
  const base::Millis now = loop_.Now();
  if (job.record == nullptr) job.record = events_.Note(*job.As<cluster::EmitEvent>(), now, loop_.clock().WallMs());
  EventRecord& record = *job.record;
  if (record.on_its_way) {
    job.record = nullptr;
    Finish(job, Outcome::kDone, 0, "merged into an Event on its way");
    return false;
  }
  record.on_its_way = true;
  const base::Millis quiet_until = record.last_write_ms + EventBook::kQuietMs;
  if (record.written_count >= 2 && now < quiet_until) {
    // Counted, and written with those that follow.
    if (job.command.id != 0) sink_.Post(cluster::Answer{job.command.id, Outcome::kDone, 0, "counted", {}, false});
    job.command.id = 0;
    job.deadline_ms = quiet_until + kDeadlineUnlessSaidMs;
    job.wait_timer = loop_.After(quiet_until - now, [this, &job] { Requeue(job); });
  }
  return true;
}

void KubeWriter::SetWritable(base::Millis until_ms, base::Millis over_ms) {
  writable_until_ms_ = std::min(until_ms, over_ms - kGraceMs);
  over_ms_ = over_ms;
  Pump();
}

void KubeWriter::Drain(Task done) {
  draining_ = true;
  drained_ = std::move(done);
  std::vector<Job*> idle;
  for (const auto& [number, job] : jobs_)
    if (job->request == 0 && !job->unsettled()) idle.push_back(job.get());
  for (Job* job : idle) GiveUp(*job);
  CheckDrained();
}

void KubeWriter::GiveUp(Job& job) {
  Finish(job, job.uncertain ? Outcome::kUnknown : Outcome::kRefused, job.http_status, "shutting down");
}

void KubeWriter::CheckDrained() {
  if (!draining_ || !jobs_.empty() || !drained_) return;
  const base::Millis left_ms = unsettled_until_ms_ - loop_.Now();
  if (left_ms <= 0) return std::exchange(drained_, nullptr)();
  loop_.CancelTimer(drain_timer_);
  drain_timer_ = loop_.After(left_ms, [this] {
    drain_timer_ = 0;
    CheckDrained();
  });
}

// --- Out ---

void KubeWriter::Pump() {
  PumpReads();
  const auto cap = static_cast<size_t>(options_.in_flight);
  while (in_flight_ < cap && lanes_.size() > 0) {
    const base::Millis now = loop_.Now();
    if (now >= writable_until_ms_) return;
    const bool starting = in_flight_ > background_in_flight_;
    const bool held = starting || now < held_until_ms_;
    const bool beside = background_in_flight_ < kBesideStarts;
    const auto number = lanes_.Pop(now, !held ? now : beside ? now - kBesideAfterMs : kSinceNever);
    if (!number) {  // what waits is of the background
      if (beside) PumpAt(*lanes_.BackgroundSince() + kBesideAfterMs);
      if (!starting) PumpAt(held_until_ms_);
      return;
    }
    const auto at = jobs_.find(*number);
    if (at == jobs_.end()) continue;  // answered at its deadline
    SendWrite(*at->second);
  }
}

// Then at the latest.
void KubeWriter::PumpAt(base::Millis at_ms) {
  if (pump_timer_ != 0 && pump_at_ms_ <= at_ms) return;
  loop_.CancelTimer(pump_timer_);
  pump_at_ms_ = at_ms;
  pump_timer_ = loop_.After(at_ms - loop_.Now(), [this] {
    pump_timer_ = 0;
    Pump();
  });
}

void KubeWriter::SendWrite(Job& job) {
  const base::Millis now = loop_.Now();
  const base::Millis left_ms = job.deadline_ms - now;
  if (left_ms <= 0) return Expire(job);
  // Half of what is left, so that there is time to read back.
  const base::Millis server_timeout_ms =
      std::min({options_.write_timeout_ms, std::max<base::Millis>(left_ms / 2, 1), over_ms_ - kGraceMs - now});
  auto request = BuildRequest(job, server_timeout_ms);
  if (!request) return Finish(job, Outcome::kRefused, 0, request.error().message);
  request->channel = Channel::kCall;
  request->timeout_ms = server_timeout_ms + kGraceMs;
  request->not_after_ms = std::min(now + kGraceMs, writable_until_ms_ - 1);
  job.settled_ms = std::max(job.settled_ms, now + request->timeout_ms);
  CountWriting(job, true);
  ++job.tries;
  job.request = transport_.Send(std::move(*request),
                                [this, number = job.number](const Response& response) { OnAnswer(number, response); });
}

void KubeWriter::CountWriting(Job& job, bool writing) {
  job.writing = writing;
  const int change = writing ? 1 : -1;
  in_flight_ += change;
  if (InBackground(job.command.lane))
    background_in_flight_ += change;
  else if (!writing)
    held_until_ms_ = loop_.Now() + kHeldAfterStartsMs;
}

std::string KubeWriter::Version(const cluster::ObjectRef& ref) const {
  return ref.version.empty() ? kinds_.VersionOf(std::string(ref.group), std::string(ref.resource))
                             : std::string(ref.version);
}

base::Result<Request> KubeWriter::BuildRequest(Job& job, base::Millis server_timeout_ms) {
  base::Result<Request> request = Request{};
  if (const auto* bind = job.As<cluster::Bind>()) {
    request->method = Method::kPost;
    request->target = ObjectPath("", "v1", "pods", bind->pod.ns(), bind->pod.name()) + "/binding";
    request->accept = kProtobufOrJson;
    request->content_type = ContentType(encoding_);
    request->body = EncodeBinding(*bind, encoding_);
  } else if (job.As<cluster::EmitEvent>() != nullptr) {
    request = BuildEvent(job);
  } else if (const auto* patch = job.As<cluster::Patch>()) {
    request = BuildPatch(*patch);
  } else if (const auto* gone = job.As<cluster::Delete>()) {
    const std::string version = Version(gone->object);
    if (version.empty()) return base::Invalid(fmt::format("{} is not served", gone->object.resource));
    request->method = Method::kDelete;
    request->target =
        ObjectPath(gone->object.group, version, gone->object.resource, gone->object.ns(), gone->object.name());
    request->accept = kProtobufOrJson;
    request->body = EncodeDelete(gone->object.uid());
  } else if (const auto* create = job.As<cluster::Create>()) {
    const std::string version = Version(create->object);
    if (version.empty()) return base::Invalid(fmt::format("{} is not served", create->object.resource));
    request->method = Method::kPost;
    request->target = CollectionPath(create->object.group, version, create->object.resource, create->object.ns());
    request->body = create->body;
  }
  if (request) request->target = WithTimeout(std::move(request->target), server_timeout_ms);
  return request;
}

base::Result<Request> KubeWriter::BuildPatch(const cluster::Patch& patch) const {
  const cluster::ObjectRef& object = patch.object;
  const std::string version = Version(object);
  if (version.empty()) return base::Invalid(fmt::format("{} is not served", object.resource));
  auto body = WithPreconditions(patch.body, object.uid(), object.resource_version);
  if (!body) return tl::make_unexpected(body.error());
  Request request;
  request.method = Method::kPatch;
  request.target = ObjectPath(object.group, version, object.resource, object.ns(), object.name());
  if (patch.status && kinds_.HasStatus(std::string(object.group), version, std::string(object.resource)))
    request.target += "/status";
  request.accept = object.group.empty() ? kProtobufOrJson : kJson;
  request.content_type = patch.type == cluster::Patch::Type::kMerge ? kMergePatch : kStrategicPatch;
  request.body = std::move(*body);
  return request;
}

Request KubeWriter::BuildEvent(Job& job) const {
  const auto& event = *job.As<cluster::EmitEvent>();
  EventRecord& record = *job.record;
  job.count_on_its_way = record.count;
  Request request;
  request.accept = kProtobufOrJson;
  const std::string collection = CollectionPath("events.k8s.io", "v1", "events", record.ns);
  if (record.written_count > 0) {
    request.method = Method::kPatch;
    request.target = collection + "/" + Escape(record.name);
    request.content_type = kMergePatch;
    request.body = EncodeSeriesPatch(record.count, record.last_wall_ms);
    return request;
  }
  EventBody body;
  body.ns = record.ns;
  body.name = record.name;
  body.first_ms = record.first_wall_ms;
  body.last_ms = record.last_wall_ms;
  body.count = record.count;
  body.reporting_controller = event.reporting_controller.empty() ? options_.component : event.reporting_controller;
  body.reporting_instance = options_.instance;
  body.regarding_api_version = ApiVersion(event.regarding.group, Version(event.regarding));
  body.event = &event;
  request.method = Method::kPost;
  request.target = collection;
  request.content_type = ContentType(encoding_);
  request.body = EncodeEvent(body, encoding_);
  return request;
}

// --- Answers ---

void KubeWriter::OnAnswer(uint64_t number, const Response& response) {
  Job& job = *jobs_.at(number);
  job.request = 0;
  CountWriting(job, false);
  Judgement judgement = Judge(response);
  job.http_status = response.status;
  if (judgement.meaning != Meaning::kDone) job.why = judgement.message;
  if (judgement.meaning == Meaning::kUncertain) job.uncertain = true;
  // With no word from the other side, the request may still wait in a socket for the network to come back.
  if (response.failure == Response::Failure::kTimeout) job.settled_ms += kSocketPatienceMs;
  job.refused = judgement.meaning == Meaning::kRefused;
  if (response.status == 415 && encoding_ == Encoding::kProtobuf) {
    encoding_ = Encoding::kJson;  // a server that knows no protobuf
    Requeue(job);
  } else if (response.status == 415 && job.tries == 1 && encoding_ == Encoding::kJson) {
    Requeue(job);  // sent before that was known
  } else if (judgement.meaning == Meaning::kNotDone) {
    RetryLater(job, judgement.wait_ms, judgement);
  } else if (job.As<cluster::Bind>() != nullptr) {
    OnBindJudged(job, judgement);
  } else if (job.As<cluster::EmitEvent>() != nullptr) {
    OnEventJudged(job, judgement);
  } else {
    OnOtherJudged(job, judgement);
  }
  Pump();
}

void KubeWriter::OnBindJudged(Job& job, const Judgement& judgement) {
  const bool plain_refusal = judgement.meaning == Meaning::kRefused && judgement.http_status != 409 && !job.uncertain;
  if (judgement.meaning == Meaning::kDone) {
    Finish(job, Outcome::kDone, job.http_status, "");
  } else if (plain_refusal && judgement.http_status != 404) {
    Finish(job, Outcome::kRefused, job.http_status, judgement.message);
  } else {
    ReadBack(job);
  }
}

void KubeWriter::OnOtherJudged(Job& job, const Judgement& judgement) {
  const bool conflict = judgement.http_status == 409;
  const auto* patch = job.As<cluster::Patch>();
  const auto* gone = job.As<cluster::Delete>();
  if (judgement.meaning == Meaning::kDone) return Finish(job, Outcome::kDone, job.http_status, "");
  if (judgement.meaning == Meaning::kUncertain)
    return RetryLater(job, judgement.wait_ms, judgement);  // all of these may be repeated
  // No object of that UID is left: what was asked for.
  if (gone != nullptr && (judgement.http_status == 404 || (conflict && !gone->object.uid().empty())))
    return Finish(job, Outcome::kDone, job.http_status, judgement.message);
  // A repeat that meets its own first try looks like this.
  const bool own_doing =
      conflict && job.uncertain &&
      (job.As<cluster::Create>() != nullptr || (patch != nullptr && !patch->object.resource_version.empty()));
  Finish(job, own_doing ? Outcome::kUnknown : Outcome::kRefused, job.http_status, judgement.message);
}

void KubeWriter::OnEventJudged(Job& job, const Judgement& judgement) {
  EventRecord& record = *job.record;
  const bool exists = judgement.http_status == 409 && record.written_count == 0;  // the name is ours alone
  if (judgement.meaning == Meaning::kDone || exists) {
    record.written_count = job.count_on_its_way;
    record.last_write_ms = loop_.Now();
    const bool more = record.count > record.written_count;
    cluster::Command rest{0, job.command.lane, 0, job.command.body};
    const std::shared_ptr<EventRecord> kept = job.record;
    Finish(job, Outcome::kDone, job.http_status, "");
    if (!more || draining_) return;
    // Repeats that came while it was on its way.
    --kept->count;  // Enqueue counts it again
    return Enqueue(std::move(rest));
  }
  if (judgement.meaning == Meaning::kUncertain) return RetryLater(job, judgement.wait_ms, judgement);
  if (judgement.http_status == 404 && record.written_count > 0) {
    record.written_count = 0;  // it has expired
    return Requeue(job);
  }
  Finish(job, Outcome::kRefused, job.http_status, judgement.message);
}

// --- Reading a pod back ---

void KubeWriter::ReadBack(Job& job) { to_read_.push_back(job.number); }

void KubeWriter::ReadLater(Job& job, base::Millis wait_ms) {
  if (draining_ && !job.unsettled()) return GiveUp(job);
  job.wait_timer = loop_.After(wait_ms, [this, &job] {
    job.wait_timer = 0;
    ReadBack(job);
    Pump();
  });
}

// Reads have places of their own, so that neither they nor the writes wait for each other.
void KubeWriter::PumpReads() {
  const size_t cap = std::max<size_t>(static_cast<size_t>(options_.in_flight) / kWritesPerRead, 1);
  while (reading_ < cap && !to_read_.empty()) {
    const auto at = jobs_.find(to_read_.front());
    to_read_.pop_front();
    if (at != jobs_.end()) SendRead(*at->second);  // else answered at its deadline
  }
}

void KubeWriter::SendRead(Job& job) {
  const cluster::ObjectRef& pod = job.As<cluster::Bind>()->pod;
  Request request;
  request.channel = Channel::kCall;
  request.target = ObjectPath("", "v1", "pods", pod.ns(), pod.name());
  request.accept = kProtobufOrJson;
  request.timeout_ms = kReadTimeoutMs;
  job.read_sent_ms = loop_.Now();
  ++reading_;
  job.request = transport_.Send(
      std::move(request), [this, number = job.number](const Response& response) { OnReadBack(number, response); });
}

void KubeWriter::OnReadBack(uint64_t number, const Response& response) {
  Job& job = *jobs_.at(number);
  job.request = 0;
  --reading_;
  OnPodRead(job, response);
  Pump();
}

void KubeWriter::OnPodRead(Job& job, const Response& response) {
  const auto& bind = *job.As<cluster::Bind>();
  std::shared_ptr<const model::Pod> pod;
  if (response.ok() && response.protobuf()) {
    if (const auto envelope = OpenEnvelope(response.body)) pod = DecodePod(envelope->raw, &specs_);
  } else if (response.ok()) {
    const auto json = cluster::ParseJson(response.body);
    std::vector<std::string> problems;
    if (json.is_object()) pod = std::make_shared<const model::Pod>(cluster::DecodePodLeniently(json, &problems));
  }
  const bool gone =
      response.status == 404 || (pod != nullptr && !bind.pod.uid().empty() && pod->meta.uid != bind.pod.uid());
  if (gone) {
    job.gone = true;
    return Finish(job, Outcome::kRefused, job.http_status, "the pod is gone");
  }
  if (pod == nullptr) return ReadLater(job, std::max(Judge(response).wait_ms, job.read_pause.Next()));
  if (!pod->bound()) return AfterUnbound(job, *pod);
  if (pod->node_name == bind.node && HasAll(pod->meta.annotations, bind.annotations))
    return Finish(job, Outcome::kDone, job.http_status, "read back");
  job.current_node = pod->node_name;
  Finish(job, Outcome::kRefused, job.http_status, "bound already");
}

// The pod was read, unbound. The same bind may be sent again: whichever of the two comes second finds it done. After
// that, being unbound proves nothing until no try can take effect any more.
void KubeWriter::AfterUnbound(Job& job, const model::Pod& pod) {
  const std::string& expected = job.As<cluster::Bind>()->pod.resource_version;
  const bool outdated =
      !expected.empty() && pod.meta.resource_version != expected;  // every try fails by its precondition
  if (!job.uncertain || outdated) return Finish(job, Outcome::kRefused, outdated ? 409 : job.http_status, job.why);
  const base::Millis now = loop_.Now();
  const bool time_left = now + kGraceMs + kReadTimeoutMs < job.deadline_ms;
  if (!job.refused && job.tries < kMostBindTries && time_left) return RetryLater(job, 0, {});
  if (job.read_sent_ms >= job.settled_ms) return Finish(job, Outcome::kRefused, job.http_status, job.why);
  ReadLater(job, job.settled_ms - now);
}

// --- Again, or over ---

void KubeWriter::RetryLater(Job& job, base::Millis wait_ms, const Judgement& judgement) {
  if (draining_ && !job.unsettled()) return GiveUp(job);
  wait_ms = std::max(wait_ms, job.write_pause.Next());
  if (loop_.Now() + wait_ms >= job.deadline_ms && !job.uncertain)
    return Finish(job, Outcome::kRefused, job.http_status, judgement.message);
  job.wait_timer = loop_.After(wait_ms, [this, &job] { Requeue(job); });
}

void KubeWriter::Requeue(Job& job) {
  job.wait_timer = 0;
  lanes_.Push(job.command.lane, job.number, loop_.Now());
  Pump();
}

void KubeWriter::OnDeadline(uint64_t number) {
  Expire(*jobs_.at(number));
  Pump();
}

void KubeWriter::Expire(Job& job) {
  const bool perhaps = job.writing || job.uncertain;
  std::string why = perhaps ? "no answer before the deadline" : "the deadline passed before it could be sent";
  if (!job.why.empty()) why += ": " + job.why;
  Finish(job, perhaps ? Outcome::kUnknown : Outcome::kRefused, job.http_status, std::move(why));
}

void KubeWriter::Finish(Job& job, Outcome outcome, int http_status, std::string message) {
  transport_.Cancel(job.request);
  loop_.CancelTimer(job.deadline_timer);
  loop_.CancelTimer(job.wait_timer);
  if (outcome == Outcome::kUnknown && job.As<cluster::EmitEvent>() == nullptr) {
    // Of one that is given up under way there was no word: it may wait in a socket.
    const base::Millis settled_ms = job.settled_ms + (job.writing ? kSocketPatienceMs : 0);
    unsettled_until_ms_ = std::max(unsettled_until_ms_, settled_ms);
  }
  if (job.writing)
    CountWriting(job, false);
  else if (job.request != 0)
    --reading_;
  if (job.record != nullptr) job.record->on_its_way = false;
  if (job.command.id != 0)
    sink_.Post(cluster::Answer{job.command.id, outcome, http_status, std::move(message), job.current_node, job.gone});
  jobs_.erase(job.number);
  CheckDrained();
}

}  // namespace tutti::kube
