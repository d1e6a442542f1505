// SPDX-License-Identifier: Apache-2.0
// ObjectKeeper: the one owner of the objects of which dialects desire something. It makes the cluster agree with what
// is desired, also where a write fails or another client writes the same object.
//
// What is desired belongs to a subject, a gang or a queue. Its owner states all of it at a time, and again when the
// keeper asks for that: after a reply that it waited for, after a pause, or because the feed shows an object otherwise.
// So a write is always made from what is known now, and nothing is written that is not desired any more.
//
// Invariants
//   (1) of an object one write at most is on its way;
//   (2) what is not as desired has a write on its way, or its owner has been asked to state it again;
//   (3) kept_object.h: what is not written, and what only after a pause.
// Objects of kinds that the feed does not read are created blindly: their end is not seen.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/outbox.h"
#include "core/publish/kept_object.h"
#include "model/gang.h"

namespace tutti::core {

class ObjectKeeper final : public cluster::Unseen {
 public:
  struct Subject;
  class Owner {
   public:
    // States again what is desired for the subject: at the instant (monotonic), or at once if that is past.
    virtual void Restate(const Subject& subject, base::Millis at_ms) = 0;

   protected:
    ~Owner() = default;
  };
  struct Subject {
    Owner* owner = nullptr;
    model::GangKey key;  // of a queue: without a namespace

    friend bool operator==(const Subject&, const Subject&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Subject& s) {
      return H::combine(std::move(hash), s.owner, s.key.dialect, s.key.ns, s.key.name);
    }
  };

  ObjectKeeper(Outbox& outbox, const base::Clock& clock) : outbox_(outbox), clock_(clock) {}

  // Stores all that is desired for the subject, one thing of an object, and writes what has to be written: in this
  // lane, or in that of statuses where it only tells something and that one is later. What was desired and is not in it
  // is desired no more. An object that is another subject's stays that one's. REQUIRES: no write for the subject is on
  // its way.
  void Want(const Subject& subject, cluster::Lane lane, std::vector<cluster::DesiredObject> desired);
  // Ends all that is desired for the subject.
  void Drop(const Subject& subject);
  // Tells whether some write for the subject is on its way. Then its owner is asked to state it again after the reply.
  bool AwaitsReply(const Subject& subject);
  // Tells whether something that is desired may have to be written, so that it is to be stated again, now or later.
  bool Owes(const Subject& subject) const;

  // Notes an object that the feed shows, or shows to be gone.
  void Saw(const std::shared_ptr<const model::Object>& object);
  void Gone(const model::ObjectKind& kind, std::string_view ns, std::string_view name, std::string_view uid);
  // Begins a new term as leader: forgets what was written before.
  void StartTerm();

  // Returns the objects that exist of those that were desired to exist for the subject, or to go, when it was last
  // stated.
  std::vector<std::shared_ptr<const model::Object>> CreatedFor(const Subject& subject) const;
  const base::Json* Written(const cluster::ObjectRef& ref) const override;
  std::shared_ptr<const model::Object> Created(const cluster::ObjectRef& ref) const override;
  const cluster::WriteRefusal* Refused(const cluster::ObjectRef& ref) const override;

  size_t count() const { return subjects_.size(); }  // objects

 private:
  using Objects = std::vector<KeptObject>;  // in the order in which they were stated
  struct Kept {
    Objects objects;
    bool restate = false;  // after the reply to the last write that is on its way
  };
  using Name = std::tuple<std::string, std::string, std::string, std::string>;  // group, kind, namespace, name
  using NameView = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  struct NameHash {
    using is_transparent = void;
    size_t operator()(const NameView& name) const { return absl::HashOf(name); }
  };
  struct NameEqual {
    using is_transparent = void;
    bool operator()(const NameView& a, const NameView& b) const { return a == b; }
  };
  static NameView NameOf(const cluster::ObjectRef& ref) { return {ref.group, ref.kind, ref.ns(), ref.name()}; }

  static KeptObject& At(Objects& objects, const NameView& name);
  // Returns what is kept under that name, and for which subject; null: nothing is.
  KeptObject* Find(const NameView& name, Subject* subject);
  const KeptObject* Find(const cluster::ObjectRef& ref) const;
  template <typename Tell>
  void Show(const NameView& name, Tell tell);
  void Send(const Subject& subject, cluster::Lane lane, KeptObject& object);
  void OnReply(const Subject& subject, const cluster::CommandReply& reply);
  static bool Writes(const Kept& kept);
  // Forgets the subject's objects of which nothing has to be remembered.
  void Sweep(const Subject& subject);

  Outbox& outbox_;
  const base::Clock& clock_;
  absl::flat_hash_map<Subject, Kept> kept_;
  absl::flat_hash_map<Name, Subject, NameHash, NameEqual> subjects_;
};

}  // namespace tutti::core
