// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/desired_pods.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/queue_status.h"
#include "dialects/pod_groups.h"

namespace tutti::dialects::kueue {

using base::Json;
using cluster::DesiredObject;

namespace {

const Json& MetadataOf(const model::Object& object) { return Field(*object.body, "metadata"); }

class Wishes {
 public:
  Wishes(const Entry& entry, const PodsTurn& turn, std::vector<DesiredObject>* out)
      : entry_(entry), turn_(turn), out_(out) {}

  void All() {
    std::set<std::string> excess;
    if (entry_.is_group() && entry_.job_problem.empty())
      for (std::string& name : ExcessOf(entry_.Counts(), entry_.pods)) excess.insert(std::move(name));
    const bool some_stay = std::ranges::any_of(entry_.pods, [](const auto& item) { return !item.second.deleting(); });
    const bool lacks = entry_.AbsentPods().value_or(0) > 0;
    std::map<std::string, int64_t> open = entry_.Counts();
    for (const auto& [name, pod] : entry_.pods)
      if (pod.started && pod.counts()) --open[pod.role];
    for (const auto& [name, pod] : entry_.pods) {
      if (HasFinalizer(*pod.object, kManaged) && !NeedsFinalizer(pod, some_stay, lacks)) {
        out_->push_back(WithoutFinalizer(pod.object, kManaged));
      } else if (pod.deleting() || pod.ended) {
        continue;
      } else if (excess.contains(name)) {
        Gone(pod);
      } else if (turn_.step == PodsTurn::Step::kStart && pod.held() && open[pod.role] > 0) {
        if (Start(pod)) --open[pod.role];
      } else if (turn_.step == PodsTurn::Step::kStop && pod.started) {
        Stop(pod);
      } else if (pod.held() && !entry_.read.finished && MayBeMarked(pod)) {
        Mark(pod);
      }
    }
  }

 private:
  // A pod that has ended, or has to leave, counts until its group has ended or another has come for it.
  bool NeedsFinalizer(const QueuedPod& pod, bool some_stay, bool lacks) const {
    if (entry_.read.finished) return false;
    if (!pod.deleting()) return true;
    if (!entry_.is_group() || !entry_.workload || entry_.workload->meta.deleting()) return false;
    if (pod.succeeded) return some_stay;
    return pod.leaves && lacks && entry_.read.active;
  }

  bool MayBeMarked(const QueuedPod& pod) const {
    const std::string* parent = model::Find(pod.object->meta.annotations, kParent);
    return !parent && (!model::Find(pod.object->meta.labels, kManaged) || !HasFinalizer(*pod.object, kManaged));
  }

  void Change(const QueuedPod& pod, const Json& wanted) {
    Json change = MergeBetween(*pod.object->body, wanted);
    if (!change.empty()) out_->push_back(WithFields(pod.object, std::move(change)));
  }

  // It was made without what Kueue's pods have.
  void Mark(const QueuedPod& pod) {
    Json wanted = *pod.object->body;
    Json& meta = wanted["metadata"];
    meta["labels"][std::string(kManaged)] = "true";
    if (!HasFinalizer(*pod.object, kManaged)) {
      if (!meta["finalizers"].is_array()) meta["finalizers"] = Json::array();
      meta["finalizers"].push_back(kManaged);
    }
    Change(pod, wanted);
  }

  bool Start(const QueuedPod& pod) {
    const auto grant = std::ranges::find(turn_.grants, pod.role, &PodSetGrant::name);
    if (grant == turn_.grants.end()) return false;
    Change(pod, StartedPod(*grant, *pod.object->body));
    return true;
  }

  // It is told why first.
  void Stop(const QueuedPod& pod) {
    if (pod.leaves) return Gone(pod);
    Json condition = {{"type", kTerminationTarget},
                      {"status", "True"},
                      {"reason", turn_.reason},
                      {"message", turn_.message},
                      {"lastTransitionTime", base::FormatTime(turn_.now_ms)}};
    out_->push_back(WithStatus(pod.object, {{"conditions", Json::array({std::move(condition)})}}, HasConditions,
                               cluster::Patch::Type::kStrategic));
  }

  void Gone(const QueuedPod& pod) {
    out_->push_back({.ref = cluster::RefOf(pod.object), .mode = DesiredObject::Mode::kGone, .seen = pod.object});
  }

  // Whether the object has the conditions of the fields, whatever their times.
  static bool HasConditions(const Json& fields, const Json& object) {
    const Json& there = Field(Field(object, "status"), "conditions");
    return std::ranges::all_of(ListIn(Field(fields, "status"), "conditions"), [&](const Json& each) {
      const Json* same = FindTrue(there, TextIn(each, "type"));
      return same && Field(*same, "reason") == Field(each, "reason");
    });
  }

  const Entry& entry_;
  const PodsTurn& turn_;
  std::vector<DesiredObject>* out_;
};

}  // namespace

void DesirePods(const Entry& entry, const PodsTurn& turn, std::vector<DesiredObject>* out) {
  if (entry.job && entry.by_pods() && !entry.job->meta.deleting() && entry.kind->pods != PodOwner::kItself &&
      !entry.is_group()) {
    const Json marked = MarkedTemplates(*entry.job);
    if (!marked.is_null()) {
      out->push_back(WithFields(WholeObject(entry.job), MergeBetween(*entry.job->body, marked)));
      return;
    }
  }
  Wishes(entry, turn, out).All();
}

void NameAsGroups(const Entry& entry, Json* meta) {
  if (entry.kind->pods == PodOwner::kItself) return;
  (*meta)["annotations"][std::string(kIsOfGroup)] = "true";
  if (!entry.is_group()) return;
  meta->erase("labels");
  Json owners = Json::array();
  for (const auto& [name, pod] : entry.pods)
    if (pod.counts()) owners.push_back(OwnerReferenceTo(*pod.object));
  (*meta)["ownerReferences"] = std::move(owners);
}

Json MissingOwners(const Entry& entry) {
  if (!entry.is_group() || !entry.workload || entry.workload->meta.deleting() || entry.read.finished) return nullptr;
  const Json& known = ListIn(MetadataOf(*entry.workload), "ownerReferences");
  std::set<std::string_view> uids;
  for (const Json& owner : known)
    if (const Json& uid = Field(owner, "uid"); uid.is_string()) uids.insert(uid.get_ref<const std::string&>());
  Json owners;
  for (const auto& [name, pod] : entry.pods) {
    if (!pod.counts() || uids.contains(pod.object->meta.uid)) continue;
    if (owners.is_null()) owners = known.is_array() ? known : Json::array();
    owners.push_back(OwnerReferenceTo(*pod.object));
  }
  return owners;
}

}  // namespace tutti::dialects::kueue
