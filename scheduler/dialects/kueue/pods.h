// SPDX-License-Identifier: Apache-2.0
// Pods that wait for quota themselves: a pod alone, a group of pods that name it, or the pods of a StatefulSet or of a
// LeaderWorkerSet's replica. Each is held until it is given the labels of one that was admitted: by Kueue's scheduling
// gate, and where it has none by its scheduler alone. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "dialects/kueue/jobs.h"
#include "dialects/pod_sets.h"
#include "model/object.h"

namespace tutti::dialects::kueue {

// One of them, as it was seen.
struct QueuedPod {
  std::shared_ptr<const model::Object> object;  // never null
  std::string role;                             // by what pods of one group are told apart: what they are scheduled by
  bool gated = false;                           // it has Kueue's gate
  bool started = false;                         // it was given what pods of an admitted job have, and has no such gate
  bool bound = false, ended = false, succeeded = false, ready = false;
  bool leaves = false;  // it was told to go: it has condition TerminationTarget

  bool deleting() const { return object->meta.deleting(); }
  bool held() const { return !started && !bound && !ended; }
  // It never gets a node: a finalizer alone keeps it.
  bool is_lost() const { return deleting() && !bound; }
  bool runs() const { return started && !ended && !is_lost(); }
  // It is counted as one of its group's pods: it has succeeded, or may yet.
  bool counts() const { return !is_lost() && (succeeded || !ended); }
};
QueuedPod SeePod(const std::shared_ptr<const model::Object>& object);
using QueuedPods = std::map<std::string, QueuedPod>;  // by name

// What a pod is one of, by what it says of itself; kNone: it does not wait for quota itself. `bound`: it is on a node
// already.
PodOwner OwnerOf(const model::ObjectMeta& meta, bool bound);
// The group that it names; empty: none.
std::string GroupOf(const model::ObjectMeta& meta);
// The LeaderWorkerSet's name, and the index of its replica.
std::string LeaderWorkerSetOf(const model::ObjectMeta& meta);
std::string ReplicaOf(const model::ObjectMeta& meta);

// What a group says of itself: its total, whether it starts with what there is, whether it never ends, whether it ends
// once no pod of it runs.
struct GroupTerms {
  int64_t total = 0;
  bool fast = false, serves = false, unretriable = false;
  std::string problem;  // what keeps it from being a group; empty: nothing
};
// REQUIRES: there is one. `has_workload`: it is enough that some pods are there, the others are to be replaced.
GroupTerms TermsOfGroup(const std::string& group, const QueuedPods& pods, bool has_workload);

// An object that stands for the group, with what its oldest pod says of its queue. REQUIRES: there is one.
std::shared_ptr<const model::Object> GroupObject(const std::string& group, const QueuedPods& pods);
// The replica of a LeaderWorkerSet as an object of its own.
std::shared_ptr<const model::Object> ReplicaObject(const model::Object& set, const std::string& replica);
// Returns the set of such a replica, under its own UID, to be written; another object is returned as it is.
std::shared_ptr<const model::Object> WholeObject(const std::shared_ptr<const model::Object>& replica);

// The pod sets of a pod alone ("main"), or of a group, one for each role, sorted by name; and the same as a Workload
// has them.
struct SetsOfPods {
  std::vector<PodSet> sets;
  base::Json json = base::Json::array();
};
SetsOfPods SetsOfPod(const QueuedPod& pod);
SetsOfPods SetsOfGroup(const GroupTerms& terms, const QueuedPods& pods);

std::optional<JobEnd> EndOfPod(const QueuedPod& pod);
std::optional<JobEnd> EndOfGroup(const GroupTerms& terms, const QueuedPods& pods);

// Of each set's pods, those that are too many, the youngest; by name. Of those that are held where some are.
std::vector<std::string> ExcessOf(const std::map<std::string, int64_t>& counts, const QueuedPods& pods);
// Tells whether the pod is held, and none of the sets is for it.
bool IsStranger(const QueuedPod& pod, const std::vector<PodSet>& sets);
// How many pods the sets lack.
int64_t AbsentOf(const std::map<std::string, int64_t>& counts, const QueuedPods& pods);

// The pod's body once it is let go: without the gate, and with what is granted.
base::Json StartedPod(const PodSetGrant& grant, base::Json body);

// The body of a Deployment, StatefulSet or LeaderWorkerSet with what its templates need, so that their pods wait for
// quota. Null: they have it, or there are no templates.
base::Json MarkedTemplates(const model::Object& object);
// Tells whether none of the object's pods is ready or available, by its status.
bool HasNoReadyPods(const model::Object& object);

}  // namespace tutti::dialects::kueue
