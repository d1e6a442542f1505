// SPDX-License-Identifier: Apache-2.0
// sim/port/interceptor.h - what may happen to a command between the scheduler and the API server, for simulations.
#pragma once

#include <string>

#include "base/clock.h"
#include "cluster/command.h"

namespace tutti::sim {

struct Fate {
  enum class Kind {
    kDeliver,    // as on a good day
    kDrop,       // the request is lost: no effect, and no reply before the deadline
    kLoseReply,  // it takes effect, but the reply is lost
    kRefuse,     // the API server says no, with `http_status` and `message`
  };
  Kind kind = Kind::kDeliver;
  base::Millis request_delay_ms = 0;  // on the way in
  base::Millis reply_delay_ms = 0;    // on the way back
  bool stray = false;                 // it takes effect even after its deadline: no server-side timeout stops it
  int http_status = 503;
  std::string message = "the server is currently unable to handle the request";
};

class Interceptor {
 public:
  virtual ~Interceptor() = default;
  // Asked once per command, when it is submitted.
  virtual Fate Decide(const cluster::Command& command) = 0;
  // Told after a command took effect or was refused by the API server.
  virtual void Happened(const cluster::Command&, const cluster::CommandReply&) {}
};

}  // namespace tutti::sim
