// SPDX-License-Identifier: Apache-2.0
// sim/api/watch_stream.h - watches: from the store's events to each client's own stream.
//
// The hub observes the store inside its door and hands each event to the streams of
// its resource; a stream is emptied by the thread that serves its client, which does
// the selecting and the printing. It ends with its resource's definition, and when that
// changes, after the events that came before.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "sim/api/representation.h"
#include "sim/objects/selectors.h"
#include "sim/store/store.h"

namespace tutti::sim {

// An event and, once someone has asked, its object's text: many watches print it once.
class SharedEvent {
 public:
  explicit SharedEvent(WatchEvent event) : event_(std::move(event)) {}
  const WatchEvent& event() const { return event_; }
  const std::string& Text() const;

 private:
  const WatchEvent event_;
  mutable std::once_flag printed_;
  mutable std::string text_;
};

struct WatchOptions {
  std::string ns;  // "": all
  Selectors selectors;
  std::optional<int64_t> after;   // resume after this version; without it, from the present state
  bool initial_events = true;     // without `after`: begin with an ADDED for all that is there
  bool initial_bookmark = false;  // mark where those end
  bool bookmarks = false;
  base::Millis timeout_ms = 0;  // 0: none
};

class WatchHub;

// Bookmarks and the end come by the store's clock.
//
// Thread safety: Next and due_ms by one thread, Offer by the hub.
class WatchStream {
 public:
  WatchStream(WatchHub& hub, Representation representation, WatchOptions options);
  ~WatchStream();

  // The next piece of the body: "" when nothing came within `patience`, nothing at the end.
  std::optional<std::string> Next(std::chrono::milliseconds patience);
  // From when on Next has something to say though nothing changes; monotonic.
  base::Millis due_ms();

 private:
  friend class WatchHub;

  void Begin(Store& store, const ApiResource& resource);
  void Offer(const std::shared_ptr<SharedEvent>& event);
  void End();
  void Append(const SharedEvent& event, std::string& out);
  void AppendLine(const char* type, const std::string& object, std::string& out) const;
  base::Millis Now() const;

  // Constant after construction.
  WatchHub& hub_;
  const Representation representation_;
  const WatchOptions options_;
  const base::Millis ends_at_ms_;
  int64_t initial_version_ = 0;  // set by Begin

  // The serving thread's.
  bool columns_sent_ = false;
  bool finished_ = false;  // the last bookmark is out
  base::Millis last_line_ms_;

  base::Mutex mutex_;
  base::Condition arrived_;
  std::deque<std::shared_ptr<SharedEvent>> queue_ ABSL_GUARDED_BY(mutex_);  // null: the initial events end here
  std::string error_ ABSL_GUARDED_BY(mutex_);                               // a line
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

class WatchHub {
 public:
  // Subscribes. REQUIRES: called, and destroyed, inside the store's door or before any other thread.
  explicit WatchHub(Store& store);
  ~WatchHub();

  // REQUIRES: inside the store's door.
  std::shared_ptr<WatchStream> Open(const ApiResource& resource, Representation representation, WatchOptions options);

  // Ends all streams; new ones end at once.
  void Close();

 private:
  friend class WatchStream;

  void Observe(const WatchEvent& event);
  // Ends the streams of a resource whose definition has changed or gone: what it sends may not be what it was.
  void EndStreamsOf(const GroupResource& resource);
  void Leave(WatchStream* stream);

  Store& store_;
  int64_t subscription_;
  std::atomic<int64_t> delivered_;  // every event up to here is in the queues it belongs to
  base::Mutex mutex_;
  std::map<GroupResource, std::vector<WatchStream*>> streams_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tutti::sim
