// SPDX-License-Identifier: Apache-2.0
#include "kube/writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "kube/api_path.h"

namespace tutti::kube {
namespace {

using cluster::Outcome;

constexpr base::Millis kDeadlineUnlessSaidMs = 30'000;
constexpr size_t kWritesPerRead = 4;  // 80 + 20: the 100 streams that an API server accepts on a connection

}  // namespace

KubeWriter::KubeWriter(Options options, Loop& loop, Transport& transport, base::Random& random,
                       const KindResolver& kinds, cluster::EventSink& sink)
    : options_(std::move(options)),
      loop_(loop),
      transport_(transport),
      random_(random),
      kinds_(kinds),
      sink_(sink),
      gate_(loop, static_cast<size_t>(options_.in_flight), [this] { Pump(); }) {}

KubeWriter::~KubeWriter() {
  for (const auto& [number, job] : jobs_) {
    transport_.Cancel(job->request);
    loop_.CancelTimer(job->deadline_timer);
    loop_.CancelTimer(job->wait_timer);
  }
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
  auto owned = std::make_unique<WriteJob>(random_);
  WriteJob& job = *owned;
  job.number = ++last_job_;
  job.command = std::move(command);
  const base::Millis now = loop_.Now();
  job.deadline_ms = job.command.deadline_ms > 0 ? job.command.deadline_ms : now + kDeadlineUnlessSaidMs;
  jobs_.emplace(job.number, std::move(owned));
  if (draining_) return Finish(job, Outcome::kRefused, 0, "shutting down");
  if (job.As<cluster::EmitEvent>() != nullptr && !NoteEvent(job)) return;
  job.deadline_timer = loop_.After(job.deadline_ms - now, [this, number = job.number] { OnDeadline(number); });
  if (job.reads_first())
    to_read_.push_back(job.number);
  else if (job.wait_timer == 0)
    gate_.Push(job.command.lane, job.number);
}

// Counts the Event. False when it was merged into one that is on its way, and this job is over.
bool KubeWriter::NoteEvent(WriteJob& job) {
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
    // The count is written with later ones.
    if (job.command.id != 0) sink_.Post(cluster::CommandReply{job.command.id, Outcome::kDone, 0, "counted", {}, false});
    job.command.id = 0;
    job.deadline_ms = quiet_until + kDeadlineUnlessSaidMs;
    job.wait_timer = loop_.After(quiet_until - now, [this, &job] { Requeue(job); });
  }
  return true;
}

void KubeWriter::SetWritable(base::Millis until_ms, base::Millis over_ms) {
  gate_.SetWritable(until_ms, over_ms);
  Pump();
}

void KubeWriter::Drain(Task done) {
  draining_ = true;
  drained_ = std::move(done);
  std::vector<WriteJob*> idle;
  for (const auto& [number, job] : jobs_)
    if (job->request == 0 && !job->unsettled()) idle.push_back(job.get());
  for (WriteJob* job : idle) GiveUp(*job);
  CheckDrained();
}

void KubeWriter::GiveUp(WriteJob& job) {
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
  while (const auto number = gate_.Next()) {
    const auto at = jobs_.find(*number);
    if (at != jobs_.end()) SendWrite(*at->second);  // else answered at its deadline
  }
}

void KubeWriter::SendWrite(WriteJob& job) {
  const base::Millis now = loop_.Now();
  const base::Millis left_ms = job.deadline_ms - now;
  if (left_ms <= 0) return Expire(job);
  // Half of the remaining time, so that the other half is left for reading back.
  const base::Millis server_timeout_ms =
      std::min({options_.write_timeout_ms, std::max<base::Millis>(left_ms / 2, 1), gate_.over_ms() - kGraceMs - now});
  auto request = BuildRequest(job);
  if (!request) return Finish(job, Outcome::kRefused, 0, request.error().message);
  AddQuery("timeout", fmt::format("{}ms", server_timeout_ms), &request->target);
  request->channel = Channel::kCall;
  request->timeout_ms = server_timeout_ms + kGraceMs;
  request->not_after_ms = std::min(now + kGraceMs, gate_.writable_until_ms() - 1);
  job.settled_ms = std::max(job.settled_ms, now + request->timeout_ms);
  gate_.Enter(job.command.lane);
  job.writing = true;
  ++job.tries;
  job.request = transport_.Send(std::move(*request),
                                [this, number = job.number](const Response& response) { OnAnswer(number, response); });
}

