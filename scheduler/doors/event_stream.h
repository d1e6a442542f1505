// SPDX-License-Identifier: Apache-2.0
// EventStream: the changes of gangs as Server-Sent Events.
//
//   event: gang | gone   data: a WatchGangsResponse; the last of a batch has the sequence number, as its `id`, too
//   event: current       data: its sequence; the reader has seen all changes up to it. The first event, and a sign of
//                        life when nothing else was sent for ten seconds
//   event: relist        data: why changes are missing; the stream ends, and the reader has to list again
#pragma once

#include <string>

#include "doors/follower.h"

namespace tutti::doors {

class EventStream final : public server::Stream, Follower::Reader {
 public:
  explicit EventStream(Follower follower) : follower_(std::move(follower)) {}

  std::optional<std::string> Next(std::chrono::milliseconds patience) override;

 private:
  void TellCurrent(uint64_t sequence) override;
  void TellChange(const Hub::Change& change, bool sees_all, uint64_t sequence) override;
  void TellRelist(const std::string& why) override;
  bool has_enough() const override;

  Follower follower_;
  std::string piece_;  // in the making
};

}  // namespace tutti::doors
