// SPDX-License-Identifier: Apache-2.0
#include "core/publish/object_keeper.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/planted.h"

namespace tutti::core {

using base::Millis;
using cluster::DesiredObject;

namespace {

constexpr Millis kWriteDeadlineMs = 60'000;

}  // namespace

// REQUIRES: it is among them.
KeptObject& ObjectKeeper::At(Objects& objects, const NameView& name) {
  return *std::ranges::find(objects, name, [](const KeptObject& each) { return NameOf(each.desired().ref); });
}

KeptObject* ObjectKeeper::Find(const NameView& name, Subject* subject) {
  const auto at = subjects_.find(name);
  if (at == subjects_.end()) return nullptr;
  *subject = at->second;
  return &At(kept_.at(at->second).objects, name);
}

const KeptObject* ObjectKeeper::Find(const cluster::ObjectRef& ref) const {
  Subject subject;
  return const_cast<ObjectKeeper*>(this)->Find(NameOf(ref), &subject);
}

void ObjectKeeper::Want(const Subject& subject, cluster::Lane lane, std::vector<DesiredObject> desired) {
  if (desired.empty()) return Drop(subject);
  Kept& kept = kept_[subject];
  TUTTI_CHECK(!Writes(kept), subject.key.name);
  Objects& objects = kept.objects;
  absl::InlinedVector<bool, 4> stated(objects.size(), false);
  const Millis now = clock_.MonotonicMs();
  for (DesiredObject& each : desired) {
    const NameView name = NameOf(each.ref);
    const auto [at, fresh] = subjects_.try_emplace(Name(name), subject);
    if (at->second != subject) continue;
    if (fresh) {
      objects.emplace_back(each.ref);
      stated.push_back(false);
    }
    KeptObject& object = At(objects, name);
    if (std::exchange(stated[static_cast<size_t>(&object - objects.data())], true)) continue;
    object.Want(std::move(each));
    switch (object.Decide(now)) {
      case KeptObject::Next::kNothing: break;
      case KeptObject::Next::kLater: subject.owner->Restate(subject, object.again_ms()); break;
      case KeptObject::Next::kWrite: Send(subject, lane, object); break;
    }
  }
  for (size_t i = 0; i < stated.size(); ++i)
    if (!stated[i]) objects[i].Unwant();
  Sweep(subject);
}

void ObjectKeeper::Send(const Subject& subject, cluster::Lane lane, KeptObject& object) {
  const Millis deadline = clock_.MonotonicMs() + kWriteDeadlineMs;
  if (object.desired().tells) lane = std::max(lane, cluster::Lane::kStatus);
  if (base::Planted(base::Bug::kWriteTwice)) outbox_.Post(lane, deadline, object.Write());
  object.OnSent(outbox_.Send(Outbox::For::kStatus, lane, deadline, object.Write(),
                             [this, subject](const cluster::CommandReply& reply) { OnReply(subject, reply); }));
}

void ObjectKeeper::OnReply(const Subject& subject, const cluster::CommandReply& reply) {
  const auto at = kept_.find(subject);
  if (at == kept_.end()) return;
  Kept& kept = at->second;
  const auto object = std::ranges::find(kept.objects, reply.id, &KeptObject::command);
  if (object == kept.objects.end()) return;  // of an earlier term
  object->OnReply(reply, clock_.MonotonicMs());
  const Millis again_ms = object->owes() ? object->again_ms() : 0;
  kept.restate = kept.restate || object->owes();
  const bool restate = again_ms > 0 || (kept.restate && !Writes(kept));
  if (!Writes(kept)) kept.restate = false;
  Sweep(subject);
  if (restate) subject.owner->Restate(subject, again_ms);
}

void ObjectKeeper::Drop(const Subject& subject) {
  const auto at = kept_.find(subject);
  if (at == kept_.end()) return;
  for (KeptObject& object : at->second.objects) object.Unwant();
  Sweep(subject);
}

void ObjectKeeper::Sweep(const Subject& subject) {
  const auto at = kept_.find(subject);
  std::erase_if(at->second.objects, [&](const KeptObject& object) {
    if (object.idle()) subjects_.erase(NameOf(object.desired().ref));
    return object.idle();
  });
  if (at->second.objects.empty()) kept_.erase(at);
}

bool ObjectKeeper::Writes(const Kept& kept) { return std::ranges::any_of(kept.objects, &KeptObject::command); }

bool ObjectKeeper::AwaitsReply(const Subject& subject) {
  const auto at = kept_.find(subject);
  if (at == kept_.end() || !Writes(at->second)) return false;
  at->second.restate = true;
  return true;
}

bool ObjectKeeper::Owes(const Subject& subject) const {
  const auto at = kept_.find(subject);
  return at != kept_.end() && std::ranges::any_of(at->second.objects, &KeptObject::owes);
}

// `tell` tells the object that is kept under the name, if there is one, what the feed shows.
template <typename Tell>
void ObjectKeeper::Show(const NameView& name, Tell tell) {
  Subject subject;
  KeptObject* kept = Find(name, &subject);
  if (!kept) return;
  const bool restate = tell(*kept);
  const Millis again_ms = kept->again_ms();
  Sweep(subject);
  if (restate) subject.owner->Restate(subject, again_ms);
}

void ObjectKeeper::Saw(const std::shared_ptr<const model::Object>& object) {
  Show({object->group, object->kind, object->meta.ns, object->meta.name},
       [&](KeptObject& kept) { return kept.Saw(object); });
}

void ObjectKeeper::Gone(const model::ObjectKind& kind, std::string_view ns, std::string_view name,
                        std::string_view uid) {
  Show({kind.group, kind.kind, ns, name}, [&](KeptObject& kept) { return kept.Gone(uid); });
}

void ObjectKeeper::StartTerm() {
  kept_.clear();
  subjects_.clear();
}

const base::Json* ObjectKeeper::Written(const cluster::ObjectRef& ref) const {
  const KeptObject* kept = Find(ref);
  if (!kept || !kept->unseen()) return nullptr;
  const bool of_it = ref.uid().empty() || kept->unseen()->ref.uid() == ref.uid();
  return of_it ? &kept->unseen()->fields : nullptr;
}

std::vector<std::shared_ptr<const model::Object>> ObjectKeeper::CreatedFor(const Subject& subject) const {
  std::vector<std::shared_ptr<const model::Object>> created;
  if (const auto at = kept_.find(subject); at != kept_.end())
    for (const KeptObject& object : at->second.objects)
      if (object.seen() && object.desired().mode != DesiredObject::Mode::kFields) created.push_back(object.seen());
  return created;
}

std::shared_ptr<const model::Object> ObjectKeeper::Created(const cluster::ObjectRef& ref) const {
  const KeptObject* kept = Find(ref);
  return kept ? kept->seen() : nullptr;
}

const cluster::WriteRefusal* ObjectKeeper::Refused(const cluster::ObjectRef& ref) const {
  const KeptObject* kept = Find(ref);
  return kept ? kept->refusal() : nullptr;
}

}  // namespace tutti::core
