// SPDX-License-Identifier: Apache-2.0
// Dense ids of this room. A name becomes a number once, at the entry.
#pragma once

#include <compare>
#include <string>

#include "base/strong_id.h"

namespace tutti::queue {

// A queue's name, unique in its dialect.
struct QueueKey {
  std::string dialect, name;
  friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
};

using QueueId = base::StrongId<struct QueueTag>;    // a slot; reused after the queue is gone
using CellId = base::StrongId<struct CellTag>;      // a (flavor, resource); reused when it has no holder
using ChargeId = base::StrongId<struct ChargeTag>;  // a slot; reused after the charge is released

}  // namespace tutti::queue
