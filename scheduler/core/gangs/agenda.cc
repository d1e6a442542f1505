// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/agenda.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti::core {

using base::Millis;
using model::GangId;

bool Agenda::InOrder::operator()(GangId a, GangId b) const {
  const Gang &ga = book->at(a), &gb = book->at(b);
  if (ga.line.slope != 0 || gb.line.slope != 0) {
    const int64_t pa = ga.line.rank().PriorityAt(now_ms), pb = gb.line.rank().PriorityAt(now_ms);
    if (pa != pb) return pa > pb;
  } else if (ga.line.priority != gb.line.priority) {
    return ga.line.priority > gb.line.priority;
  }
  if (ga.line.sorted_besides != gb.line.sorted_besides) return gb.line.sorted_besides;
  if (ga.line.created_ms != gb.line.created_ms) return ga.line.created_ms < gb.line.created_ms;
  if (ga.line.pod_class != gb.line.pod_class) return ga.line.pod_class < gb.line.pod_class;
  if (ga.dialect != gb.dialect) return ga.key.dialect < gb.key.dialect;
  return a != b && std::tie(ga.key.ns, ga.key.name) < std::tie(gb.key.ns, gb.key.name);
}

// REQUIRES: it stands neither in the line nor in a group, which are sorted by this.
void Agenda::SetKey(Gang& gang) const {
  gang.line.priority = book_.Priority(gang);
  gang.line.slope = gang.spec.priority_slope;
  gang.line.sorted_besides = gang.line.besides;
  gang.line.created_ms = book_.Created(gang);
  gang.line.pod_class = gang.members.empty() ? 0 : book_.ClassOf(*gang.members.front()).value;
}

void Agenda::MarkReady(GangId id) {
  book_.at(id).line.only_woken = false;
  book_.at(id).line.besides = false;  // its minimum may lack something now
  book_.at(id).line.flushed = false;
  PutInLine(id);
}

void Agenda::MarkWoken(GangId id) {
  const bool on_its_own = book_.at(id).line.ready && !book_.at(id).line.only_woken;
  PutInLine(id);
  book_.at(id).line.only_woken = !on_its_own;
}

void Agenda::PutInLine(GangId id) {
  Gang& gang = book_.at(id);
  if (gang.line.ready) {
    if (gang.line.sorted_besides != gang.line.besides) Resort(id);
    return;
  }
  if (gang.line.group != AgendaEntry::kNoGroup &&
      (gang.line.priority != book_.Priority(gang) || gang.line.created_ms != book_.Created(gang) ||
       gang.line.slope != gang.spec.priority_slope || gang.line.sorted_besides != gang.line.besides))
    LeaveGroup(id);
  if (gang.line.group == AgendaEntry::kNoGroup) SetKey(gang);
  gang.line.ready = true;
  ready_.Insert(id);
}

bool Agenda::StandBehind(GangId id) {
  Gang& gang = book_.at(id);
  if (gang.line.ready || gang.line.sorted_besides) return gang.line.ready;
  gang.line.besides = true;
  LeaveGroup(id);
  SetKey(gang);
  if (ready_.empty() || InOrder{&book_, clock_.WallMs()}(id, ready_.First())) return false;
  gang.line.ready = true;
  ready_.Insert(id);
  return true;
}

void Agenda::OnJoined(GangId id, int32_t pod_priority) {
  const Gang& gang = book_.at(id);
  if (!gang.line.ready) return;
  const int32_t priority = gang.spec.priority.value_or(std::max(gang.line.priority, pod_priority));
  const bool first = gang.members.size() == 1;
  if (first || priority != gang.line.priority || book_.Created(gang) != gang.line.created_ms) Resort(id);
}

void Agenda::OnDescribed(GangId id) {
  if (book_.at(id).line.ready) Resort(id);
}

// Sorts the gang by the key that it would get now.
void Agenda::Resort(GangId id) {
  ready_.Erase(id);
  LeaveGroup(id);
  SetKey(book_.at(id));
  ready_.Insert(id);
}

GangId Agenda::TakeReady() {
  const GangId id = ready_.TakeFirst();
  book_.at(id).line.ready = false;
  return id;
}

