// SPDX-License-Identifier: Apache-2.0
// WriteJob: a command in the writer, and the results of its tries.
#pragma once

#include <memory>
#include <string>

#include "cluster/command.h"
#include "kube/event_book.h"
#include "kube/loop.h"
#include "kube/retry.h"
#include "kube/transport.h"

namespace tutti::kube {

struct WriteJob {
  static constexpr base::Millis kFirstRetryMs = 200, kLongestRetryMs = 5'000;

  explicit WriteJob(base::Random& random)
      : write_pause(kFirstRetryMs, kLongestRetryMs, random), read_pause(kFirstRetryMs, kLongestRetryMs, random) {}

  uint64_t number = 0;
  cluster::Command command;
  base::Millis deadline_ms = 0;
  TimerId deadline_timer = 0, wait_timer = 0;
  RequestId request = 0;
  Backoff write_pause, read_pause;
  bool writing = false;         // `request` is a write and holds a place; otherwise it reads the object
  bool uncertain = false;       // some try may have taken effect, or may do so later
  bool refused = false;         // the last try was refused for good
  base::Millis settled_ms = 0;  // from then on no try can take effect any more
  base::Millis read_sent_ms = 0;
  base::Millis quiet_until_ms = 0;  // the server asked for that
  int tries = 0;
  int http_status = 0;
  std::string why;
  std::shared_ptr<EventRecord> record;  // of an Event
  int count_on_its_way = 0;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&command.body);
  }
  // Tells whether this is a bind with an unknown outcome; the writer must find it out, however long that takes.
  bool unsettled() const { return uncertain && As<cluster::Bind>() != nullptr; }
  // Tells whether this is a delete whose object has to be read before: only its controller is known, and not its UID.
  bool reads_first() const {
    const auto* gone = As<cluster::Delete>();
    return gone != nullptr && !gone->controller.empty() && gone->object.uid().empty();
  }
};

}  // namespace tutti::kube