base::Result<Request> KubeWriter::BuildRequest(WriteJob& job) const {
  const RequestContext context{kinds_, encoding_, options_.component, options_.instance};
  const auto* event = job.As<cluster::EmitEvent>();
  if (event == nullptr) return RequestOf(job.command.body, context);
  job.count_on_its_way = job.record->count;
  return RequestOf(*event, *job.record, context);
}

// --- Answers ---

void KubeWriter::OnAnswer(uint64_t number, const Response& response) {
  WriteJob& job = *jobs_.at(number);
  job.request = 0;
  job.writing = false;
  gate_.Leave(job.command.lane);
  Judgement judgement = Judge(response);
  job.http_status = response.status;
  if (judgement.meaning != Meaning::kDone) job.why = judgement.message;
  job.quiet_until_ms = loop_.Now() + judgement.wait_ms;
  if (judgement.meaning == Meaning::kUncertain && !std::exchange(job.uncertain, true) &&
      job.As<cluster::Bind>() != nullptr && job.command.id != 0)
    sink_.Post(cluster::CommandDelayed{job.command.id});
  // Without an answer, the request may still wait in a socket until the network works again.
  if (response.failure == Response::Failure::kTimeout) job.settled_ms += kSocketPatienceMs;
  job.refused = judgement.meaning == Meaning::kRefused;
  if (response.status == 415 && encoding_ == Encoding::kProtobuf) {
    encoding_ = Encoding::kJson;  // the server does not support protobuf
    Requeue(job);
  } else if (response.status == 415 && job.tries == 1 && encoding_ == Encoding::kJson) {
    Requeue(job);  // sent before that was known
  } else if (judgement.meaning == Meaning::kNotDone) {
    RetryLater(job, judgement.wait_ms, judgement.message);
  } else if (job.As<cluster::Bind>() != nullptr) {
    Follow(job, AfterBind(job, judgement));
  } else if (job.As<cluster::EmitEvent>() != nullptr) {
    OnEventJudged(job, judgement);
  } else {
    Verdict verdict = AfterWrite(job, judgement);
    if (const auto* create = job.As<cluster::Create>(); create != nullptr && judgement.meaning == Meaning::kDone)
      verdict.answer.object = ObjectIn(create->object, response);
    Follow(job, std::move(verdict));
  }
  Pump();
}

void KubeWriter::Follow(WriteJob& job, Verdict verdict) {
  switch (verdict.next) {
    case Verdict::Next::kFinish: return Finish(job, std::move(verdict.answer));
    case Verdict::Next::kRetry: return RetryLater(job, verdict.wait_ms, std::move(verdict.answer.message));
    case Verdict::Next::kReadAgain:
      job.quiet_until_ms = loop_.Now() + verdict.wait_ms;
      return ReadLater(job, std::max(verdict.wait_ms, job.read_pause.Next()));
    case Verdict::Next::kReadBack:
      if (verdict.wait_ms > 0) return ReadLater(job, verdict.wait_ms);
      to_read_.push_back(job.number);
  }
}

void KubeWriter::OnEventJudged(WriteJob& job, const Judgement& judgement) {
  EventRecord& record = *job.record;
  const bool exists = judgement.http_status == 409 && record.written_count == 0;  // only this process uses the name
  if (judgement.meaning == Meaning::kDone || exists) {
    record.written_count = job.count_on_its_way;
    record.last_write_ms = loop_.Now();
    const bool more = record.count > record.written_count;
    cluster::Command rest{0, job.command.lane, 0, job.command.body};
    const std::shared_ptr<EventRecord> kept = job.record;
    Finish(job, Outcome::kDone, job.http_status, "");
    if (!more || draining_) return;
    // Events that were counted while it was on its way.
    --kept->count;  // Enqueue counts it again
    return Enqueue(std::move(rest));
  }
  if (judgement.meaning == Meaning::kUncertain) return RetryLater(job, judgement.wait_ms, judgement.message);
  if (judgement.http_status == 404 && record.written_count > 0) {
    record.written_count = 0;  // the Event has expired
    return Requeue(job);
  }
  Finish(job, Outcome::kRefused, job.http_status, judgement.message);
}

// --- Reading a pod that was bound, an object whose name was taken, or one that its controller may delete ---

void KubeWriter::ReadLater(WriteJob& job, base::Millis wait_ms) {
  if (draining_ && !job.unsettled()) return GiveUp(job);
  job.wait_timer = loop_.After(wait_ms, [this, &job] {
    job.wait_timer = 0;
    to_read_.push_back(job.number);
    Pump();
  });
}