void Agenda::LeaveGroup(GangId id) {
  Gang& gang = book_.at(id);
  if (gang.line.group == AgendaEntry::kNoGroup) return;
  WaitingGroup& group = groups_[gang.line.group];
  group.gangs.erase(id);
  if (!group.gangs.empty()) {
    if (group.woken) WakeFirst(group);
  } else {
    group_of_.erase(group.shape);
    by_wait_.erase({group.queued_ms, gang.line.group});
    group.certificate = nullptr;
    group.certificates.clear();
    group.woken = false;
    SetSeeks(gang.line.group, SeeksVictims::kNo, 0);
    free_groups_.push_back(gang.line.group);
  }
  gang.line.group = AgendaEntry::kNoGroup;
}

bool Agenda::Regroup(GangId id) {
  Gang& gang = book_.at(id);
  const bool waits = gang.refusal && framework::Any(gang.refusal->wakes);
  std::string shape = !waits                        ? std::string()
                      : gang.refusal->shape.empty() ? "#" + std::to_string(id.value)
                                                    : gang.refusal->shape;
  if (waits && gang.spec.priority_slope != 0) shape += "^" + std::to_string(gang.spec.priority_slope);
  if (gang.line.group != AgendaEntry::kNoGroup) {
    WaitingGroup& group = groups_[gang.line.group];
    if (group.shape == shape) {  // refused again, and the others would be
      TakeRefusal(group, *gang.refusal);
      TakeSeeks(gang.line.group, id);
      if (*group.gangs.begin() == id) group.woken = false;
      const uint64_t before = std::exchange(group.figures_id, gang.refusal->figures_id);
      return group.gangs.size() > 1 && before != group.figures_id;
    }
    LeaveGroup(id);
  }
  if (!waits) return false;
  const auto [at, fresh] = group_of_.try_emplace(shape, 0);
  if (fresh) {
    if (free_groups_.empty()) {
      at->second = static_cast<uint32_t>(groups_.size());
      WaitingGroup& added = groups_.emplace_back();
      added.shape = shape;
      added.gangs = std::set<GangId, InOrder>(InOrder{&book_});
    } else {
      at->second = free_groups_.back();
      free_groups_.pop_back();
      groups_[at->second].shape = shape;
    }
  }
  if (!gang.line.ready) SetKey(gang);
  gang.line.group = at->second;
  WaitingGroup& group = groups_[gang.line.group];
  group.gangs.insert(id);
  TakeRefusal(group, *gang.refusal);
  TakeSeeks(gang.line.group, id);
  if (!fresh) return false;
  group.figures_id = gang.refusal->figures_id;
  Queue(gang.line.group, group.tried_ms);
  return false;
}

bool Agenda::IsFirst(GangId id) const {
  const uint32_t group = book_.at(id).line.group;
  return group == AgendaEntry::kNoGroup || *groups_[group].gangs.begin() == id;
}

void Agenda::Queue(uint32_t group, Millis at_ms) {
  groups_[group].queued_ms = at_ms;
  by_wait_.emplace(at_ms, group);
}

std::optional<Millis> Agenda::LongestWait() const {
  return by_wait_.empty() ? std::nullopt : std::optional(by_wait_.begin()->first);
}

// A group that is refused again and again is not put again each time: when its turn comes, it is seen that it was.
std::optional<std::vector<std::shared_ptr<const Validity>>> Agenda::Flush(Millis since_ms) {
  while (!by_wait_.empty() && by_wait_.begin()->first <= since_ms) {
    const uint32_t slot = by_wait_.begin()->second;
    by_wait_.erase(by_wait_.begin());
    WaitingGroup& group = groups_[slot];
    AgendaEntry& first = book_.at(*group.gangs.begin()).line;
    const bool is_due = group.tried_ms <= since_ms && !group.woken && !first.ready;
    Queue(slot, group.tried_ms > since_ms ? group.tried_ms : clock_.MonotonicMs());
    if (!is_due) continue;
    group.woken = true;
    WakeFirst(group);
    first.flushed = true;
    std::vector<std::shared_ptr<const Validity>> certificates = group.certificates;
    if (group.certificate) certificates.push_back(group.certificate);
    return certificates;
  }
  return std::nullopt;
}

void Agenda::TakeRefusal(WaitingGroup& group, const Refusal& refusal) const {
  group.wakes = refusal.wakes;
  group.certificate = refusal.certificate;
  group.certificates = refusal.certificates;
  group.tried_ms = refusal.certificate ? refusal.certificate->made_ms : clock_.MonotonicMs();
}

