// SPDX-License-Identifier: Apache-2.0
#include "sim/store/event_recorder.h"

#include <fmt/format.h>

namespace tutti::sim {
namespace {

constexpr base::Millis kSeriesEndsAfterMs = 6 * 60 * 1000;
constexpr size_t kMaxNoteBytes = 1024;
constexpr size_t kMaxSeries = 4096;

std::string Cut(std::string note) {
  if (note.size() <= kMaxNoteBytes) return note;
  size_t end = kMaxNoteBytes;
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xC0) == 0x80) --end;  // not inside a character
  note.resize(end);
  return note;
}

}  // namespace

ApiResult<Object> EventRecorder::EmitAbout(const Json& object, const EventNote& note) {
  Json regarding = {{"apiVersion", DigString(object, "apiVersion")},
                    {"kind", DigString(object, "kind")},
                    {"name", NameOf(object)},
                    {"uid", UidOf(object)},
                    {"resourceVersion", DigString(object, "metadata", "resourceVersion")}};
  if (!NamespaceOf(object).empty()) regarding["namespace"] = NamespaceOf(object);
  return Emit(regarding, note);
}

ApiResult<Object> EventRecorder::Emit(const Json& regarding, const EventNote& note) {
  const base::Millis now = store_.now_ms();
  const std::string message = Cut(note.note);
  const std::string& about = DigString(regarding, "namespace");
  const std::string ns = about.empty() ? "default" : about;
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", DigString(regarding, "kind"), ns, DigString(regarding, "name"),
                  DigString(regarding, "uid"), note.warning, note.reason, note.reporter, message);
  if (const auto it = series_.find(key); it != series_.end() && now - it->second.last_ms < kSeriesEndsAfterMs) {
    const auto bumped = store_.Modify(kEvents, it->second.ns, it->second.name, [&](Json& event) {
      const int64_t count = IntOf(Dig(event, "series", "count"), 1);
      event["series"] = {{"count", count + 1}, {"lastObservedTime", base::FormatMicroTime(now)}};
    });
    it->second.last_ms = now;
    if (bumped) return bumped;
  }
  if (series_.size() >= kMaxSeries) DropEnded(now);

  Json event = {{"apiVersion", "v1"},
                {"kind", "Event"},
                {"involvedObject", regarding},
                {"type", note.warning ? "Warning" : "Normal"},
                {"reason", note.reason},
                {"message", message},
                {"source", Json::object()},
                {"eventTime", base::FormatMicroTime(now)},
                {"firstTimestamp", nullptr},
                {"lastTimestamp", nullptr},
                {"reportingComponent", note.reporter},
                {"reportingInstance", note.reporter},
                {"action", note.action.empty() ? note.reason : note.action}};  // the API wants one
  for (;;) {
    const std::string name = fmt::format("{}.{:x}", DigString(regarding, "name"), now * 1'000'000 + int64_t(next_++));
    event["metadata"] = {{"name", name}, {"namespace", ns}};
    auto created = store_.Create(event);
    if (!created && created.error().code == 409) continue;  // another recorder's at the same instant
    if (created) series_[key] = {ns, name, now};
    return created;
  }
}

void EventRecorder::DropEnded(base::Millis now_ms) {
  std::erase_if(series_, [&](const auto& item) { return now_ms - item.second.last_ms >= kSeriesEndsAfterMs; });
  // A burst of different notes: start over rather than grow; at worst a series is counted as two.
  if (series_.size() >= kMaxSeries) series_.clear();
}

}  // namespace tutti::sim
