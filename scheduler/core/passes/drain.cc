// SPDX-License-Identifier: Apache-2.0
#include "core/passes/drain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/planted.h"
#include "core/gangs/ends.h"
#include "core/gangs/evidence.h"
#include "model/field_counts.h"

namespace tutti::core {

using framework::Wake;
using model::GangId;
using model::Pod;
using model::PodId;

namespace {

// Tells whether a known pod differs in something that can change what its gang may do: in anything but what is left out
// here. What dialects read of its metadata is compared by SameMetadata; its claims never change.
bool Matters(const Pod& before, const Pod& after) {
  return before.meta.deleting() != after.meta.deleting() ||
         !model::SameBut(before, after, &Pod::meta, &Pod::scheduling_group, &Pod::claims, &Pod::scheduled,
                         &Pod::nominated_node, &Pod::started_ms, &Pod::run_limit_ms, &Pod::undo_begun, &Pod::preempted);
}

void Warn(const model::Object& object, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems)
    base::LogWarn("an object has a field that cannot be read",
                  {{"kind", object.kind}, {"object", object.meta.ns + "/" + object.meta.name}, {"problem", problem}});
}

}  // namespace

Drain::Drain(const Options& options, cluster::ClusterState& state, const dialects::DialectList& dialects,
             Queues& queues, QueueWaits& queue_waits, QuotaDesk& quota_desk, Rankings& rankings, GangBook& book,
             Agenda& agenda, Charges& charges, Certificates& certificates, Outbox& outbox, ExtenderDesk& extender_desk,
             Committer& committer, PodStatus& pod_status, ObjectKeeper& keeper, QueueStatus& queue_status,
             Enrollment& enrollment, RunLengths& lengths, const base::Clock& clock)
    : state_(state),
      dialects_(dialects),
      queues_(queues),
      queue_waits_(queue_waits),
      quota_desk_(quota_desk),
      rankings_(rankings),
      book_(book),
      agenda_(agenda),
      charges_(charges),
      certificates_(certificates),
      outbox_(outbox),
      extender_desk_(extender_desk),
      committer_(committer),
      pod_status_(pod_status),
      keeper_(keeper),
      queue_status_(queue_status),
      enrollment_(enrollment),
      lengths_(lengths),
      clock_(clock) {
  for (const model::ObjectKind* kind : {&cluster::PodKind(), &cluster::NodeKind()}) unsynced_.insert(kinds_.Add(*kind));
  HandleKinds(options);
}

void Drain::HandleKinds(const Options& options) {
  HandleStorage();
  Handle(cluster::NamespaceKind(),
         {.changed =
              [this](const auto& event) {
                FollowNamespace(state_.planning().namespaces().Put(event.object->meta.name, event.object->meta.labels));
              },
          .gone = [this](const auto& event) { FollowNamespace(state_.planning().namespaces().Drop(event.name)); }});
  if (std::ranges::any_of(options.profiles, &framework::Profile::ReadsSelections)) HandleSelections();
  if (std::ranges::any_of(options.profiles, [](const auto& profile) { return profile.preemption.has_value(); }))
    Handle(cluster::Budgets::Kind(),
           {.changed = [this](const auto& event) { PutBudget(*event.object); },
            .gone = [this](const auto& event) { state_.budgets().Drop(event.ns, event.name); }});
  needed_ = unsynced_;
  for (const auto& dialect : dialects_) HandleDialect(*dialect);
}

void Drain::HandleStorage() {
  for (const model::ObjectKind& kind : cluster::StorageKinds())
    Handle(kind, {.changed = [this](const auto& event) { PutStorage(*event.object); },
                  .gone =
                      [this, &kind](const auto& event) {
                        FollowStorage(state_.DropStorage(kind.resource, event.ns, event.name));
                      }});
}

void Drain::HandleSelections() {
  for (const model::ObjectKind& kind : cluster::SelectionKinds())
    Handle(kind, {.changed = nullptr,  // a SelectionChanged carries it
                  .gone = [this, selection = *cluster::FindSelectionKind(kind.Name())](const auto& event) {
                    FollowSelection(event.ns, state_.DropSelection(selection, event.ns, event.name));
                  }});
}

