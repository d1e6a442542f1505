// SPDX-License-Identifier: Apache-2.0
// EventStream: the changes of gangs as Server-Sent Events.
//
//   event: gang | gone   data: a WatchGangsResponse; the last of a batch has the sequence number, as its `id`, too
//   event: current       data: its sequence; the reader has seen all changes up to it. The first event, and a sign of
//                        life when nothing else was sent for ten seconds
//   event: relist        data: why changes are missing; the stream ends, and the reader has to list again
//
// The rights of its reader are looked at again each minute, and those of its credential after an hour: then the stream
// ends, and the reader comes again with the last sequence number.
#pragma once

#include <memory>
#include <string>

#include "doors/hub.h"
#include "doors/sight.h"

namespace tutti::doors {

class EventStream final : public server::Stream {
 public:
  // `since`: 0: from now on. `hub` and `clock` outlive this.
  EventStream(Hub& hub, Sight sight, uint64_t since, const base::Clock& clock);

  std::optional<std::string> Next(std::chrono::milliseconds patience) override;

 private:
  std::string Current();
  // Ends the stream: the reader has to list again.
  std::string End(const std::string& why);
  // Appends what the reader sees of the batch. False: the stream ended.
  bool Append(const Hub::Batch& batch, std::string* piece);
  // Ends the stream if its reader may not see any more what it asked for. False: it goes on.
  bool EndIfForbidden(base::Millis now, std::string* piece);

  Hub& hub_;
  Sight sight_;
  uint64_t sequence_;  // the reader has seen this
  const base::Clock& clock_;
  const base::Millis ends_ms_;  // monotonic
  base::Millis checked_ms_;     // monotonic; when the reader's rights were last looked at
  base::Millis said_ms_ = 0;    // monotonic; when a piece was last sent; 0: never
  bool ended_ = false;
};

}  // namespace tutti::doors
