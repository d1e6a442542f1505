// SPDX-License-Identifier: Apache-2.0
// sim/store/controller.h - the loop that all workload controllers share: names of objects wait in a queue, and
// each is compared with what it owns and brought nearer to its spec.
//
// One thread: the store's owner. Reconciling is repeatable: it reads the store and nothing it remembers but indexes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/store/component.h"
#include "sim/store/event_recorder.h"
#include "sim/store/work_queue.h"

namespace tutti::sim {

// Objects by a name of the controller's choice (their owner's, a label's value), so that none is searched for.
class ObjectIndex {
 public:
  explicit ObjectIndex(GroupResource resource) : resource_(std::move(resource)) {}

  // "" takes the object out.
  void Put(const ObjectKey& key, const std::string& value);
  // In the order of namespace and name.
  std::vector<Object> Find(const Store& store, const std::string& value) const;

 private:
  const GroupResource resource_;
  std::map<std::string, std::set<ObjectKey>> keys_;
  std::map<ObjectKey, std::string> values_;
};

class Controller : public Component {
 public:
  bool Work() final;
  std::optional<base::Millis> NextDeadline() const final { return queue_.NextTime(); }
  void WriteEvents(EventsWritten events) final { written_ = events; }

 protected:
  Controller(Store& store, const base::Clock& clock) : store_(store), clock_(clock), events_(store) {}

  virtual void Reconcile(const ObjectKey& key) = 0;

  void Enqueue(ObjectKey key) { queue_.Add(std::move(key)); }
  void EnqueueIn(ObjectKey key, base::Millis delay_ms) {
    queue_.AddAt(std::move(key), clock_.MonotonicMs() + delay_ms);
  }
  // The controlling owner of `object`, when it is of `kind`.
  void EnqueueOwner(const Json& object, std::string_view kind);
  // Keeps `index` of the pods that an object of `kind` controls, by its UID, and has that object looked at.
  void FollowOwnedPod(const WatchEvent& event, std::string_view kind, ObjectIndex* index);
  // Try again later, each time twice as late, at most five minutes.
  void RetryLater(const ObjectKey& key);
  void Succeeded(const ObjectKey& key) { failures_.erase(key); }

  void Note(const Json& object, std::string reason, std::string note) {
    if (written_ == EventsWritten::kAll)
      events_.EmitAbout(object, {false, std::move(reason), "", std::move(note), std::string(name())});
  }
  void Warn(const Json& object, std::string reason, std::string note) {
    if (written_ != EventsWritten::kNone)
      events_.EmitAbout(object, {true, std::move(reason), "", std::move(note), std::string(name())});
  }

  Store& store_;
  const base::Clock& clock_;

 private:
  EventRecorder events_;
  EventsWritten written_ = EventsWritten::kAll;
  WorkQueue queue_;
  std::map<ObjectKey, int> failures_;
  std::set<ObjectKey> unreadable_;  // those whose fields have types that were not foreseen
};

// --- Pods, as controllers see them ---

bool IsReadyPod(const Json& pod);  // condition Ready is True

// Puts those first that go first when there are too many: unbound, then not running, then not ready, then the youngest.
void SortForRemoval(std::vector<Object>* pods);

// A pod of a template: its metadata and spec, in `owner`'s namespace and controlled by it.
Json PodFromTemplate(const Json& pod_template, const Json& owner, const std::string& generate_name);

}  // namespace tutti::sim
