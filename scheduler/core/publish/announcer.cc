// SPDX-License-Identifier: Apache-2.0
#include "core/publish/announcer.h"

#include <algorithm>

namespace tutti::core {

namespace {

double Seconds(base::Millis ms) { return static_cast<double>(ms) / 1000.0; }

}  // namespace

void Announcer::Happened(const Gang& gang, Step step, std::string_view why, const Member* member,
                         std::string_view node) const {
  if (!observer_) return;
  observe::Observer::Happening happening{.step = step, .gang = gang.key};
  happening.lone = gang.lone;
  happening.queue = gang.spec.queue;
  happening.members = static_cast<int64_t>(gang.members.size());
  happening.sentence = why;
  happening.node = node;
  if (member) happening.pod = state_.pod(member->pod).pod->meta.name;
  if (step == Step::kWaits) {
    const observe::Words& words = gang.refusal->words();
    happening.reason = observe::Word(gang.refusal->reason());
    happening.sentence = words.sentence;
    happening.more = words.nodes_sentence;
  }
  if (step == Step::kStarted && gang.complete_since_ms != 0)
    happening.seconds = Seconds(clock_.MonotonicMs() - gang.complete_since_ms);
  observer_->OnHappening(happening);
}

void Announcer::Attempted(const Gang& gang, std::string_view result, int64_t members, Instant started) const {
  if (!observer_ || members == 0) return;
  const std::chrono::duration<double> took = Now() - started;
  observer_->OnAttempt(book_.SchedulerName(gang), result, members, took.count());
}

void Announcer::Bound(const Gang& gang, const Member& member, const std::string& node) const {
  if (!observer_) return;
  Happened(gang, Step::kBound, {}, &member, node);
  const base::Millis since_ms = std::max(state_.pod(member.pod).pod->meta.created_ms, member.free_ms);
  observer_->OnBound(Seconds(clock_.WallMs() - since_ms), member.attempts);
  if (gang.whole) observer_->OnFilledUp();
}

void Announcer::Whole(const Gang& gang) const {
  Happened(gang, Step::kStarted);
  if (observer_)
    observer_->OnWhole(Seconds(clock_.MonotonicMs() - gang.complete_since_ms),
                       static_cast<int64_t>(gang.members.size()));
}

void Announcer::Evicted(model::PodId pod, std::string_view why) const {
  if (!observer_) return;
  if (const model::GangId gang = book_.GangOf(pod))
    return Happened(book_.at(gang), Step::kEvicted, why, &book_.at(book_.member_of(pod)));
  const model::ObjectMeta& meta = state_.pod(pod).pod->meta;
  const model::GangKey alone = book_.Settled(pod) ? book_.KeyOfSettled(pod) : model::GangKey{{}, meta.ns, meta.name};
  observer_->OnHappening({.step = Step::kEvicted, .gang = alone, .lone = true, .sentence = why, .pod = meta.name});
}

void Announcer::Undone(const Gang& gang, int64_t members, const std::string& why) const {
  if (observer_) observer_->OnUndone(members);
  Happened(gang, Step::kUndone, why);
}

void Announcer::Quota(const Gang& gang, observe::Observer::QuotaStep::Kind kind, std::string_view queue,
                      std::string_view reason, const Gang* by, std::string_view by_queue) const {
  if (!observer_) return;
  const bool asks = gang.quota && gang.quota->terms;
  const base::Millis since_ms = asks ? gang.quota->terms->ask.queued_ms : 0;
  const double waited = since_ms == 0 ? 0 : std::max(0.0, Seconds(clock_.WallMs() - since_ms));
  observe::Observer::QuotaStep step{.kind = kind, .gang = gang.key};
  step.queue = queue;
  step.reason = reason;
  step.by = by ? &by->key : nullptr;
  step.by_queue = by_queue;
  step.seconds = waited;
  if (const model::HeldQuota* has = gang.quota && gang.quota->report.has ? &*gang.quota->report.has : nullptr) {
    step.local = has->local_queue;
    if (gang.quota->terms && gang.quota->terms->has_checks)
      step.checked_seconds = std::max(0.0, Seconds(clock_.WallMs() - has->reserved_ms));
  }
  observer_->OnQuota(step);
}

void Announcer::Ready(const Gang& gang, std::string_view queue) const {
  if (!observer_) return;
  const model::QuotaTerms& terms = *gang.quota->terms;
  observer_->OnPodsReady({.gang = gang.key,
                          .queue = queue,
                          .local = gang.quota->report.has->local_queue,
                          .seconds = std::max(0.0, Seconds(terms.ready_ms - terms.ask.queued_ms)),
                          .admitted_seconds = std::max(0.0, Seconds(terms.ready_ms - terms.admitted_ms))});
}

void Announcer::QuotaAttempts(int64_t fruitful, int64_t fruitless, Instant started) const {
  if (!observer_ || fruitful + fruitless == 0) return;
  const std::chrono::duration<double> took = Now() - started;
  observer_->OnQuotaAttempts({fruitful, fruitless, took.count()});
}

}  // namespace tutti::core
