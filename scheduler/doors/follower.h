// SPDX-License-Identifier: Apache-2.0
// Follower: what one reader sees of the changes of gangs, in their order, from a sequence number on.
//
// The rights of the reader are looked at again each minute, and those of its credential after an hour: then the stream
// ends, and the reader comes again with the last sequence number.
//
// One thread.
#pragma once

#include <chrono>
#include <string>

#include "doors/hub.h"
#include "doors/sight.h"

namespace tutti::doors {

class Follower {
 public:
  // How the reader is told.
  class Reader {
   public:
    virtual ~Reader() = default;
    // The reader has seen all changes up to this sequence number. It is the first thing that is told, and a sign of
    // life when nothing else was told for ten seconds.
    virtual void TellCurrent(uint64_t sequence) = 0;
    // `sequence`: of the batch that the change ends; 0: more of it follows.
    virtual void TellChange(const Hub::Change& change, bool sees_all, uint64_t sequence) = 0;
    // Changes are missing, and the reader has to list again. It is the last thing that is told.
    virtual void TellRelist(const std::string& why) = 0;
    // Tells whether it was told enough for now.
    virtual bool has_enough() const = 0;
  };

  // `since`: 0: from now on. `hub` and `clock` outlive this.
  Follower(Hub& hub, Sight sight, uint64_t since, const base::Clock& clock);

  // Tells what has changed; nothing: there was nothing within `patience`. False: the stream has ended.
  bool Next(std::chrono::milliseconds patience, Reader& reader);

 private:
  void End(const std::string& why, Reader& reader);
  // Tells what the reader sees of the batch. False: the stream ended.
  bool TellBatch(const Hub::Batch& batch, Reader& reader);
  // Ends the stream if its reader may not see any more what it asked for. False: it goes on.
  bool EndIfForbidden(base::Millis now, Reader& reader);
  bool Begin(Reader& reader);

  Hub& hub_;
  Sight sight_;
  uint64_t sequence_;  // the reader has seen this
  const base::Clock& clock_;
  const base::Millis ends_ms_;  // monotonic
  base::Millis checked_ms_;     // monotonic; when the reader's rights were last looked at
  base::Millis told_ms_ = 0;    // monotonic; when something was last told
  bool begun_ = false, ended_ = false;
  bool told_ = false;  // something, in this call of Next
};

}  // namespace tutti::doors
