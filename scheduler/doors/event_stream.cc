// SPDX-License-Identifier: Apache-2.0
#include "doors/event_stream.h"

#include <fmt/format.h>
#include <tutti/v1/decisions.pb.h>

#include <string_view>
#include <utility>

#include "doors/text.h"

namespace tutti::doors {
namespace {

// A piece ends at about so many bytes, so that a slow reader does not hold much memory.
constexpr size_t kPiece = 256 * 1024;

}  // namespace

void EventStream::TellCurrent(uint64_t sequence) {
  v1::WatchGangsResponse response;
  response.set_sequence(sequence);
  piece_ += fmt::format("id: {}\nevent: current\ndata: {}\n\n", sequence, JsonOf(response));
}

void EventStream::TellRelist(const std::string& why) {
  v1::WatchGangsResponse response;
  response.set_relist(Utf8(why));
  piece_ += fmt::format("event: relist\ndata: {}\n\n", JsonOf(response));
}

void EventStream::TellChange(const Hub::Change& change, bool sees_all, uint64_t sequence) {
  std::string_view json = change.ToReader(sees_all).json;
  if (json.empty()) return;
  if (sequence != 0) fmt::format_to(std::back_inserter(piece_), "id: {}\n", sequence);
  fmt::format_to(std::back_inserter(piece_), "event: {}\ndata: {{", change.gone ? "gone" : "gang");
  if (sequence != 0) fmt::format_to(std::back_inserter(piece_), "\"sequence\":\"{}\",", sequence);
  json.remove_prefix(1);  // the brace
  fmt::format_to(std::back_inserter(piece_), "{}\n\n", json);
}

bool EventStream::has_enough() const { return piece_.size() >= kPiece; }

std::optional<std::string> EventStream::Next(std::chrono::milliseconds patience) {
  piece_.clear();
  if (!follower_.Next(patience, *this)) return std::nullopt;
  return std::exchange(piece_, {});
}

}  // namespace tutti::doors
