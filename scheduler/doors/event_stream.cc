// SPDX-License-Identifier: Apache-2.0
#include "doors/event_stream.h"

#include <fmt/format.h>
#include <tutti/v1/decisions.pb.h>

#include <string_view>
#include <utility>

#include "doors/text.h"

namespace tutti::doors {
namespace {

constexpr base::Millis kLongestMs = 3'600'000;
constexpr base::Millis kCheckMs = 60'000;
constexpr base::Millis kSignOfLifeMs = 10'000;
// A piece ends at about so many bytes, so that a slow reader does not hold much memory.
constexpr size_t kPiece = 256 * 1024;

}  // namespace

EventStream::EventStream(Hub& hub, Sight sight, uint64_t since, const base::Clock& clock)
    : hub_(hub),
      sight_(std::move(sight)),
      sequence_(since),
      clock_(clock),
      ends_ms_(clock.MonotonicMs() + kLongestMs),
      checked_ms_(clock.MonotonicMs()) {}

std::string EventStream::Current() {
  v1::WatchGangsResponse response;
  response.set_sequence(sequence_);
  return fmt::format("id: {}\nevent: current\ndata: {}\n\n", sequence_, JsonOf(response));
}

std::string EventStream::End(const std::string& why) {
  ended_ = true;
  v1::WatchGangsResponse response;
  response.set_relist(Utf8(why));
  return fmt::format("event: relist\ndata: {}\n\n", JsonOf(response));
}

bool EventStream::Append(const Hub::Batch& batch, std::string* piece) {
  const Hub::Change* last = nullptr;
  const DoorResult<bool> all = sight_.SeesAll();
  if (!all) {
    *piece += End(all.error().message);
    return false;
  }
  // `sequence`: of the batch that the change ends; 0: more of it follows.
  const auto append = [&](const Hub::Change& change, uint64_t sequence) {
    std::string_view json = *all || change.narrow_json.empty() ? change.json : change.narrow_json;
    if (json.empty()) return;
    if (sequence != 0) fmt::format_to(std::back_inserter(*piece), "id: {}\n", sequence);
    fmt::format_to(std::back_inserter(*piece), "event: {}\ndata: {{", change.gone ? "gone" : "gang");
    if (sequence != 0) fmt::format_to(std::back_inserter(*piece), "\"sequence\":\"{}\",", sequence);
    json.remove_prefix(1);  // the brace
    fmt::format_to(std::back_inserter(*piece), "{}\n\n", json);
  };
  for (const Hub::Change& change : batch.changes) {
    const DoorResult<bool> sees = sight_.Sees(change.gang.ns);
    if (!sees) {
      *piece += End(sees.error().message);
      return false;
    }
    if (!*sees) continue;
    if (last) append(*last, 0);
    last = &change;
  }
  sequence_ = batch.sequence;
  if (last) append(*last, sequence_);
  return true;
}

bool EventStream::EndIfForbidden(base::Millis now, std::string* piece) {
  if (now - checked_ms_ < kCheckMs) return false;
  const DoorResult<void> may = sight_.CheckOnly();
  if (may) checked_ms_ = now;
  if (may || may.error().kind != Failure::Kind::kForbidden) return false;
  *piece = End(may.error().message);
  return true;
}

std::optional<std::string> EventStream::Next(std::chrono::milliseconds patience) {
  const base::Millis now = clock_.MonotonicMs();
  if (ended_ || now >= ends_ms_) return std::nullopt;
  std::string piece;
  if (said_ms_ == 0) {
    if (sequence_ == 0) {
      const auto table = hub_.List();
      if (!table) return std::nullopt;
      sequence_ = table->sequence;
    }
    piece = Current();
  } else if (!EndIfForbidden(now, &piece)) {
    const auto batches = hub_.After(sequence_, patience);
    if (!batches) {
      piece = End(fmt::format("changes after {} are not kept", sequence_));
    } else {
      for (const auto& batch : *batches)
        if (piece.size() >= kPiece || !Append(*batch, &piece)) break;
    }
    if (piece.empty() && now - said_ms_ >= kSignOfLifeMs) piece = Current();
  }
  if (!piece.empty()) said_ms_ = now;
  return piece;
}

}  // namespace tutti::doors
