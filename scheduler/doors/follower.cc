// SPDX-License-Identifier: Apache-2.0
#include "doors/follower.h"

#include <fmt/format.h>

#include <utility>

namespace tutti::doors {
namespace {

constexpr base::Millis kLongestMs = 3'600'000;
constexpr base::Millis kCheckMs = 60'000;
constexpr base::Millis kSignOfLifeMs = 10'000;

}  // namespace

Follower::Follower(Hub& hub, Sight sight, uint64_t since, const base::Clock& clock)
    : hub_(hub),
      sight_(std::move(sight)),
      sequence_(since),
      clock_(clock),
      ends_ms_(clock.MonotonicMs() + kLongestMs),
      checked_ms_(clock.MonotonicMs()) {}

void Follower::End(const std::string& why, Reader& reader) {
  ended_ = true;
  told_ = true;
  reader.TellRelist(why);
}

bool Follower::TellBatch(const Hub::Batch& batch, Reader& reader) {
  const Hub::Change* last = nullptr;
  const DoorResult<bool> all = sight_.SeesAll();
  if (!all) {
    End(all.error().message, reader);
    return false;
  }
  for (const Hub::Change& change : batch.changes) {
    const DoorResult<bool> sees = sight_.Sees(change.gang.ns);
    if (!sees) {
      End(sees.error().message, reader);
      return false;
    }
    if (!*sees) continue;
    if (last) reader.TellChange(*last, *all, 0);
    last = &change;
  }
  sequence_ = batch.sequence;
  if (last) {
    reader.TellChange(*last, *all, sequence_);
    told_ = true;
  }
  return true;
}

bool Follower::EndIfForbidden(base::Millis now, Reader& reader) {
  if (now - checked_ms_ < kCheckMs) return false;
  const DoorResult<void> may = sight_.CheckOnly();
  if (may) checked_ms_ = now;
  if (may || may.error().kind != Failure::Kind::kForbidden) return false;
  End(may.error().message, reader);
  return true;
}

bool Follower::Begin(Reader& reader) {
  begun_ = true;
  if (sequence_ == 0) {
    const auto table = hub_.List();
    if (!table) return false;
    sequence_ = table->sequence;
  }
  reader.TellCurrent(sequence_);
  told_ = true;
  return true;
}

bool Follower::Next(std::chrono::milliseconds patience, Reader& reader) {
  const base::Millis now = clock_.MonotonicMs();
  if (ended_ || now >= ends_ms_) return false;
  told_ = false;
  if (!begun_) {
    if (!Begin(reader)) return false;
  } else if (!EndIfForbidden(now, reader)) {
    if (const auto batches = hub_.After(sequence_, patience); !batches) {
      End(fmt::format("changes after {} are not kept", sequence_), reader);
    } else {
      for (const auto& batch : *batches)
        if (reader.has_enough() || !TellBatch(*batch, reader)) break;
    }
    if (!told_ && now - told_ms_ >= kSignOfLifeMs) {
      reader.TellCurrent(sequence_);
      told_ = true;
    }
  }
  if (told_) told_ms_ = now;
  return true;
}

}  // namespace tutti::doors
