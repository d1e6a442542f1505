// SPDX-License-Identifier: Apache-2.0
// Listing: which gangs, queues or nodes `get` and `top` show, how the door is asked for them, and the answer as a
// table.
#pragma once

#include <string>

#include "app/door_texts.h"
#include "base/clock.h"
#include "base/json_fwd.h"

namespace tutti::app {

struct Listing {
  enum class Kind { kGangs, kQueues, kNodes } kind = Kind::kGangs;
  std::string name;  // only this one; empty: all
  // Of gangs; an empty one is of all.
  std::string ns, queue, state;
  GangColumns columns;  // its width is that of the other tables, too
};

// The path below the door.
std::string PathOf(const Listing& listing);
// "gang", "queue" or "node"
std::string WordOf(Listing::Kind kind);
Table TableOf(const Listing& listing, const base::Json& answer, base::Millis now_ms);
// The first columns of the table, which name a row.
size_t NameColumnsOf(const Listing& listing);

}  // namespace tutti::app
