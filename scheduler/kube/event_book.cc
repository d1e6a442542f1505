// SPDX-License-Identifier: Apache-2.0
#include "kube/event_book.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::kube {
namespace {

constexpr size_t kLongestName = 253;

std::string KeyOf(const cluster::EmitEvent& event) {
  const cluster::ObjectRef& r = event.regarding;
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", r.kind, r.ns(), r.name(), r.uid(), event.reason,
                     event.reporting_controller, event.warning, event.note);
}

}  // namespace

std::shared_ptr<EventRecord> EventBook::Note(const cluster::EmitEvent& event, base::Millis now_ms,
                                             base::Millis wall_ms) {
  Forget(now_ms);
  const std::string key = KeyOf(event);
  std::shared_ptr<EventRecord>& record = records_[key];
  if (record == nullptr || now_ms - record->seen_ms > kForgetAfterMs) {
    record = std::make_shared<EventRecord>();
    record->ns = event.regarding.ns().empty() ? "default" : event.regarding.ns();
    // kube-scheduler's form: the object and the time in nanoseconds. Each number is used once.
    last_name_ = std::max(last_name_ + 1, static_cast<uint64_t>(wall_ms) * 1'000'000);
    const std::string suffix = fmt::format(".{:x}", last_name_);
    record->name = event.regarding.name().substr(0, kLongestName - suffix.size()) + suffix;
    record->first_wall_ms = wall_ms;
    by_age_.push_back({key, record});
  }
  ++record->count;
  record->seen_ms = now_ms;
  record->last_wall_ms = wall_ms;
  return record;
}

void EventBook::Forget(base::Millis now_ms) {
  while (!by_age_.empty()) {
    const Noted& oldest = by_age_.front();
    const bool stale = now_ms - oldest.record->seen_ms > kForgetAfterMs;
    if (!stale && by_age_.size() < kMost) return;
    if (const auto at = records_.find(oldest.key); at != records_.end() && at->second == oldest.record)
      records_.erase(at);
    by_age_.pop_front();
  }
}

}  // namespace tutti::kube
