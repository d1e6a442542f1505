// SPDX-License-Identifier: Apache-2.0
#include "observe/history.h"

#include <algorithm>
#include <utility>

namespace tutti::observe {
namespace {

std::string_view StepWord(Observer::Step step) {
  switch (step) {
    case Observer::Step::kWaits: return "waits";
    case Observer::Step::kBound: return "bound";
    case Observer::Step::kStarted: return "started";
    case Observer::Step::kUndone: return "undone";
    case Observer::Step::kEvicted: return "evicted";
    case Observer::Step::kGone: return "gone";
  }
  return "";
}

std::string_view StepWord(Observer::QuotaStep::Kind kind) {
  switch (kind) {
    case Observer::QuotaStep::Kind::kReserved: return "quota-reserved";
    case Observer::QuotaStep::Kind::kAdmitted: return "quota-admitted";
    case Observer::QuotaStep::Kind::kEvicted: return "quota-evicted";
    case Observer::QuotaStep::Kind::kReleased: return "quota-released";
  }
  return "";
}

// The second event is the first one once more.
bool IsRepeated(const HistoryEvent& first, const HistoryEvent& second) {
  return first.step == second.step && first.reason == second.reason && first.queue == second.queue &&
         (first.step == "waits" || first.step == "bound" || first.step == "evicted");
}

}  // namespace

void History::OnHappening(const Happening& happening) {
  HistoryEvent event;
  event.step = StepWord(happening.step);
  event.reason = happening.reason;
  event.message = happening.sentence;
  if (!happening.more.empty()) {
    if (!event.message.empty()) event.message += ' ';
    event.message += happening.more;
  }
  event.pod = happening.pod;
  event.node = happening.node;
  event.queue = happening.queue;
  event.members = happening.members;
  event.seconds = happening.seconds;
  Add(happening.gang, std::move(event));
}

void History::OnQuota(const QuotaStep& step) {
  HistoryEvent event;
  event.step = StepWord(step.kind);
  event.reason = step.reason;
  event.queue = step.queue;
  if (step.by != nullptr) event.by = *step.by;
  Add(step.gang, std::move(event));
}

void History::Add(const model::GangKey& gang, HistoryEvent event) {
  event.at_ms = event.last_ms = clock_.WallMs();
  const base::MutexLock lock(mutex_);
  const auto at = records_.try_emplace(gang).first;
  std::deque<Kept>& own = at->second.events;
  if (!own.empty() && IsRepeated(own.back().event, event)) {
    event.at_ms = own.back().event.at_ms;
    event.times = own.back().event.times + 1;
    own.back().event = std::move(event);
    order_.splice(order_.end(), order_, own.back().place);
    return;
  }
  own.push_back({std::move(event), order_.insert(order_.end(), at)});
  if (own.size() > kMostOfGang) DropFirst(at, &at->second.whole_from_ms);
  if (order_.size() > kept_) DropFirst(order_.front(), &whole_from_ms_);
}

void History::DropFirst(Records::iterator of, base::Millis* whole_from_ms) {
  const Kept& first = of->second.events.front();
  *whole_from_ms = std::max(*whole_from_ms, first.event.last_ms);
  order_.erase(first.place);
  of->second.events.pop_front();
  if (of->second.events.empty()) records_.erase(of);
}

History::Found History::Of(const std::string& ns, const std::string& name, const std::string& dialect) const {
  const base::MutexLock lock(mutex_);
  Found found{whole_from_ms_, {}};
  for (auto at = records_.lower_bound({"", ns, name});
       at != records_.end() && at->first.ns == ns && at->first.name == name; ++at) {
    if (!dialect.empty() && at->first.dialect != dialect) continue;
    found.whole_from_ms = std::max(found.whole_from_ms, at->second.whole_from_ms);
    OfGang& gang = found.gangs.emplace_back(OfGang{at->first, {}});
    for (const Kept& one : at->second.events) gang.events.push_back(one.event);
  }
  return found;
}

}  // namespace tutti::observe
