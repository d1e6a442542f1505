// SPDX-License-Identifier: Apache-2.0
#include "core/gang_book.h"

#include <algorithm>
#include <limits>

#include "base/planted.h"

namespace tutti::core {

using model::GangId;
using model::PodId;

bool GangBook::ReadyLess::operator()(const std::pair<ReadyKey, GangId>& a, const std::pair<ReadyKey, GangId>& b) const {
  const auto& [pa, ca, ka] = a.first;
  const auto& [pb, cb, kb] = b.first;
  if (pa != pb) return pa < pb;
  if (ca != cb) return ca < cb;
  return *ka < *kb;
}

GangId GangBook::GangOf(PodId pod) const { return pod.index() < gang_of_.size() ? gang_of_[pod.index()] : GangId(); }

GangId GangBook::Find(const model::GangKey& key) const {
  const auto at = by_key_.find(key);
  return at == by_key_.end() ? GangId() : at->second;
}

GangId GangBook::Join(PodId pod) {
  const model::Pod& it = *state_.pod(pod).pod;
  std::optional<dialects::Membership> membership;
  dialects::Dialect* owner = nullptr;
  for (const auto& dialect : dialects_)
    if ((membership = dialect->MembershipOf(it))) {
      owner = dialect.get();
      break;
    }
  const GangId old = GangOf(pod);
  if (old && (!membership || at(old).key != membership->gang)) Leave(pod);
  if (!membership) return {};

  const auto [place, fresh] = by_key_.try_emplace(membership->gang);
  if (fresh) {
    if (free_.empty()) {
      place->second = GangId(static_cast<uint32_t>(gangs_.size()));
      gangs_.emplace_back();
    } else {
      place->second = free_.back();
      free_.pop_back();
    }
    Gang& gang = at(place->second);
    gang.key = membership->gang;
    gang.dialect = owner;
  }
  const GangId id = place->second;
  Gang& gang = at(id);
  if (membership->declared) {
    gang.spec = *membership->declared;
    gang.declared = true;
  } else if (fresh) {
    Describe(id);
  }
  if (gang_of_.size() <= pod.index()) gang_of_.resize(pod.index() + 1);
  Member* member = gang.Find(pod);
  if (!member) {
    gang_of_[pod.index()] = id;
    const auto order = [this](PodId p) {
      const model::ObjectMeta& meta = state_.pod(p).pod->meta;
      return std::tie(meta.created_ms, meta.name);
    };
    auto where = gang.members.end();
    while (where != gang.members.begin() && order(pod) < order(std::prev(where)->pod)) --where;
    member = &*gang.members.insert(where, Member{});
    member->pod = pod;
  }
  member->role = membership->role;
  member->head = membership->head;
  member->needs_head = membership->needs_head;
  return id;
}

void GangBook::Leave(PodId pod) {
  const GangId id = GangOf(pod);
  if (!id) return;
  gang_of_[pod.index()] = GangId();
  Gang& gang = at(id);
  Member* member = gang.Find(pod);
  if (on_leave) on_leave(gang, *member);
  gang.members.erase(gang.members.begin() + (member - gang.members.data()));
  if (!gang.members.empty()) return;
  if (const auto line = ready_key_.find(id); line != ready_key_.end()) {
    ready_.erase({line->second, id});
    ready_key_.erase(line);
  }
  by_key_.erase(gang.key);
  gang = Gang{};
  free_.push_back(id);
}

bool GangBook::Describe(GangId id) {
  Gang& gang = at(id);
  model::GangSpec spec = gang.dialect->Describe(gang.key);
  if (gang.declared && spec == gang.spec) return false;
  gang.spec = std::move(spec);
  gang.declared = true;
  return true;
}

int32_t GangBook::Priority(const Gang& gang) const {
  if (gang.spec.priority) return *gang.spec.priority;
  int32_t highest = std::numeric_limits<int32_t>::min();
  for (const Member& member : gang.members) highest = std::max(highest, state_.pod(member.pod).pod->spec->priority);
  return highest;
}

base::Millis GangBook::Created(const Gang& gang) const {
  return gang.spec.created_ms != 0 ? gang.spec.created_ms : state_.pod(gang.members.front().pod).pod->meta.created_ms;
}

void GangBook::MarkReady(GangId id) {
  const auto [line, fresh] = ready_key_.try_emplace(id);
  if (!fresh) return;
  const auto place = by_key_.find(at(id).key);
  line->second = {-int64_t{Priority(at(id))}, Created(at(id)), &place->first};
  ready_.emplace(line->second, id);
}

void GangBook::MarkReadyWhere(framework::Wake happened) {
  if (base::Planted(base::Bug::kForgetToWake) && framework::Any(happened & framework::Wake::kPodGone)) return;
  if (!framework::Any(happened)) return;
  for (const auto& [key, id] : by_key_)
    if (const auto& refusal = at(id).refusal; refusal && framework::Any(refusal->wakes & happened)) MarkReady(id);
}

GangId GangBook::TakeReady() {
  const auto first = ready_.begin();
  const GangId id = first->second;
  ready_key_.erase(id);
  ready_.erase(first);
  return id;
}

}  // namespace tutti::core
