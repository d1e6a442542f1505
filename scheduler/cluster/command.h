// SPDX-License-Identifier: Apache-2.0
// Command: everything the scheduler can do to the cluster, as one value with one answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "model/object.h"
#include "model/pod.h"

namespace tutti::cluster {

// What a command is about. Two leave for every pod, so nothing is copied that is held elsewhere.
struct ObjectRef {
  // Names of its kind: constants, or the object's, which `meta` keeps alive.
  std::string_view group, version;                // an empty version: the one the feed watches
  std::string_view resource;                      // plural: "pods"
  std::string_view kind;                          // "Pod"
  std::shared_ptr<const model::ObjectMeta> meta;  // never null; its resourceVersion is not read
  std::string resource_version = {};

  const std::string& ns() const { return meta->ns; }
  const std::string& name() const { return meta->name; }
  const std::string& uid() const { return meta->uid; }
};

inline ObjectRef RefOf(const std::shared_ptr<const model::Pod>& pod) {
  return {"", "v1", "pods", "Pod", {pod, &pod->meta}};
}
inline ObjectRef RefOf(const std::shared_ptr<const model::Object>& object) {
  return {object->group, object->version, object->resource, object->kind, {object, &object->meta}};
}
// To one that is held nowhere.
inline ObjectRef NewRef(std::string_view group, std::string_view version, std::string_view resource,
                        std::string_view kind, const std::string& ns, const std::string& name,
                        const std::string& uid = "", const std::string& resource_version = "") {
  auto meta = std::make_shared<model::ObjectMeta>();
  meta->ns = ns;
  meta->name = name;
  meta->uid = uid;
  return {group, version, resource, kind, std::move(meta), resource_version};
}

// POST pods/NAME/binding. Annotations are merged into the pod by the same write (tried on kube-apiserver 1.36.3).
// The pod's uid and, where set, pod.resource_version are preconditions.
struct Bind {
  ObjectRef pod;
  std::string node;
  model::StringMap annotations;
};

// What becomes of the objects that a deleted one owns. kOfKind: what its kind has by default.
enum class Propagation { kOfKind, kBackground, kForeground, kOrphan };

// In these three, `dry_run` has the API server judge the write and answer as if it were done, and keep nothing of it.

// DELETE with a UID precondition.
struct Delete {
  ObjectRef object;
  Propagation propagation = Propagation::kOfKind;
  bool dry_run = false;
  // The UID of the object that must be its controller; empty: any may be. For one whose own UID is not known: it is
  // read, and deleted by the UID that it has then. An object of another controller stays, as if there were none.
  std::string controller = {};
};

// PATCH. `status`: through the status subresource where the kind has one, else on the object itself.
// A uid in `object` is a precondition, and so is a resource_version. They are put into the patch.
struct Patch {
  enum class Type { kMerge, kStrategic, kJson };
  ObjectRef object;
  bool status = false;
  Type type = Type::kMerge;
  std::string body;  // JSON: an object, or for kJson a list of operations (RFC 6902)
  bool dry_run = false;
};

// POST. The name is the one in `body`; with generateName alone the API server makes one, and a create whose answer is
// lost is not repeated.
struct Create {
  ObjectRef object;
  std::string body;  // JSON
  bool dry_run = false;
};

// An Event about `regarding` (events.k8s.io/v1). Repeats of the same note on the same object are merged into a series
// by the writer.
struct EmitEvent {
  ObjectRef regarding;
  bool warning = false;
  std::string reason;                // "Scheduled", "FailedScheduling", ...
  std::string action;                // "Binding", "Scheduling", ...
  std::string note;                  // cut at 1024 bytes by the writer
  std::string reporting_controller;  // the profile's schedulerName
};

using CommandBody = std::variant<Bind, Delete, Patch, Create, EmitEvent>;
using CommandId = uint64_t;

// Lower leaves first; while there is room nothing waits more than 5 s. What ends something goes before what begins the
// next: gangs start one after the other, not all at the end, and few are half bound at any instant. First the bind that
// makes a gang whole; then what finishes a preemption: the deletion of a pod that was told, and the bind of the pod
// that others have left for. What lets an admitted job go, or makes its objects, is as urgent as a bind. Then come the
// objects without which no gang can be admitted. A status says why something waits, and autoscalers act on it; an Event
// tells of a pod; a report says of a gang that it started, which its pods have said by then.
enum class Lane { kCommit = 0, kFinish = 1, kBind = 2, kEvict = 2, kPrepare = 3, kStatus = 4, kEvent = 5, kReport = 6 };

struct Command {
  CommandId id = 0;  // unique for the life of the process; 0: no answer is wanted
  Lane lane = Lane::kStatus;
  base::Millis deadline_ms = 0;  // monotonic; not sent after it, and its answer comes at the latest then
  CommandBody body;
};

enum class Outcome {
  kDone,     // the API server says so
  kRefused,  // the API server says no, or it was never sent: it has not happened and will not
  kUnknown,  // no answer; it may have happened or may yet happen, until the server-side timeout
};

// Exactly one for each command with an id.
struct CommandReply {
  static constexpr base::Millis kMostQuietMs = 60'000;

  CommandId id = 0;
  Outcome outcome = Outcome::kDone;
  int http_status = 0;       // 0 when there was no response
  std::string message;       // why, for kRefused and kUnknown
  std::string current_node;  // for a refused Bind: where the pod is bound by now, if that was read back
  bool gone = false;         // for a refused Bind: the pod of that UID does not exist any more
  // The API server asked for so much more quiet, at most kMostQuietMs: the same write is not to be sent sooner.
  base::Millis retry_after_ms = 0;
  // For a Create that is done: the object with what the API server added, as its UID. For one that is refused since its
  // name is taken: the object that has the name. Null if that could not be read.
  std::shared_ptr<const model::Object> object = {};

  // The API server was not to be had, rather than of another mind: the same write may do later.
  bool server_unavailable() const { return http_status == 0 || http_status == 429 || http_status >= 500; }
  // Returns how long the same write waits, where its sender would wait for `own_ms`.
  base::Millis PauseMs(base::Millis own_ms) const { return std::max(own_ms, retry_after_ms); }
};

}  // namespace tutti::cluster
