// SPDX-License-Identifier: Apache-2.0
// The retry rules, all of them: what an answer means, whether to ask again, and when.
#pragma once

#include <string>

#include "base/random.h"
#include "kube/decode.h"
#include "kube/transport.h"

namespace tutti::kube {

enum class Meaning {
  kDone,       // the server did it
  kRefused,    // the server looked at it and said no; the same request would be refused again
  kNotDone,    // it has not happened (never sent, 401, 429, 503 with Retry-After): may be sent again
  kUncertain,  // it may have happened, or may yet: connection lost, timeout, 5xx
};

struct Judgement {
  Meaning meaning = Meaning::kDone;
  base::Millis wait_ms = 0;  // before asking again, if the server said so
  int http_status = 0;
  std::string reason;   // metav1.Status.reason: "Conflict", "Expired", ...
  std::string message;  // why, for everything but kDone; of that, why the answer is not whole
};

// What the answer to a write, or to a read, means.
Judgement Judge(const Response& response);

// What the log is to say of a read that failed; empty: AuthorizedTransport has said it, for all requests at once. One
// that is forbidden names the manifest that would allow it.
std::string Complaint(const Judgement& judgement);

// Exponential, with full jitter on the upper half: between half the step and the step.
class Backoff {
 public:
  Backoff(base::Millis first_ms, base::Millis longest_ms, base::Random& random)
      : first_ms_(first_ms), longest_ms_(longest_ms), random_(random) {}

  // Each call doubles the step.
  base::Millis Next();
  void Reset() { step_ms_ = 0; }

 private:
  const base::Millis first_ms_, longest_ms_;
  base::Random& random_;
  base::Millis step_ms_ = 0;
};

}  // namespace tutti::kube
