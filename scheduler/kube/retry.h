// SPDX-License-Identifier: Apache-2.0
// All rules of retrying: the meaning of an answer, whether to ask again, and when.
#pragma once

#include <string>

#include "base/random.h"
#include "kube/decode.h"
#include "kube/transport.h"

namespace tutti::kube {

enum class Meaning {
  kDone,       // the server did it
  kRefused,    // the server refused the request, and would refuse it again
  kNotDone,    // the request had no effect (never sent, 401, 429, 503 with Retry-After): it may be sent again
  kUncertain,  // the request may have taken effect, or may do so later: connection lost, timeout, 5xx
};

struct Judgement {
  Meaning meaning = Meaning::kDone;
  base::Millis wait_ms = 0;  // before asking again, if the server named a time
  int http_status = 0;
  std::string reason;   // metav1.Status.reason: "Conflict", "Expired", ...
  std::string message;  // why; for kDone: why the answer is incomplete
};

// Judges the answer to a write, or to a read.
Judgement Judge(const Response& response);

// Returns the log's text about a read that failed; empty if AuthorizedTransport has logged it for all requests. The
// text about a forbidden read names the manifest that would allow it.
std::string Complaint(const Judgement& judgement);

// An exponential backoff with jitter: each wait is between half the step and the step.
class Backoff {
 public:
  Backoff(base::Millis first_ms, base::Millis longest_ms, base::Random& random)
      : first_ms_(first_ms), longest_ms_(longest_ms), random_(random) {}

  // Returns the next wait. Each call doubles the step.
  base::Millis Next();
  void Reset() { step_ms_ = 0; }

 private:
  const base::Millis first_ms_, longest_ms_;
  base::Random& random_;
  base::Millis step_ms_ = 0;
};

}  // namespace tutti::kube
