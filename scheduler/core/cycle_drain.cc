// SPDX-License-Identifier: Apache-2.0
// Drain: what each event changes, and whom it wakes.
#include <algorithm>

#include "base/log.h"
#include "core/cycle.h"
#include "core/evidence.h"

namespace tutti::core {

using framework::Wake;
using model::GangId;
using model::Pod;
using model::PodId;

namespace {

// Differences of a known pod that can change what its gang may do; its conditions are not among them.
bool Matters(const Pod& before, const Pod& after) {
  return before.spec != after.spec || before.node_name != after.node_name || before.phase != after.phase ||
         before.meta.deleting() != after.meta.deleting() || before.scheduling_gates != after.scheduling_gates ||
         before.bound_ms != after.bound_ms;
}

// Of what dialects read.
bool SameMetadata(const Pod& before, const Pod& after) {
  return before.meta.labels == after.meta.labels && before.scheduling_group == after.scheduling_group &&
         SameButForEvidence(before.meta.annotations, after.meta.annotations);
}

}  // namespace

void Cycle::Apply(const cluster::PodChanged& event) {
  auto change = state.ApplyPod(event.pod);
  if (change.replaced) {
    DropPod(change.replaced);
    change = state.ApplyPod(event.pod);
  }
  const Pod& pod = *event.pod;
  const bool was_there = change.before != nullptr;
  if (pod.bound() && (!was_there || !change.before->bound())) happened_ = happened_ | Wake::kPodPlaced;
  if (pod.occupies() && (!was_there || !change.before->occupies() || change.before->spec != pod.spec))
    if (const model::NodeId node = state.snapshot().FindNode(pod.node_name)) committer.OnRoomTaken(node, change.id);
  if (!rankings.Serves(pod.spec->scheduler_name)) return NoteStranger(change.id, change.before.get());

  if (!was_there || !SameMetadata(*change.before, pod) || (book.Settled(change.id) && Matters(*change.before, pod)))
    Rejoin(change.id);
  const GangId id = book.GangOf(change.id);
  if (!id) return;
  const bool as_planned = committer.OnPodChanged(id, change.id);
  if (was_there && !change.before->scheduling_gates.empty() && pod.scheduling_gates.empty())
    book.MemberOf(change.id).free_ms = clock.WallMs();
  if (was_there && change.before->scheduled != pod.scheduled) publisher.OnCondition(book.MemberOf(change.id));
  Gang& gang = book.at(id);
  charges.Update(gang, book.MemberOf(change.id));
  if (!as_planned && (!was_there || Matters(*change.before, pod) || gang.plan)) book.MarkReady(id);
  Touch(id);
}

void Cycle::Rejoin(PodId pod) {
  if (committer.OnItsWay(pod) && !book.Stays(pod)) {
    moving_.insert(pod);
    return;
  }
  const GangId before = book.GangOf(pod);
  const GangId after = book.Join(pod);
  if (after) {
    Gang& gang = book.at(after);
    charges.Move(gang);
    charges.Update(gang, book.MemberOf(pod));
  }
  if (before == after) {
    if (after) book.MarkReady(after);  // it may ask for another topology now
    return;
  }
  if (before && book.at(before).dialect) {
    book.MarkReady(before);
    Touch(before);
  }
  if (!after) return;
  Gang& gang = book.at(after);
  gang.joined_ms = clock.MonotonicMs();
  if (gang.members.size() == 1) gang.selections = selections_;
  book.MarkReady(after);
}

void Cycle::NoteStranger(PodId id, const Pod* before) {
  const Pod& pod = *state.pod(id).pod;
  if (before && before->done() == pod.done() && before->spec == pod.spec && SameMetadata(*before, pod)) return;
  std::optional<Strangers::Name> name;
  if (!pod.done())
    for (const auto& dialect : dialects)
      if (const auto membership = dialect->MembershipOf(pod)) {
        if (!membership->lone) name = {membership->gang, pod.spec->scheduler_name};
        break;
      }
  const std::optional<Strangers::Name> was = strangers.Put(id, name);
  for (const auto& each : {was, name})
    if (const GangId gang = each ? book.Find(each->gang) : GangId()) book.MarkReady(gang);
}

void Cycle::DropPod(PodId id) {
  if (const auto was = strangers.Put(id, std::nullopt))
    if (const GangId gang = book.Find(was->gang)) book.MarkReady(gang);
  const GangId gang = book.GangOf(id);
  if (gang) MarkQueues(book.at(gang).key.dialect, book.at(gang).charged_queue, book.at(gang).dialect);
  moving_.erase(id);
  book.Leave(id);
  if (gang && book.at(gang).dialect) {
    if (book.at(gang).whole) book.at(gang).joined_ms = clock.MonotonicMs();  // who replaces it may be about to come
    book.MarkReady(gang);
    Touch(gang);
  }
  state.DropPod(id);
}

// Whoever has the name: of pods that came and went one after the other, only the last is told of.
void Cycle::Apply(const cluster::PodGone& event) {
  if (const PodId id = state.FindPod(event.ns, event.name)) DropPod(id);
}

void Cycle::Apply(const cluster::NodeChanged& event) { PutNode(event.node); }

void Cycle::PutNode(const std::shared_ptr<const model::Node>& node) {
  const auto change = state.ApplyNode(Labelled(node));
  if (!change.before) {
    committer.OnNodeCame(change.id);
    happened_ = happened_ | Wake::kNodeAdded;
    return;
  }
  const model::Node& before = *change.before;
  const model::Node& after = *state.snapshot().node(change.id).node;
  framework::Wake changed = Wake::kNothing;
  if (before.allocatable != after.allocatable) changed = changed | Wake::kNodeCapacity;
  if (before.meta.labels != after.meta.labels) changed = changed | Wake::kNodeLabels;
  if (before.taints != after.taints || before.unschedulable != after.unschedulable)
    changed = changed | Wake::kNodeTaints;
  if (framework::Any(changed)) committer.OnNodeChanged(change.id);
  happened_ = happened_ | changed;
}

// With the labels that dialects add, in place of those they added before.
std::shared_ptr<const model::Node> Cycle::Labelled(const std::shared_ptr<const model::Node>& node) {
  const auto added = [](const auto& label) { return std::ranges::count(label.first, '/') > 1; };
  model::StringMap now;
  for (const auto& dialect : dialects) {
    dialects::Touched touched;
    dialect->AddNodeLabels(*node, &now, &touched);
    if (touched.nodes) Follow(*dialect, touched);
  }
  if (now.empty() && std::ranges::none_of(node->meta.labels, added)) return node;  // as with every heartbeat
  model::StringMap labels = node->meta.labels;
  std::erase_if(labels, added);
  labels.insert(labels.end(), now.begin(), now.end());
  std::ranges::sort(labels);
  if (labels == node->meta.labels) return node;
  auto copy = std::make_shared<model::Node>(*node);
  copy->meta.labels = std::move(labels);
  return copy;
}

void Cycle::Apply(const cluster::NodeGone& event) {
  const model::NodeId node = state.snapshot().FindNode(event.name);
  if (!node) return;
  committer.OnNodeGone(node);
  for (const PodId pod : state.PodsOn(event.name))
    if (const GangId id = book.GangOf(pod)) {
      book.MarkReady(id);
      Touch(id);
    }
  state.DropNode(event.name);
  happened_ = happened_ | Wake::kNodeAdded;  // "0/N nodes" is another N now
}

const model::ObjectKind& Cycle::NamespaceKind() {
  static const model::ObjectKind kind{"", "namespaces", "Namespace", {"v1"}};
  return kind;
}

void Cycle::Apply(const cluster::ObjectChanged& event) {
  if (cluster::IsStorageKind(event.object->group, event.object->resource)) {
    std::vector<std::string> problems;
    FollowStorage(state.ApplyStorage(*event.object, &problems));
    for (const std::string& problem : problems)
      base::LogWarn("an object has a field that cannot be read",
                    {{"kind", event.object->kind},
                     {"object", event.object->meta.ns + "/" + event.object->meta.name},
                     {"problem", problem}});
    return;
  }
  if (event.object->group.empty() && event.object->resource == NamespaceKind().resource) {
    if (state.planning().PutNamespace(event.object->meta.name, event.object->meta.labels))
      happened_ = happened_ | Wake::kPodPlaced;
    return;
  }
  for (const auto& dialect : dialects)
    for (const model::ObjectKind& kind : dialect->Kinds())
      if (kind.group == event.object->group && kind.resource == event.object->resource) {
        dialects::Touched touched;
        dialect->Put(event.object, &touched);
        Follow(*dialect, touched);
      }
}

// Pods that are selected in that namespace are tried again, and no others: rollouts change selections all the time.
void Cycle::FollowSelection(const std::string& ns, bool changed) {
  if (!changed) return;
  ++selections_;
  certificates.EndThoseSelectedIn(state.snapshot().symbols().Intern(ns));
  happened_ = happened_ | Wake::kSelection;
}

void Cycle::Apply(const cluster::SelectionChanged& event) {
  FollowSelection(event.selection->ns, state.ApplySelection(*event.selection));
}

void Cycle::Apply(const cluster::ObjectGone& event) {
  if (const auto kind = cluster::FindSelectionKind(event.kind_name)) {
    return FollowSelection(event.ns, state.DropSelection(*kind, event.ns, event.name));
  }
  for (const model::ObjectKind& kind : cluster::StorageKinds())
    if (kind.Name() == event.kind_name) return FollowStorage(state.DropStorage(kind.resource, event.ns, event.name));
  if (event.kind_name == NamespaceKind().Name()) {
    if (state.planning().DropNamespace(event.name)) happened_ = happened_ | Wake::kPodPlaced;
    return;
  }
  for (const auto& dialect : dialects)
    for (const model::ObjectKind& kind : dialect->Kinds())
      if (kind.Name() == event.kind_name) {
        dialects::Touched touched;
        dialect->Drop(event.kind_name, event.ns, event.name, &touched);
        Follow(*dialect, touched);
      }
}

// A claim concerns the gangs of the pods that use it; the rest, whoever waits for such things.
void Cycle::FollowStorage(const cluster::Storage::Applied& applied) {
  using Change = cluster::Storage::Change;
  if (applied.change == Change::kVolume) {
    happened_ = happened_ | Wake::kVolume;
    committer.OnVolumeChanged();
  }
  if (applied.change == Change::kDriver) happened_ = happened_ | Wake::kDriver;
  if (applied.claim.empty()) return;
  const std::vector<PodId> users = state.UsersOf(applied.claim);
  if (!users.empty()) certificates.EndThoseWithVolumes();
  for (const PodId pod : users)
    if (const GangId id = book.GangOf(pod); id && !state.pod(pod).pod->bound()) book.MarkReady(id);
}

void Cycle::Apply(const cluster::KindSynced& event) {
  unsynced.erase(event.kind_name);
  for (const auto& dialect : dialects) {
    dialects::Touched touched;
    dialect->Served(event.kind_name, event.served, &touched);
    Follow(*dialect, touched);
  }
}

void Cycle::Follow(dialects::Dialect& dialect, const dialects::Touched& touched) {
  for (const std::string& name : touched.queues) {
    const queue::QueueKey key{std::string(dialect.name()), name};
    if (auto spec = dialect.DescribeQueue(name))
      quota.Put(std::move(*spec));
    else
      quota.Drop(key);
    dirty_queues[key].dialect = &dialect;
    happened_ = happened_ | Wake::kQueue;
  }
  for (const std::string& name : touched.queue_statuses)
    dirty_queues[{std::string(dialect.name()), name}].dialect = &dialect;
  std::set<model::GangKey> gangs = touched.gangs;
  if (touched.declarations)
    book.ForEach([&](GangId, const Gang& gang) {
      if (gang.dialect == &dialect) gangs.insert(gang.key);
    });
  for (const model::GangKey& key : gangs) {
    const bool keeps = book.Keeps(dialect, key);
    GangId id = book.Find(key);
    if (!id && keeps) id = book.Open(&dialect, key);
    if (!id) continue;
    Gang& gang = book.at(id);
    const std::string queue = gang.charged_queue;
    if (book.Describe(id)) {
      if (gang.refusal) gang.refusal->old = true;
      MarkQueues(key.dialect, queue, &dialect);
      charges.Move(gang);
      book.MarkReady(id);
    }
    if (gang.members.empty() && !keeps) {
      SetTally(gang, {});
      book.Close(id);
      continue;
    }
    gang.reported.reset();  // the object may not say any more what was written to it
    Touch(id);
  }
  for (const model::GangKey& key : touched.members) {
    std::vector<PodId> pods;
    if (const GangId id = book.Find(key))
      for (const Member* member : book.at(id).members) pods.push_back(member->pod);
    for (const PodId pod : pods) Rejoin(pod);
  }
  for (const model::GangKey& key : touched.statuses)
    if (const GangId id = book.Find(key)) {  // an earlier leader's last write may come late
      book.at(id).reported.reset();
      Touch(id);
    }
  relabel_ = relabel_ || touched.nodes;
  if (touched.memberships)
    for (uint32_t slot = 0; slot < state.pod_slots(); ++slot)
      if (const PodId pod(slot); state.pod(pod).pod && rankings.Serves(state.pod(pod).pod->spec->scheduler_name))
        Rejoin(pod);
}

void Cycle::RelabelNodes() {
  for (uint32_t slot = 0; slot < state.snapshot().slots(); ++slot)
    if (const model::NodeId n(slot); state.snapshot().present(n)) {
      const auto node = state.snapshot().node(n).node;
      if (Labelled(node) != node) PutNode(node);
    }
}

void Cycle::Apply(const cluster::Leadership& event) {
  if (!std::exchange(leading, event.leading) && leading) {
    committer.StartTerm();
    fenced_.clear();
    plan_after_ms = event.plan_after_ms;
    book.ForEach([this](GangId id, Gang& gang) {
      // Another replica may have written since: what bound members say counts, not what is remembered.
      if (!gang.plan) gang.whole = false;
      for (Member* member : gang.members) member->told_message.clear(), member->telling = member->told_version_ms = 0;
      gang.reports_on_their_way = 0;
      gang.reported.reset();
      book.MarkReady(id);
      Touch(id);
      if (!gang.spec.queue.empty()) dirty_queues[{gang.key.dialect, gang.spec.queue}].dialect = gang.dialect;
    });
  }
}

void Cycle::Apply(const cluster::Answer& event) {
  if (!committer.OnAnswer(event)) publisher.OnAnswer(event);
}

void Cycle::Apply(const cluster::ExtenderReply& event) { extender_desk.OnReply(event); }

}  // namespace tutti::core
