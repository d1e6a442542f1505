// SPDX-License-Identifier: Apache-2.0
#include "core/publish/kept_object.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/json_string.h"

namespace tutti::core {

using base::Millis;
using cluster::DesiredObject;
using Mode = DesiredObject::Mode;

namespace {

constexpr Millis kFailedPauseMs = 5'000, kContestPauseMs = 1'000, kLongestPauseMs = 60'000;
// A client that has not undone a write for so long is not fighting.
constexpr Millis kCalmMs = 2 * kLongestPauseMs;
// So many conflicts in a row are an object that is written all the time; then it waits like any other.
constexpr int kQuickConflicts = 3;
// So many echoes of earlier writes of ours may come before that of the last one. Beyond that it is another client that
// undoes each write before it can be seen.
constexpr int kMostEchoes = 8;
// So long what only tells something waits for what is told next.
constexpr Millis kTellsAfterMs = 1'000;

// The pause after so many failures in a row, at least one: each is twice as long as the one before.
Millis Pause(int times, Millis first) { return std::min(first << std::min(times - 1, 16), kLongestPauseMs); }

// Tells whether an object that is as `before` says is also as `now` says.
bool WantsSame(const DesiredObject& now, const DesiredObject& before) {
  return now.mode == before.mode && (now.mode != Mode::kFields || now.Agrees(before.fields));
}

}  // namespace

void KeptObject::SetSeen(std::shared_ptr<const model::Object> object) {
  if (object && seen_ && object->meta.uid != seen_->meta.uid) {  // what was written is not in this one
    unseen_.reset();
    fulfilled_ = false;
  }
  seen_ = std::move(object);
}

bool KeptObject::IsFulfilled(const DesiredObject& what) const {
  switch (what.mode) {
    case Mode::kExists: return seen_ != nullptr;
    case Mode::kGone: return !seen_ || seen_->meta.deleting();
    case Mode::kFields: break;
  }
  return seen_ && what.Agrees(*seen_->body);
}

bool KeptObject::NoteFulfilled() {
  if (!IsFulfilled(desired_)) return false;
  fulfilled_ = true;
  blind_ = 0;
  return true;
}

void KeptObject::Want(DesiredObject desired) {
  TUTTI_CHECK(command_ == 0, desired.ref.name());
  if (desired.seen) SetSeen(std::exchange(desired.seen, nullptr));
  if (!wanted_ || !WantsSame(desired, desired_)) {
    fulfilled_ = undone_ = false;
    blind_ = 0;
    refusal_.reset();
  }
  undone_ = undone_ || (fulfilled_ && !IsFulfilled(desired));
  desired_ = std::move(desired);
  base::Freeze(desired_.fields);  // once it is written, it is copied
  wanted_ = true;
}

bool KeptObject::MustWrite() {
  if (desired_.mode == Mode::kGone && !desired_.controller.empty() && !seen_)  // only a write tells
    return !unseen_ || !WantsSame(desired_, *unseen_);
  const bool there = NoteFulfilled();
  if (desired_.mode == Mode::kFields && !seen_) return false;
  if (!unseen_) return !there;
  if (!WantsSame(desired_, *unseen_)) return true;
  if (there) {
    unseen_.reset();
    return false;
  }
  // Still the version that it was written on: the echo is to come. Another version: others may have undone the write.
  if ((seen_ ? seen_->meta.resource_version : std::string()) == at_version_) return false;
  if (++blind_ > kMostEchoes) {
    undone_ = true;
    unseen_.reset();
  }
  return true;
}

// The first write in a while that another client undoes is repeated at once, the next ones after ever longer pauses:
// two clients that disagree about an object must not keep the API server busy.
void KeptObject::Contest(Millis now_ms) {
  if (now_ms - contested_ms_ > kCalmMs) contests_ = 0;
  if (contests_ > 0) again_ms_ = std::max(again_ms_, now_ms + Pause(contests_, kContestPauseMs));
  ++contests_;
  contested_ms_ = now_ms;
}

KeptObject::Next KeptObject::Decide(Millis now_ms) {
  owes_ = false;
  const Millis tells_ms = std::exchange(tells_ms_, 0);
  if (!wanted_ || !MustWrite()) return Next::kNothing;
  if (undone_) Contest(now_ms);
  undone_ = fulfilled_ = false;
  if (desired_.tells) tells_ms_ = tells_ms != 0 ? tells_ms : now_ms + kTellsAfterMs;
  if (now_ms >= again_ms()) return Next::kWrite;
  owes_ = true;
  return Next::kLater;
}

cluster::CommandBody KeptObject::Write() const {
  switch (desired_.mode) {
    case Mode::kExists: return cluster::Create{desired_.ref, base::PrintJson(desired_.fields)};
    case Mode::kGone: return cluster::Delete{.object = desired_.ref, .controller = desired_.controller};
    case Mode::kFields: break;
  }
  return cluster::Patch{desired_.ref, desired_.status, desired_.type, base::PrintJson(desired_.fields)};
}

void KeptObject::OnSent(cluster::CommandId command) {
  command_ = command;
  tells_ms_ = 0;
  unseen_ = desired_;
  at_version_ = seen_ ? seen_->meta.resource_version : std::string();
}

void KeptObject::OnReply(const cluster::CommandReply& reply, Millis now_ms) {
  constexpr int kNotFound = 404, kConflict = 409;
  command_ = 0;
  const bool deleted = desired_.mode == Mode::kGone && reply.http_status == kNotFound;
  refusal_.reset();
  if (deleted || reply.outcome == cluster::Outcome::kDone) {
    failures_ = 0;
    if (desired_.mode == Mode::kGone) SetSeen(nullptr);  // or the feed shows that it is being deleted
    owes_ = wanted_ && desired_.mode != Mode::kFields;   // what is desired next may have waited for that
    // The feed may have been faster, and have shown what was created, or even that it went.
    if (reply.object && reply.object->meta.uid == gone_uid_)
      unseen_.reset();
    else if (reply.object && !seen_)
      SetSeen(reply.object);
    return;
  }
  unseen_.reset();
  if (reply.object && !seen_) SetSeen(reply.object);
  if (reply.outcome == cluster::Outcome::kRefused && !reply.server_unavailable())
    refusal_ = cluster::WriteRefusal{reply.http_status, reply.message};
  again_ms_ = now_ms + reply.PauseMs(Pause(++failures_, kFailedPauseMs));
  conflict_ = reply.http_status == kConflict && failures_ <= kQuickConflicts;
  if (conflict_ && seen_ && seen_->meta.resource_version != at_version_) {
    conflict_ = false;
    again_ms_ = now_ms;
  }
  owes_ = wanted_;
}

bool KeptObject::Saw(std::shared_ptr<const model::Object> object) {
  SetSeen(std::move(object));
  const bool newer = seen_->meta.resource_version != at_version_;
  if (unseen_ && IsFulfilled(*unseen_)) unseen_.reset();
  if (newer && std::exchange(conflict_, false)) again_ms_ = 0;
  if (!wanted_) {
    if (newer && command_ == 0) unseen_.reset();
    return false;
  }
  if (!NoteFulfilled()) owes_ = true;
  return owes_;
}

bool KeptObject::Gone(std::string_view uid) {
  const bool was_fulfilled = fulfilled_;
  SetSeen(nullptr);
  gone_uid_ = uid;
  // What is on its way to be created may be another one.
  if (command_ == 0 || desired_.mode != Mode::kExists) unseen_.reset();
  if (desired_.mode == Mode::kFields) wanted_ = false;  // the dialect is told of it, too
  fulfilled_ = wanted_ && (desired_.mode == Mode::kGone || was_fulfilled);
  owes_ = wanted_ && !IsFulfilled(desired_);
  return owes_;
}

}  // namespace tutti::core
