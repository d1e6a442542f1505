// SPDX-License-Identifier: Apache-2.0
#include "observe/history.h"

#include <algorithm>
#include <tuple>
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

bool History::ByName::operator()(const model::GangKey& a, const model::GangKey& b) const {
  return std::tie(a.ns, a.name, a.dialect) < std::tie(b.ns, b.name, b.dialect);
}

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
  const auto at = events_.try_emplace(gang).first;
  std::deque<HistoryEvent>& own = at->second;
  if (!own.empty() && IsRepeated(own.back(), event)) {
    event.at_ms = own.back().at_ms;
    event.times = own.back().times + 1;
    own.back() = std::move(event);
    return;
  }
  own.push_back(std::move(event));
  order_.push_back(at);
  if (order_.size() > kept_) DropOldest();
}

void History::DropOldest() {
  const auto at = order_.front();
  order_.pop_front();
  whole_from_ms_ = std::max(whole_from_ms_, at->second.front().last_ms);
  at->second.pop_front();
  if (at->second.empty()) events_.erase(at);
}

History::Found History::Of(const std::string& ns, const std::string& name, const std::string& dialect) const {
  const base::MutexLock lock(mutex_);
  Found found{whole_from_ms_, {}};
  for (auto at = events_.lower_bound({"", ns, name});
       at != events_.end() && at->first.ns == ns && at->first.name == name; ++at)
    if (dialect.empty() || at->first.dialect == dialect)
      found.gangs.push_back({at->first, {at->second.begin(), at->second.end()}});
  return found;
}

}  // namespace tutti::observe