void Drain::HandleDialect(dialects::Dialect& dialect) {
  for (const model::ObjectKind& kind : dialect.Kinds())
    Handle(kind, {.changed =
                      [this, &dialect](const auto& event) {
                        dialects::Touched touched;
                        dialect.Put(event.object, &touched);
                        Follow(dialect, touched);
                      },
                  .gone =
                      [this, &dialect](const auto& event) {
                        dialects::Touched touched;
                        dialect.Drop(event.kind_name, event.ns, event.name, &touched);
                        Follow(dialect, touched);
                      }});
}

void Drain::Handle(const model::ObjectKind& kind, Handler handler) {
  const cluster::KindId id = kinds_.Add(kind);
  unsynced_.insert(id);
  handlers_.resize(kinds_.size());
  handlers_[id.index()].push_back(std::move(handler));
}

std::vector<model::ObjectKind> Drain::Kinds() const {
  std::vector<model::ObjectKind> kinds;
  for (uint32_t id = 0; id < handlers_.size(); ++id)
    if (!handlers_[id].empty()) kinds.push_back(kinds_.at(cluster::KindId(id)));
  return kinds;
}

void Drain::Apply(const cluster::PodChanged& event) {
  auto change = state_.ApplyPod(event.pod);
  if (change.replaced) {
    enrollment_.Drop(change.replaced);
    change = state_.ApplyPod(event.pod);
  }
  const Pod& pod = *event.pod;
  const bool was_there = change.before != nullptr;
  if (pod.bound() && (!was_there || !change.before->bound())) happened_ = happened_ | Wake::kPodPlaced;
  if (pod.occupies() && (!was_there || !change.before->occupies() || change.before->spec != pod.spec))
    if (const model::NodeId node = state_.snapshot().FindNode(pod.node_name))
      committer_.nodes().OnRoomTaken(node, change.id);
  if (was_there && change.before->occupies() && !pod.occupies()) committer_.evictor().OnEnded(change.id);
  if (!rankings_.Serves(pod.spec->scheduler_name)) return enrollment_.NoteStranger(change.id, change.before.get());
  if (was_there && change.before->occupies() && pod.phase == model::PodPhase::kSucceeded) NoteRun(change.id);

  if (!was_there || !SameMetadata(*change.before, pod) || (book_.Settled(change.id) && Matters(*change.before, pod)))
    enrollment_.Rejoin(change.id);
  const GangId id = book_.GangOf(change.id);
  if (!id) return;
  const bool as_planned = committer_.OnPodChanged(id, change.id);
  if (was_there && !change.before->scheduling_gates.empty() && pod.scheduling_gates.empty())
    book_.MemberOf(change.id).free_ms = clock_.WallMs();
  if (was_there && change.before->scheduled != pod.scheduled) pod_status_.OnCondition(book_.MemberOf(change.id));
  Gang& gang = book_.at(id);
  charges_.Update(gang, book_.MemberOf(change.id));
  if (!as_planned && (!was_there || Matters(*change.before, pod) || gang.plan)) agenda_.MarkReady(id);
  agenda_.Touch(id);
}

void Drain::NoteRun(PodId id) {
  const Pod& pod = *state_.pod(id).pod;
  if (pod.started_ms <= 0) return;
  const base::Millis took_ms = std::max<base::Millis>(0, clock_.WallMs() - pod.started_ms);
  if (const GangId of = book_.GangOf(id)) {
    const Gang& gang = book_.at(of);
    lengths_.Note(ShapeOf(gang.key.dialect, &gang.spec, book_.MemberOf(id).role, pod), gang.key, took_ms);
  } else if (book_.Settled(id)) {
    const model::GangKey key = book_.KeyOfSettled(id);
    lengths_.Note(ShapeOf(key.dialect, nullptr, "", pod), key, took_ms);
  }
}

