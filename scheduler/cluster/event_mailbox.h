// SPDX-License-Identifier: Apache-2.0
// EventMailbox: takes a feed's events from any thread, of each object the newest. Thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/mailbox.h"
#include "cluster/ports.h"

namespace tutti::cluster {

class EventMailbox final : public EventSink {
 public:
  void Post(FeedEvent event) override {
    std::string key = CoalesceKey(event);
    if (key.empty())
      mailbox_.Put(std::move(event));
    else
      mailbox_.PutKeyed(std::move(key), std::move(event));
  }
  // See base::Mailbox.
  std::vector<FeedEvent> TakeAll(std::chrono::milliseconds timeout) { return mailbox_.TakeAll(timeout); }
  void Wake() { mailbox_.Wake(); }

 private:
  base::Mailbox<FeedEvent> mailbox_;
};

}  // namespace tutti::cluster