// Sends reads of pods. Reads have places of their own, so that reads and writes do not wait for each other.
void KubeWriter::PumpReads() {
  const size_t cap = std::max<size_t>(static_cast<size_t>(options_.in_flight) / kWritesPerRead, 1);
  while (reading_ < cap && !to_read_.empty()) {
    const auto at = jobs_.find(to_read_.front());
    to_read_.pop_front();
    if (at != jobs_.end()) SendRead(*at->second);  // else answered at its deadline
  }
}

void KubeWriter::SendRead(WriteJob& job) {
  Request request;
  request.channel = Channel::kCall;
  if (const auto* bind = job.As<cluster::Bind>()) {
    request.target = ObjectPath("", "v1", "pods", bind->pod.ns(), bind->pod.name());
    request.accept = kProtobufOrJson;
  } else {
    const auto* create = job.As<cluster::Create>();
    const cluster::ObjectRef& ref = create != nullptr ? create->object : job.As<cluster::Delete>()->object;
    request.target = ObjectPath(ref.group, VersionOf(ref, kinds_), ref.resource, ref.ns(), ref.name());
    request.accept = kJson;
  }
  request.timeout_ms = kReadTimeoutMs;
  job.read_sent_ms = loop_.Now();
  ++reading_;
  job.request = transport_.Send(
      std::move(request), [this, number = job.number](const Response& response) { OnReadBack(number, response); });
}

void KubeWriter::OnReadBack(uint64_t number, const Response& response) {
  WriteJob& job = *jobs_.at(number);
  job.request = 0;
  --reading_;
  if (job.As<cluster::Bind>() != nullptr) {
    const auto pod = PodReadBack(response, &specs_);
    Follow(job, AfterRead(job, response, pod.get(), loop_.Now()));
  } else if (job.As<cluster::Create>() != nullptr) {
    Follow(job, AfterReadOfTaken(job, response));
  } else {
    Verdict verdict = AfterReadOfOwned(job, response);
    if (verdict.answer.object)
      std::get<cluster::Delete>(job.command.body).object = cluster::RefOf(verdict.answer.object);
    Follow(job, std::move(verdict));
  }
  Pump();
}

// --- Again, or over ---

void KubeWriter::RetryLater(WriteJob& job, base::Millis wait_ms, std::string why) {
  if (draining_ && !job.unsettled()) return GiveUp(job);
  wait_ms = std::max(wait_ms, job.write_pause.Next());
  if (loop_.Now() + wait_ms >= job.deadline_ms && !job.uncertain)
    return Finish(job, Outcome::kRefused, job.http_status, std::move(why));
  job.wait_timer = loop_.After(wait_ms, [this, &job] { Requeue(job); });
}

void KubeWriter::Requeue(WriteJob& job) {
  job.wait_timer = 0;
  gate_.Push(job.command.lane, job.number);
  Pump();
}

void KubeWriter::OnDeadline(uint64_t number) {
  Expire(*jobs_.at(number));
  Pump();
}

void KubeWriter::Expire(WriteJob& job) {
  const bool perhaps = job.writing || job.uncertain;
  std::string why = perhaps ? "no answer before the deadline" : "the deadline passed before it could be sent";
  if (!job.why.empty()) why += ": " + job.why;
  Finish(job, perhaps ? Outcome::kUnknown : Outcome::kRefused, job.http_status, std::move(why));
}

void KubeWriter::Finish(WriteJob& job, Outcome outcome, int http_status, std::string message) {
  cluster::CommandReply answer;
  answer.outcome = outcome;
  answer.http_status = http_status;
  answer.message = std::move(message);
  Finish(job, std::move(answer));
}

void KubeWriter::Finish(WriteJob& job, cluster::CommandReply answer) {
  transport_.Cancel(job.request);
  loop_.CancelTimer(job.deadline_timer);
  loop_.CancelTimer(job.wait_timer);
  if (answer.outcome == Outcome::kUnknown && job.As<cluster::EmitEvent>() == nullptr) {
    // A write that is given up without an answer may still wait in a socket.
    const base::Millis settled_ms = job.settled_ms + (job.writing ? kSocketPatienceMs : 0);
    unsettled_until_ms_ = std::max(unsettled_until_ms_, settled_ms);
  }
  if (job.writing)
    gate_.Leave(job.command.lane);
  else if (job.request != 0)
    --reading_;
  if (job.record != nullptr) job.record->on_its_way = false;
  answer.id = job.command.id;
  answer.retry_after_ms = std::clamp<base::Millis>(job.quiet_until_ms - loop_.Now(), 0, answer.kMostQuietMs);
  if (answer.id != 0) sink_.Post(std::move(answer));
  jobs_.erase(job.number);
  CheckDrained();
}

}  // namespace tutti::kube