void Agenda::Wake(framework::Wake happened) {
  for (WaitingGroup& group : groups_) {
    if (group.gangs.empty()) continue;
    book_.at(*group.gangs.begin()).line.flushed = false;  // if it is placed now, that may be for what happened
    const auto broken = [](const auto& certificate) { return certificate->broken(); };
    if (group.certificate ? !broken(group.certificate)
                          : !framework::Any(group.wakes & happened) && std::ranges::none_of(group.certificates, broken))
      continue;
    group.woken = true;
    WakeFirst(group);
  }
}

void Agenda::SetSeeks(uint32_t slot, SeeksVictims seeks, int32_t priority) {
  WaitingGroup& group = groups_[slot];
  seeking_.erase(slot);
  seeking_room_.erase({group.seeks_priority, slot});
  group.seeks = seeks;
  group.seeks_priority = priority;
  if (seeks == SeeksVictims::kWithChange) seeking_.insert(slot);
  if (seeks == SeeksVictims::kWithRoom) seeking_room_.emplace(priority, slot);
}

void Agenda::TakeSeeks(uint32_t slot, GangId id) {
  const Gang& gang = book_.at(id);
  if (*groups_[slot].gangs.begin() == id || gang.seeks > groups_[slot].seeks)
    SetSeeks(slot, gang.seeks, gang.line.priority);
}

std::vector<uint32_t> Agenda::TakeSeeking() {
  std::vector<uint32_t> groups(seeking_.begin(), seeking_.end());
  std::ranges::sort(groups, InOrder{&book_, clock_.WallMs()},
                    [this](uint32_t slot) { return *groups_[slot].gangs.begin(); });
  for (const uint32_t slot : groups) SetSeeks(slot, SeeksVictims::kNo, 0);
  return groups;
}

void Agenda::TakeSeekingRoom(int32_t priority, std::deque<uint32_t>* groups) {
  for (auto at = seeking_room_.lower_bound({priority, 0}); at != seeking_room_.end() && at->first == priority;
       at = seeking_room_.lower_bound({priority, 0})) {
    groups->push_back(at->second);
    SetSeeks(at->second, SeeksVictims::kNo, 0);
  }
}

std::optional<GangId> Agenda::WakeSeeking(uint32_t slot) {
  WaitingGroup& group = groups_[slot];
  if (group.gangs.empty()) return std::nullopt;
  const GangId first = *group.gangs.begin();
  group.woken = true;
  MarkReady(first);
  return first;
}

void Agenda::WakeNext(GangId id) {
  if (const uint32_t group = book_.at(id).line.group; group != AgendaEntry::kNoGroup) groups_[group].woken = true;
}

std::optional<Agenda::Timer> Agenda::TakeDue(Millis now_ms) {
  while (!timers_.empty() || !renewals_.empty()) {
    const bool renews = timers_.empty() || (!renewals_.empty() && *renewals_.begin() < *timers_.begin());
    absl::btree_set<Timer>& timers = renews ? renewals_ : timers_;
    const Timer timer = *timers.begin();
    if (timer.at_ms > now_ms) return std::nullopt;
    timers.erase(timers.begin());
    if (book_.at(timer.gang).dialect) return timer;
  }
  return std::nullopt;
}

std::optional<Millis> Agenda::NextOwnDeadline() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->at_ms;
}

std::optional<Millis> Agenda::NextDeadline() const {
  std::optional<Millis> next = NextOwnDeadline();
  if (!renewals_.empty()) next = std::min(next.value_or(renewals_.begin()->at_ms), renewals_.begin()->at_ms);
  if (const auto at = retries_.DueAt(); at && !AnyReady()) next = std::min(next.value_or(*at), *at);
  return next;
}

void Agenda::Touch(GangId id) {
  if (!speaks_ || std::exchange(book_.at(id).line.touched, true)) return;
  touched_.push_back(id);
}

std::vector<GangId> Agenda::TakeTouched() {
  std::vector<GangId> touched = std::exchange(touched_, {});
  std::ranges::sort(touched);
  return touched;
}

void Agenda::Forget(GangId id) {
  if (book_.at(id).line.ready) ready_.Erase(id);
  LeaveGroup(id);
}

}  // namespace tutti::core
