// SPDX-License-Identifier: Apache-2.0
#include "doors/event_stream.h"

#include <fmt/format.h>
#include <tutti/v1/decisions.pb.h>

#include <utility>

#include "doors/text.h"

namespace tutti::doors {
namespace {

constexpr base::Millis kLongestMs = 3'600'000;
constexpr base::Millis kSignOfLifeMs = 10'000;
// A piece ends at about so many bytes, so that a slow reader does not hold much memory.
constexpr size_t kPiece = 256 * 1024;

}  // namespace

EventStream::EventStream(Hub& hub, Sight sight, uint64_t since, const base::Clock& clock)
    : hub_(hub),
      sight_(std::move(sight)),
      sequence_(since),
      clock_(clock),
      ends_ms_(clock.MonotonicMs() + kLongestMs) {}

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
  const auto append = [&](const Hub::Change& change, const std::string& id) {
    fmt::format_to(std::back_inserter(*piece), "{}event: {}\ndata: {}\n\n", id, change.decision() ? "gang" : "gone",
                   change.Json());
  };
  for (const Hub::Change& change : batch.changes) {
    const Answer<bool> sees = sight_.Sees(change.gang().ns);
    if (!sees) {
      *piece += End(sees.error().message);
      return false;
    }
    if (!*sees) continue;
    if (last) append(*last, "");
    last = &change;
  }
  sequence_ = batch.sequence;
  if (last) append(*last, fmt::format("id: {}\n", sequence_));
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
  } else {
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
