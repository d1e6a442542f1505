// SPDX-License-Identifier: Apache-2.0
// KeptObject: what is desired of one object, what was last written of it and what it was last seen to be; and from
// that, whether it is to be written now. It does no I/O.
//
// Invariants
//   (1) what the object is seen to say is not written, unless another write of ours is still to be seen;
//   (2) the same is not written twice on one resourceVersion, unless the first write failed;
//   (3) a write that failed, or that others undo again and again, is repeated after ever longer pauses;
//   (4) what only tells something is not written within a second of the first desire for it.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/boxed.h"
#include "cluster/desired.h"

namespace tutti::core {

class KeptObject {
 public:
  // Makes an object of which nothing is desired yet.
  explicit KeptObject(cluster::ObjectRef ref) { desired_.ref = std::move(ref); }

  const cluster::DesiredObject& desired() const { return desired_; }
  // Returns what was written last, while the object was not seen to have it; null: nothing.
  const cluster::DesiredObject* unseen() const { return unseen_ ? &*unseen_ : nullptr; }
  const std::shared_ptr<const model::Object>& seen() const { return seen_; }  // null: it is not there
  // Returns why the API server refused what is desired; null: it did not, or was not asked, or could not be reached.
  const cluster::WriteRefusal* refusal() const { return refusal_ ? &*refusal_ : nullptr; }
  cluster::CommandId command() const { return command_; }  // on its way; 0: none
  // Monotonic; no write before.
  base::Millis again_ms() const { return std::max(again_ms_, tells_ms_); }
  bool wanted() const { return wanted_; }
  // Tells whether what is desired may have to be written, and is to be stated again for that.
  bool owes() const { return owes_; }
  // Tells whether nothing has to be remembered of the object. That it was created or deleted need not be: the feed may
  // never show its kind, and to do it again changes nothing.
  bool idle() const {
    const bool changed = unseen_ && unseen_->mode == cluster::DesiredObject::Mode::kFields;
    return !wanted_ && command_ == 0 && !changed;
  }

  // Sets what is desired. REQUIRES: no write is on its way.
  void Want(cluster::DesiredObject desired);
  // Ends what is desired. What was written stays known until it is seen.
  void Unwant() { wanted_ = owes_ = fulfilled_ = undone_ = false; }

  enum class Next { kNothing, kLater, kWrite };
  // Decides what to do so that the object becomes what is desired. kLater: at again_ms.
  Next Decide(base::Millis now_ms);
  // Returns the write of what is desired. REQUIRES: Decide returned kWrite.
  cluster::CommandBody Write() const;
  // Notes that this write has left.
  void OnSent(cluster::CommandId command);
  // Handles the reply to it.
  void OnReply(const cluster::CommandReply& reply, base::Millis now_ms);

  // Notes the object as the feed shows it. Returns true if what is desired is to be stated again.
  bool Saw(std::shared_ptr<const model::Object> object);
  // Notes that the feed shows the object of that UID to be gone. Returns true likewise.
  bool Gone(std::string_view uid);

 private:
  void SetSeen(std::shared_ptr<const model::Object> object);
  bool IsFulfilled(const cluster::DesiredObject& what) const;
  // Tells whether the object is as desired; if so, notes that it was seen to be.
  bool NoteFulfilled();
  bool MustWrite();
  void Contest(base::Millis now_ms);

  cluster::DesiredObject desired_;  // `seen` is null in it
  base::Boxed<cluster::DesiredObject> unseen_;
  base::Boxed<cluster::WriteRefusal> refusal_;
  std::shared_ptr<const model::Object> seen_;
  std::string at_version_;  // the resourceVersion that was seen when the last write left
  std::string gone_uid_;    // of the last object of this name that went
  cluster::CommandId command_ = 0;
  base::Millis again_ms_ = 0;
  base::Millis tells_ms_ = 0;      // monotonic; when what only tells something is written; 0: nothing waits for that
  base::Millis contested_ms_ = 0;  // monotonic; when others last undid what was written
  int contests_ = 0;               // how often they have of late
  int failures_ = 0;               // writes in a row that failed
  int blind_ = 0;                  // repeated writes of what was never seen, in a row
  bool wanted_ = false, owes_ = false;
  bool fulfilled_ = false;  // the object was seen to be as desired
  bool undone_ = false;     // and is so no more, though nothing else is desired
  bool conflict_ = false;   // the last write came upon another version: a newer one may be written at once
};

}  // namespace tutti::core