// Drops whichever pod has this name: the mailbox coalesces, so of pods that came and went one after the other only the
// last is told of.
void Drain::Apply(const cluster::PodGone& event) {
  if (const PodId id = state_.FindPod(event.ns, event.name)) enrollment_.Drop(id);
}

void Drain::Apply(const cluster::NodeChanged& event) { PutNode(event.node); }

void Drain::PutNode(const std::shared_ptr<const model::Node>& node) {
  const auto change = state_.ApplyNode(Labelled(node));
  if (!change.before || change.before->allocatable != node->allocatable) {
    if (change.before) queues_.RemoveNode(change.before->allocatable);
    queues_.AddNode(node->allocatable);
  }
  if (!change.before) {
    for (const PodId pod : state_.pods_on(change.id))  // they were bound there before it came
      if (const GangId id = book_.GangOf(pod)) book_.at(id).census.reset();
    committer_.nodes().OnNodeCame(change.id);
    happened_ = happened_ | Wake::kNodeAdded;
    return;
  }
  const model::Node& before = *change.before;
  const model::Node& after = *state_.snapshot().node(change.id).node;
  framework::Wake changed = Wake::kNothing;
  if (before.allocatable != after.allocatable) changed = changed | Wake::kNodeCapacity;
  if (before.meta.labels != after.meta.labels) changed = changed | Wake::kNodeLabels;
  if (before.taints != after.taints || before.unschedulable != after.unschedulable)
    changed = changed | Wake::kNodeTaints;
  if (framework::Any(changed)) committer_.nodes().OnNodeChanged(change.id);
  happened_ = happened_ | changed;
}

