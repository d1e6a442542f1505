// SPDX-License-Identifier: Apache-2.0
// KeptObject: what is desired of one object, what was last written of it and what it was last seen to be; and from
// that, whether it is to be written now. It does no I/O.
//
// Invariants
//   (1) what the object is seen to say is not written, unless another write of ours is still to be seen;
//   (2) the same is not written twice on one resourceVersion, unless the first write failed;
//   (3) a write that failed, or that others undo again and again, is repeated after ever longer pauses.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/boxed.h"
#include "cluster/desired.h"

namespace tutti::core {

class KeptObject {
 public:
  // Nothing is desired of the object yet.
  explicit KeptObject(cluster::ObjectRef ref) { desired_.ref = std::move(ref); }

  const cluster::DesiredObject& desired() const { return desired_; }
  // What was written last, while the object was not seen to have it; null: nothing.
  const cluster::DesiredObject* unseen() const { return unseen_ ? &*unseen_ : nullptr; }
  const std::shared_ptr<const model::Object>& seen() const { return seen_; }  // null: it is not there
  // Why the API server would not have what is desired; null: it has, or was not asked, or could not be reached.
  const cluster::WriteRefusal* refusal() const { return refusal_ ? &*refusal_ : nullptr; }
  cluster::CommandId command() const { return command_; }  // on its way; 0: none
  base::Millis again_ms() const { return again_ms_; }      // monotonic; no write before
  bool wanted() const { return wanted_; }
  // What is desired may have to be written, and is to be stated again for that.
  bool owes() const { return owes_; }
  // Nothing has to be remembered of it. That it was created or deleted need not be: the feed may never show its kind,
  // and to do it again changes nothing.
  bool idle() const {
    const bool changed = unseen_ && unseen_->mode == cluster::DesiredObject::Mode::kFields;
    return !wanted_ && command_ == 0 && !changed;
  }

  // States what is desired. REQUIRES: no write is on its way.
  void Want(cluster::DesiredObject desired);
  // Nothing is desired any more. What was written stays known until it is seen.
  void Unwant() { wanted_ = owes_ = fulfilled_ = undone_ = false; }

  enum class Next { kNothing, kLater, kWrite };
  // What is to be done for what is desired. kLater: at again_ms.
  Next Decide(base::Millis now_ms);
  // The write of what is desired. REQUIRES: Decide said kWrite.
  cluster::CommandBody Write() const;
  // That write has left.
  void OnSent(cluster::CommandId command);
  // Its reply has come.
  void OnReply(const cluster::Answer& reply, base::Millis now_ms);

  // The feed shows the object. True: what is desired is to be stated again.
  bool Saw(std::shared_ptr<const model::Object> object);
  // The feed shows that the object of that UID is gone. True: the same.
  bool Gone(std::string_view uid);

 private:
  void SetSeen(std::shared_ptr<const model::Object> object);
  bool IsFulfilled(const cluster::DesiredObject& what) const;
  // Whether the object is as desired; if so, it was seen to be.
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
