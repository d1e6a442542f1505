// SPDX-License-Identifier: Apache-2.0
#include "core/gang_book.h"

#include <algorithm>
#include <limits>

#include "base/planted.h"
#include "core/certificates.h"
#include "dialects/topology_annotations.h"

namespace tutti::core {

using model::GangId;
using model::PodId;

GangBook::GangBook(const std::vector<framework::Profile>& profiles, const cluster::ClusterState& state,
                   const dialects::DialectList& dialects, const base::Clock& clock)
    : profiles_(profiles),
      state_(state),
      dialects_(dialects),
      clock_(clock),
      by_key_(0, KeyHash{&gangs_}, KeyEqual{&gangs_}),
      ready_(InLine{this}) {}

bool GangBook::InLine::operator()(GangId a, GangId b) const {
  const Gang &ga = book->at(a), &gb = book->at(b);
  if (ga.ready_priority != gb.ready_priority) return ga.ready_priority > gb.ready_priority;
  if (ga.ready_besides != gb.ready_besides) return gb.ready_besides;
  if (ga.ready_created_ms != gb.ready_created_ms) return ga.ready_created_ms < gb.ready_created_ms;
  if (ga.ready_class != gb.ready_class) return ga.ready_class < gb.ready_class;
  if (ga.dialect != gb.dialect) return ga.key.dialect < gb.key.dialect;
  return a != b && std::tie(ga.key.ns, ga.key.name) < std::tie(gb.key.ns, gb.key.name);
}

GangId GangBook::GangOf(PodId pod) const { return pod.index() < gang_of_.size() ? gang_of_[pod.index()] : GangId(); }

Member* GangBook::Find(GangId gang, PodId pod) const {
  return gang && GangOf(pod) == gang ? members_[pod.index()].get() : nullptr;
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

void GangBook::Settle(PodId pod, const dialects::Dialect& dialect, base::Millis since_ms) {
  if (settled_.size() <= pod.index()) settled_.resize(pod.index() + 1);
  settled_[pod.index()] = {since_ms, state_.pod(pod).pod->done(), &dialect};
  if (on_change) on_change(KeyOfSettled(pod));
  settled_whole_ += !settled_[pod.index()].ended;
}

void GangBook::Unsettle(PodId pod) {
  if (!Settled(pod)) return;
  if (on_change) on_change(KeyOfSettled(pod));
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

void GangBook::SettleIfLone(GangId id) {
  const Gang& gang = at(id);
  if (!gang.lone || gang.members.size() != 1 || gang.plan || gang.ready || gang.members.front()->evicting) return;
  if (gang.state != dialects::GangState::kWhole && gang.state != dialects::GangState::kFinished) return;
  const PodId pod = gang.members.front()->pod;
  const base::Millis since_ms = gang.since_ms;
  const dialects::Dialect& dialect = *gang.dialect;
  Leave(pod);
  Settle(pod, dialect, since_ms);
}

bool GangBook::Stays(PodId pod) const {
  const auto owner = OwnerOf(pod);
  const GangId id = GangOf(pod);
  return owner && id ? at(id).key == owner->membership.gang : !owner && !id;
}

GangId GangBook::Join(PodId pod) {
  auto owner = OwnerOf(pod);
  GangId old = GangOf(pod);
  if (old && (!owner || at(old).key != owner->membership.gang)) {
    Leave(pod);
    old = GangId();
  }
  const model::Pod& it = *state_.pod(pod).pod;
  const bool was_settled = Settled(pod);
  const Settlement before = was_settled ? settled_[pod.index()] : Settlement();
  Unsettle(pod);
  if (!owner) return {};
  if (owner->membership.lone && !old && (it.bound() || it.done())) {
    Settle(pod, *owner->dialect, was_settled && before.ended == it.done() ? before.since_ms : clock_.WallMs());
    return {};
  }
  dialects::Membership& membership = owner->membership;
  GangId id = old ? old : Find(membership.gang);
  const bool fresh = !id;
  if (fresh) id = Open(owner->dialect, std::move(membership.gang));
  Gang& gang = at(id);
  const bool first = gang.members.empty();
  if (first) gang.lone = membership.lone;
  if (membership.declared) {
    if (gang.said != membership.declared) {
      if (gang.refusal && gang.spec != *membership.declared) gang.refusal->old = true;
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
  member.priority = membership.priority.value_or(it.spec->priority);
  member.unit = std::move(membership.unit);
  member.topology = membership.topology ? std::move(membership.topology) : dialects::TopologyOfPod(it, member.role);
  const int32_t priority = gang.spec.priority.value_or(std::max(gang.ready_priority, it.spec->priority));
  if (gang.ready && (first || priority != gang.ready_priority || Created(gang) != gang.ready_created_ms)) Resort(id);
  return id;
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
  if (gang_of_.size() <= pod.index()) {
    gang_of_.resize(pod.index() + 1);
    members_.resize(pod.index() + 1);
  }
  gang_of_[pod.index()] = id;
  members_[pod.index()] = std::make_unique<Member>();
  Member& member = *members_[pod.index()];
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
  gang_of_[pod.index()] = GangId();
  const std::unique_ptr<Member> member = std::move(members_[pod.index()]);
  Gang& gang = at(id);
  if (on_leave) on_leave(gang, *member);
  gang.members.erase(std::ranges::find(gang.members, member.get()));
  if (!gang.members.empty()) return;
  if (!gang.reported && !Keeps(*gang.dialect, gang.key)) return Close(id);
  // Those who come next start anew.
  gang.whole = gang.soft = false;
  gang.complete_since_ms = 0;
  gang.last_plan.clear();
}

void GangBook::Close(GangId id) {
  Gang& gang = at(id);
  if (on_close) on_close(gang);
  if (on_change) on_change(gang.key);
  if (gang.ready) ready_.Erase(id);
  LeaveGroup(id);
  by_key_.erase(id);
  gang = Gang{};
  free_.push_back(id);
}

bool GangBook::Describe(GangId id) {
  Gang& gang = at(id);
  model::GangSpec spec = gang.dialect->Describe(gang.key);
  if (gang.declared && spec == gang.spec) return false;
  gang.spec = std::move(spec);
  gang.said = nullptr;
  gang.declared = true;
  if (gang.ready) Resort(id);
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

// REQUIRES: it stands neither in line nor in a group, which are sorted by this.
void GangBook::SetPlaceInLine(Gang& gang) const {
  gang.ready_priority = Priority(gang);
  gang.ready_besides = gang.besides;
  gang.ready_created_ms = Created(gang);
  gang.ready_class = gang.members.empty() ? 0 : state_.pod(gang.members.front()->pod).pod_class->id.value;
}

void GangBook::MarkReady(GangId id) {
  at(id).only_woken = false;
  at(id).besides = false;  // its minimum may lack something now
  PutInLine(id);
}

void GangBook::MarkWoken(GangId id) {
  const bool on_its_own = at(id).ready && !at(id).only_woken;
  PutInLine(id);
  at(id).only_woken = !on_its_own;
}

void GangBook::PutInLine(GangId id) {
  Gang& gang = at(id);
  if (gang.ready) {
    if (gang.ready_besides != gang.besides) Resort(id);
    return;
  }
  if (gang.group != Gang::kNoGroup && (gang.ready_priority != Priority(gang) ||
                                       gang.ready_created_ms != Created(gang) || gang.ready_besides != gang.besides))
    LeaveGroup(id);
  if (gang.group == Gang::kNoGroup) SetPlaceInLine(gang);
  gang.ready = true;
  ready_.Insert(id);
}

bool GangBook::StandBehind(GangId id) {
  Gang& gang = at(id);
  if (gang.ready || gang.ready_besides) return gang.ready;
  gang.besides = true;
  LeaveGroup(id);
  SetPlaceInLine(gang);
  if (ready_.empty() || InLine{this}(id, ready_.First())) return false;
  gang.ready = true;
  ready_.Insert(id);
  return true;
}

// It stands in line by another key than it would get now.
void GangBook::Resort(GangId id) {
  ready_.Erase(id);
  LeaveGroup(id);
  SetPlaceInLine(at(id));
  ready_.Insert(id);
}

GangId GangBook::TakeReady() {
  const GangId id = ready_.TakeFirst();
  at(id).ready = false;
  return id;
}

void GangBook::LeaveGroup(GangId id) {
  Gang& gang = at(id);
  if (gang.group == Gang::kNoGroup) return;
  Group& group = groups_[gang.group];
  group.gangs.erase(id);
  if (!group.gangs.empty()) {
    if (group.woken) WakeFirst(group);
  } else {
    group_of_.erase(group.shape);
    group.certificate = nullptr;
    group.certificates.clear();
    group.woken = false;
    free_groups_.push_back(gang.group);
  }
  gang.group = Gang::kNoGroup;
}

void GangBook::Regroup(GangId id) {
  Gang& gang = at(id);
  const bool waits = gang.refusal && framework::Any(gang.refusal->wakes);
  const std::string shape = !waits                        ? std::string()
                            : gang.refusal->shape.empty() ? "#" + std::to_string(id.value)
                                                          : gang.refusal->shape;
  if (gang.group != Gang::kNoGroup) {
    Group& group = groups_[gang.group];
    if (group.shape == shape) {  // refused again, and the others would be
      group.wakes = gang.refusal->wakes;
      group.certificate = gang.refusal->certificate;
      group.certificates = gang.refusal->certificates;
      if (*group.gangs.begin() == id) group.woken = false;
      return;
    }
    LeaveGroup(id);
  }
  if (!waits) return;
  const auto [at, fresh] = group_of_.try_emplace(shape, 0);
  if (fresh) {
    if (free_groups_.empty()) {
      at->second = static_cast<uint32_t>(groups_.size());
      groups_.push_back({shape, std::set<GangId, InLine>(InLine{this}), {}, nullptr, {}, false});
    } else {
      at->second = free_groups_.back();
      free_groups_.pop_back();
      groups_[at->second].shape = shape;
    }
  }
  if (!gang.ready) SetPlaceInLine(gang);
  gang.group = at->second;
  Group& group = groups_[gang.group];
  group.gangs.insert(id);
  group.wakes = gang.refusal->wakes;
  group.certificate = gang.refusal->certificate;
  group.certificates = gang.refusal->certificates;
}

void GangBook::Wake(framework::Wake happened) {
  for (Group& group : groups_) {
    if (group.gangs.empty()) continue;
    const auto broken = [](const auto& certificate) { return certificate->over || certificate->doubtful; };
    if (group.certificate ? !broken(group.certificate)
                          : !framework::Any(group.wakes & happened) && std::ranges::none_of(group.certificates, broken))
      continue;
    group.woken = true;
    WakeFirst(group);
  }
}

}  // namespace tutti::core