// With the labels that dialects add, in place of those they added before.
std::shared_ptr<const model::Node> Drain::Labelled(const std::shared_ptr<const model::Node>& node) {
  const auto added = [](const auto& label) { return std::ranges::count(label.first, '/') > 1; };
  model::StringMap now;
  for (const auto& dialect : dialects_) {
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

void Drain::Apply(const cluster::NodeGone& event) {
  const model::NodeId node = state_.snapshot().FindNode(event.name);
  if (!node) return;
  queues_.RemoveNode(state_.snapshot().node(node).node->allocatable);
  committer_.nodes().OnNodeGone(node);
  for (const PodId pod : state_.pods_on(node))
    if (const GangId id = book_.GangOf(pod)) {
      book_.at(id).census.reset();
      agenda_.MarkReady(id);
      agenda_.Touch(id);
    }
  for (const auto& dialect : dialects_) dialect->DropNode(event.name);
  state_.DropNode(event.name);
  happened_ = happened_ | Wake::kNodeAdded;  // "0/N nodes" is another N now
}

void Drain::Apply(const cluster::ObjectChanged& event) {
  const cluster::KindId kind = kinds_.Find(event.object->group, event.object->resource, event.object->labelled);
  if (!kind) return;
  for (const Handler& handler : handlers_[kind.index()])
    if (handler.changed) handler.changed(event);
  keeper_.Saw(event.object);
}

void Drain::Apply(const cluster::ObjectGone& event) {
  const cluster::KindId kind = kinds_.FindByName(event.kind_name);
  if (!kind) return;
  for (const Handler& handler : handlers_[kind.index()]) handler.gone(event);
  keeper_.Gone(kinds_.at(kind), event.ns, event.name, event.uid);
}

void Drain::FollowNamespace(bool changed) {
  if (changed) happened_ = happened_ | Wake::kPodPlaced;
}

// Pods that are selected in that namespace are tried again, and no others: rollouts change selections all the time.
void Drain::FollowSelection(const std::string& ns, bool changed) {
  if (!changed) return;
  enrollment_.OnSelectionsChanged();
  certificates_.EndThoseSelectedIn(state_.snapshot().symbols().Intern(ns));
  happened_ = happened_ | Wake::kSelection;
}

void Drain::Apply(const cluster::SelectionChanged& event) {
  FollowSelection(event.selection->ns, state_.ApplySelection(*event.selection));
}

void Drain::PutStorage(const model::Object& object) {
  std::vector<std::string> problems;
  FollowStorage(state_.ApplyStorage(object, &problems));
  Warn(object, problems);
}

// It changes what is evicted, and never whether it helps.
void Drain::PutBudget(const model::Object& object) {
  std::vector<std::string> problems;
  state_.budgets().Put(object, &problems);
  if (std::string why = cluster::Budgets::WhyUseless(object); problems.empty() && !why.empty())
    problems.push_back(std::move(why));
  Warn(object, problems);
}

// A claim concerns the gangs of the pods that use it; any other object, the gangs that wait for its kind.
void Drain::FollowStorage(const cluster::Storage::Applied& applied) {
  using Change = cluster::Storage::Change;
  if (applied.change == Change::kVolume) {
    happened_ = happened_ | Wake::kVolume;
    committer_.WakeUnprepared();
  }
  if (applied.change == Change::kDriver) happened_ = happened_ | Wake::kDriver;
  if (applied.claim.empty()) return;
  const std::vector<PodId> users = state_.UsersOf(applied.claim);
  if (!users.empty()) certificates_.EndThoseWithVolumes();
  for (const PodId pod : users)
    if (const GangId id = book_.GangOf(pod); id && !state_.pod(pod).pod->bound()) agenda_.MarkReady(id);
}

void Drain::Apply(const cluster::KindSynced& event) {
  if (const cluster::KindId kind = kinds_.FindByName(event.kind_name)) {
    unsynced_.erase(kind);
    if (unreadable_.erase(kind) > 0) {
      SetUnreadable(event.kind_name, "");
      happened_ = happened_ | Wake::kAll;
    }
  }
  TellServed(event.kind_name, event.served);
}

void Drain::TellServed(const std::string& kind_name, bool served) {
  for (const auto& dialect : dialects_) {
    dialects::Touched touched;
    dialect->Served(kind_name, served, &touched);
    Follow(*dialect, touched);
  }
}

void Drain::FollowQueues(const dialects::Dialect& dialect, const std::set<std::string>& names) {
  const uint64_t declared = queues_.tree().version();
  for (const std::string& name : names) {
    const queue::QueueKey key{std::string(dialect.name()), name};
    const uint64_t before = queues_.tree().version();
    if (auto spec = dialect.DescribeQueue(name))
      queues_.Put(std::move(*spec));
    else
      queues_.Drop(key);
    queue_status_.Mark(key);
    if (queues_.tree().version() == before) continue;
    queue_waits_.OnQueueChanged(key);
    happened_ = happened_ | Wake::kQueue;
  }
  if (queues_.tree().version() != declared) committer_.queues().OnQueuesChanged();
}

void Drain::Follow(dialects::Dialect& dialect, const dialects::Touched& touched) {
  FollowQueues(dialect, touched.queues);
  quota_desk_.Note(dialect, touched);
  std::set<model::GangKey> gangs = touched.gangs;
  if (touched.declarations)
    book_.ForEach([&](GangId, const Gang& gang) {
      if (gang.dialect == &dialect || gang.spec.queue_dialect == dialect.name()) gangs.insert(gang.key);
    });
  for (const model::GangKey& key : gangs) {
    GangId id = book_.Find(key);
    const bool keeps = book_.Keeps(id ? *book_.at(id).dialect : dialect, key);
    if (!id && keeps) id = book_.Open(&dialect, key);
    if (!id) continue;
    Gang& gang = book_.at(id);
    const QueueKeys queues = gang.charged_to;
    const std::string uid = gang.spec.uid;  // what another object declares has none of the last one's places
    if (book_.Describe(id)) {
      const bool another = gang.spec.uid != uid && gang.promises == std::ssize(gang.members) && !gang.quota;
      if (another && committer_.Abort(id)) book_.SetState(gang, observe::GangState::kWaitingForMembers);
      quota_desk_.Note(id);
      book_.RenewFigures(gang);
      agenda_.OnDescribed(id);
      for (const queue::QueueKey& queue : queues) queue_status_.MarkPath(queue);
      charges_.Move(gang);
      committer_.queues().OnMoved(id);
      agenda_.MarkReady(id);
    }
    if (gang.members.empty() && !keeps) {
      enrollment_.Close(id);
      continue;
    }
    GangStatus::Invalidate(gang);  // what the dialect desires may depend on the object
    agenda_.Touch(id);
  }
  for (const model::GangKey& key : touched.members) {
    std::vector<PodId> pods;
    if (const GangId id = book_.Find(key))
      for (const Member* member : book_.at(id).members) pods.push_back(member->pod);
    for (const PodId pod : pods) enrollment_.Rejoin(pod);
  }
  for (const model::GangKey& key : touched.desires)
    if (const GangId id = book_.Find(key)) {
      GangStatus::Invalidate(book_.at(id));
      agenda_.Touch(id);
    }
  relabel_ = relabel_ || touched.nodes;
  if (touched.memberships)
    for (uint32_t slot = 0; slot < state_.pod_slots(); ++slot)
      if (const PodId pod(slot); state_.pod(pod).pod && rankings_.Serves(state_.pod(pod).pod->spec->scheduler_name))
        enrollment_.Rejoin(pod);
}

void Drain::RelabelNodes() {
  while (std::exchange(relabel_, false))
    for (uint32_t slot = 0; slot < state_.snapshot().slots(); ++slot)
      if (const model::NodeId n(slot); state_.snapshot().present(n)) {
        const auto node = state_.snapshot().node(n).node;
        if (Labelled(node) != node) PutNode(node);
      }
}

void Drain::Apply(const cluster::Leadership& event) {
  agenda_.SetSpeaking(event.leading);
  if (std::exchange(leading_, event.leading) || !leading_) return;
  committer_.StartTerm();
  keeper_.StartTerm();
  quota_desk_.StartTerm();
  plan_after_ms_ = event.plan_after_ms;
  book_.ForEach([this](GangId id, Gang& gang) {
    // Another replica may have written since: what bound members say counts, not what is remembered.
    if (!gang.plan) Plans::ForgetWhole(gang);
    for (Member* member : gang.members) PodStatus::StartTerm(*member);
    GangStatus::StartTerm(gang);
    agenda_.MarkReady(id);
    agenda_.Touch(id);
    queue_status_.Mark(QueueOf(gang));
  });
}

void Drain::Apply(const cluster::CommandReply& event) { outbox_.Deliver(event); }

// Plain pods, and all other gangs, do not wait for a kind that only some dialects read. What these would do cannot be
// known, so nothing is decided of their gangs until the list comes: after a restart that is as if the lists of all had
// come later (P3).
void Drain::Apply(const cluster::KindUnreadable& event) {
  const cluster::KindId kind = kinds_.FindByName(event.kind_name);
  if (!kind) return;
  unreadable_[kind] = event.why;
  if (needed_.contains(kind)) return;
  unsynced_.erase(kind);
  SetUnreadable(event.kind_name, event.why);
  TellServed(event.kind_name, true);
}

void Drain::SetUnreadable(const std::string& kind_name, const std::string& why) {
  for (const auto& dialect : dialects_) {
    const auto& kinds = dialect->Kinds();
    if (std::ranges::find(kinds, kind_name, &model::ObjectKind::Name) == kinds.end()) continue;
    dialect->SetUnreadable(kind_name, why);
    dialects::Touched touched;
    touched.declarations = true;
    Follow(*dialect, touched);
  }
}

std::string Drain::WhyNotSynced() const {
  std::string text;
  for (const cluster::KindId kind : unsynced_) {
    text += text.empty() ? "not listed yet: " : ", ";
    text += kinds_.at(kind).Name();
    if (const auto why = unreadable_.find(kind); why != unreadable_.end()) text += " (" + why->second + ")";
  }
  return text;
}

void Drain::Apply(const cluster::CommandDelayed& event) { outbox_.Delay(event.id); }

void Drain::Apply(const cluster::ExtenderReply& event) { extender_desk_.OnReply(event); }

bool Drain::MayDecide() const {
  return (synced() || base::Planted(base::Bug::kPlanUnsynced)) && leading_ && clock_.MonotonicMs() >= plan_after_ms_;
}

}  // namespace tutti::core
