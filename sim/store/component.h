// SPDX-License-Identifier: Apache-2.0
// sim/store/component.h - a part of the embedded cluster that acts on the store: the kubelet, each controller.
//
// One thread: the store's owner. No component runs by itself: World tells each what changed and lets it work.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "sim/store/store.h"

namespace tutti::sim {

// Which Events a component writes.
enum class EventsWritten { kNone, kWarnings, kAll };

class Component {
 public:
  virtual ~Component() = default;
  virtual std::string_view name() const = 0;

  // Notes what an event means for later work. Called inside the write that makes the event; never writes.
  virtual void Observe(const WatchEvent& event) = 0;

  // Does all that is due. False when there was nothing to do.
  virtual bool Work() = 0;

  // Sets which Events it writes from now on; at first, all.
  virtual void WriteEvents(EventsWritten) {}

  // When Work has something to do without a further event; monotonic. Empty: never.
  virtual std::optional<base::Millis> NextDeadline() const = 0;
};

}  // namespace tutti::sim
