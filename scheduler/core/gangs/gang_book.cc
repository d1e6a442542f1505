// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/gang_book.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/planted.h"
#include "dialects/topology_annotations.h"

namespace tutti::core {

using model::GangId;
using model::MemberId;
using model::PodId;

GangBook::GangBook(const std::vector<framework::Profile>& profiles, const cluster::ClusterState& state,
                   const dialects::DialectList& dialects, observe::Journal& journal, const base::Clock& clock)
    : profiles_(profiles),
      state_(state),
      dialects_(dialects),
      journal_(journal),
      clock_(clock),
      by_key_(0, KeyHash{&gangs_}, KeyEqual{&gangs_}) {}

GangId GangBook::GangOf(PodId pod) const {
  const MemberId member = member_of(pod);
  return member ? at(member).gang : GangId();
}

Member* GangBook::Find(GangId gang, PodId pod) const {
  const MemberId member = member_of(pod);
  return member ? Find(gang, member) : nullptr;
}

Member* GangBook::Find(GangId gang, MemberId member) const {
  Member* found = members_[member.index()].get();
  return found && found->gang == gang ? found : nullptr;
}

GangBook::Written GangBook::Remember(const Member& member) const {
  return {at(member.gang).key, state_.pod(member.pod).pod, member.pod};
}

Member* GangBook::Find(const Written& written) const {
  Member* member = Find(Find(written.gang), written.slot);
  return member && state_.pod(written.slot).pod->meta.uid == written.pod->meta.uid ? member : nullptr;
}

GangId GangBook::Find(const model::GangKey& key) const {
  const auto at = by_key_.find(key);
  return at == by_key_.end() ? GangId() : *at;
}

std::optional<GangBook::Owner> GangBook::OwnerOf(PodId pod) const {
  std::optional<Owner> owner;
  for (const auto& dialect : dialects_)
    if (auto membership = dialect->MembershipOf(*state_.pod(pod).pod)) {
      owner.emplace(dialect.get(), *std::move(membership));
      break;
    }
  return owner;
}

void GangBook::RetireLonePod(PodId pod, const dialects::Dialect& dialect, base::Millis since_ms) {
  if (settled_.size() <= pod.index()) settled_.resize(pod.index() + 1);
  settled_[pod.index()] = {since_ms, state_.pod(pod).pod->done(), &dialect};
  journal_.Note(KeyOfSettled(pod));
  settled_whole_ += !settled_[pod.index()].ended;
}

void GangBook::Unsettle(PodId pod) {
  if (!Settled(pod)) return;
  journal_.Note(KeyOfSettled(pod));
  settled_whole_ -= !settled_[pod.index()].ended;
  settled_[pod.index()] = {};
}

model::GangKey GangBook::KeyOfSettled(PodId pod) const {
  const model::ObjectMeta& meta = state_.pod(pod).pod->meta;
  return {std::string(settled_[pod.index()].dialect->name()), meta.ns, meta.name};
}

PodId GangBook::FindSettled(const model::GangKey& key) const {
  const PodId pod = state_.FindPod(key.ns, key.name);
  return pod && Settled(pod) && settled_[pod.index()].dialect->name() == key.dialect ? pod : PodId();
}

bool GangBook::IsSettled(const Gang& gang) const {
  if (!gang.lone || gang.members.size() != 1 || gang.plan || gang.line.ready) return false;
  if (state_.pod(gang.members.front()->pod).leaving) return false;
  return gang.state == dialects::GangState::kWhole || gang.state == dialects::GangState::kFinished;
}

bool GangBook::Stays(PodId pod, const std::optional<Owner>& owner) const {
  const GangId id = GangOf(pod);
  return owner && id ? at(id).key == owner->membership.gang : !owner && !id;
}

GangId GangBook::Join(PodId pod, std::optional<Owner> owner) {
  const GangId old = GangOf(pod);
  TUTTI_CHECK(!old || Stays(pod, owner), "a pod leaves its gang before it joins another");
  const model::Pod& it = *state_.pod(pod).pod;
  const bool was_settled = Settled(pod);
  const Settlement before = was_settled ? settled_[pod.index()] : Settlement();
  Unsettle(pod);
  if (!owner) return {};
  dialects::Membership& membership = owner->membership;
  if (membership.lone && !old && (it.bound() || it.done())) {
    RetireLonePod(pod, *owner->dialect, was_settled && before.ended == it.done() ? before.since_ms : clock_.WallMs());
    return {};
  }
  GangId id = old ? old : Find(membership.gang);
  const bool fresh = !id;
  if (fresh) id = Open(owner->dialect, std::move(membership.gang));
  Gang& gang = at(id);
  if (gang.members.empty()) gang.lone = membership.lone;
  if (membership.declared) {
    if (gang.said != membership.declared) {
      if (gang.spec != *membership.declared) RenewFigures(gang);
      gang.spec = *membership.declared;
      gang.said = std::move(membership.declared);
      gang.declared = true;
    }
  } else if (fresh && gang.lone) {
    gang.spec.key = gang.key;
    gang.declared = true;
  } else if (fresh) {
    Describe(id);
  }
  Member& member = Enlist(id, pod);
  member.role = std::move(membership.role);
  member.head = membership.head;
  member.needs_head = membership.needs_head;
  member.held_back = membership.held;
  member.priority = membership.priority.value_or(it.spec->priority);
  member.unit = std::move(membership.unit);
  gang.census.reset();
  member.topology = membership.topology ? std::move(membership.topology) : dialects::TopologyOfPod(it, member.role);
  return id;
}

Member& GangBook::AddPromise(GangId id, const model::PromisedMembers& as, PodId pod) {
  Member& member = Enlist(id, pod);
  member.role = as.role;
  member.head = as.head;
  member.needs_head = as.needs_head;
  member.priority = as.pod->spec->priority;
  member.topology = dialects::TopologyOfPod(*as.pod, as.role);
  member.promised = true;
  member.late = as.late;
  Gang& gang = at(id);
  ++gang.promises;
  gang.census.reset();
  return member;
}

bool GangBook::Keeps(const dialects::Dialect& dialect, const model::GangKey& key) const {
  const std::string_view served_by = dialect.SchedulerName(key);
  return !served_by.empty() && framework::FindProfile(profiles_, served_by) != nullptr &&
         !base::Planted(base::Bug::kForgetDeclared);
}

GangId GangBook::Open(dialects::Dialect* dialect, model::GangKey key) {
  GangId id;
  if (free_.empty()) {
    id = GangId(static_cast<uint32_t>(gangs_.size()));
    gangs_.Add();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  at(id).key = std::move(key);
  at(id).dialect = dialect;
  by_key_.insert(id);
  return id;
}

// The pod as a member, where its age puts it.
Member& GangBook::Enlist(GangId id, PodId pod) {
  if (Member* member = Find(id, pod)) return *member;
  MemberId slot(static_cast<uint32_t>(members_.size()));
  if (free_members_.empty()) {
    members_.emplace_back();
  } else {
    slot = free_members_.back();
    free_members_.pop_back();
  }
  if (member_of_.size() <= pod.index()) member_of_.resize(pod.index() + 1);
  member_of_[pod.index()] = slot;
  members_[slot.index()] = std::make_unique<Member>();
  Member& member = at(slot);
  member.id = slot;
  member.gang = id;
  member.pod = pod;
  const auto age = [this](const Member* it) {
    const model::ObjectMeta& meta = state_.pod(it->pod).pod->meta;
    return std::tie(meta.created_ms, meta.name);
  };
  Members& all = at(id).members;
  all.insert(std::ranges::upper_bound(all, age(&member), {}, age), &member);
  return member;
}

void GangBook::Leave(PodId pod) {
  Unsettle(pod);
  const GangId id = GangOf(pod);
  if (!id) return;
  const MemberId slot = std::exchange(member_of_[pod.index()], MemberId());
  const std::unique_ptr<Member> member = std::move(members_[slot.index()]);
  free_members_.push_back(slot);
  Gang& gang = at(id);
  gang.members.erase(std::ranges::find(gang.members, member.get()));
  gang.promises -= member->promised;
  gang.census.reset();
  if (!gang.members.empty()) return;
  // Members that come next start again.
  gang.whole = gang.unproven = gang.soft = gang.resumed = false;
  gang.complete_since_ms = 0;
  gang.last_plan.clear();
}

void GangBook::Close(GangId id) {
  journal_.Note(at(id).key);
  Retract(id);
}

void GangBook::Retract(GangId id) {
  by_key_.erase(id);
  at(id) = Gang{};
  free_.push_back(id);
}

void GangBook::Audit() const {
  ForEach([this](GangId, const Gang& gang) {
    TUTTI_CHECK(!gang.census || *gang.census == TakeCensus(gang, state_),
                "what a member does changed, and its gang keeps the census from before");
  });
}

void GangBook::SetState(Gang& gang, dialects::GangState to, std::optional<Refusal> why) const {
  if (gang.state != to || gang.since_ms == 0) gang.since_ms = clock_.WallMs();
  gang.state = to;
  if (why)
    gang.refusal = *std::move(why);
  else
    gang.refusal.reset();
}

void GangBook::Refuse(Gang& gang, Refusal why) const {
  const dialects::GangState state = why.state();
  SetState(gang, state, std::move(why));
}

void GangBook::EndRefusal(Gang& gang) const { gang.refusal.reset(); }

void GangBook::RenewFigures(Gang& gang) const {
  if (gang.refusal) gang.refusal->figures_stale = true;
}

void GangBook::WakeOn(Gang& gang, framework::Wake events) const {
  gang.refusal->wakes = gang.refusal->wakes | events;
}

bool GangBook::Describe(GangId id) {
  Gang& gang = at(id);
  model::GangSpec spec = gang.dialect->Describe(gang.key);
  for (const auto& dialect : dialects_)
    if (dialect->blind() && (dialect.get() == gang.dialect || dialect->name() == spec.queue_dialect))
      spec.problem = dialect->WhyBlind();
  if (gang.declared && spec == (gang.quota ? gang.quota->declared : gang.spec)) return false;
  if (gang.quota) gang.quota->declared = spec;
  gang.spec = std::move(spec);
  gang.census.reset();
  gang.said = nullptr;
  gang.declared = true;
  return true;
}

int32_t GangBook::Priority(const Gang& gang) const {
  if (gang.spec.priority) return *gang.spec.priority;
  if (gang.members.empty()) return 0;
  int32_t highest = std::numeric_limits<int32_t>::min();
  for (const Member* member : gang.members) highest = std::max(highest, state_.pod(member->pod).pod->spec->priority);
  return highest;
}

base::Millis GangBook::Created(const Gang& gang) const {
  if (gang.spec.created_ms != 0 || gang.members.empty()) return gang.spec.created_ms;
  return state_.pod(gang.members.front()->pod).pod->meta.created_ms;
}

std::string_view GangBook::SchedulerName(const Gang& gang) const {
  return gang.members.empty() ? gang.dialect->SchedulerName(gang.key)
                              : state_.pod(gang.members.front()->pod).pod->spec->scheduler_name;
}

}  // namespace tutti::core
