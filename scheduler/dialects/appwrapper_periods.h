// SPDX-License-Identifier: Apache-2.0
// WrapperPeriods: how long an AppWrapper is given for what, and how often it is tried again.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "cluster/json_reader.h"
#include "model/object_meta.h"

namespace tutti::dialects {

// v1beta2, by annotations workload.codeflare.dev.appwrapper/...; none is longer than a day, but for the success TTL.
struct WrapperPeriods {
  base::Millis admission_ms = 60'000;  // for its pods to come, and for what a creation lacks
  base::Millis warmup_ms = 300'000;    // for its pods to run, once all are there
  base::Millis failure_ms = 60'000;    // for its controllers to mend failed pods
  base::Millis pause_ms = 90'000;      // between two tries
  base::Millis keep_failed_ms = 0;     // what has failed is kept so long
  base::Millis success_ttl_ms = 604'800'000;
  int64_t retry_limit = 3;
  friend bool operator==(const WrapperPeriods&, const WrapperPeriods&) = default;
};

// What cannot be read has its default.
WrapperPeriods ReadPeriods(const model::StringMap& annotations);

// v1beta1's schedulingSpec.
struct Requeuing {
  enum class Growth : uint8_t { kExponential, kLinear, kNone };
  int64_t min_available = 0;  // pods that run or have succeeded; fewer for too long, and it is put back in the queue
  base::Millis first_ms = 300'000;  // how long fewer may be, the first time
  base::Millis longest_ms = 0;      // and at most; 0: without end
  Growth growth = Growth::kExponential;
  int64_t most = 0;                    // so often, and then it is given up; 0: without end
  base::Millis dispatch_limit_ms = 0;  // so long after its dispatch it fails; 0: never
  friend bool operator==(const Requeuing&, const Requeuing&) = default;
};
Requeuing ReadRequeuing(cluster::JsonReader& read, const cluster::JsonField& scheduling_spec);
// How long fewer may be after it was put back `times` times; no more seconds than an int32 can say.
base::Millis PauseAfter(const Requeuing& requeuing, int64_t times);

}  // namespace tutti::dialects
