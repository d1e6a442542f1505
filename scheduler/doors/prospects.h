// SPDX-License-Identifier: Apache-2.0
// Prospects: answers the questions of the service WhatIf, as far as the caller may see. Thread-safe.
#pragma once

#include <tutti/v1/whatif.pb.h>

#include <string_view>

#include "doors/sight.h"
#include "doors/source.h"
#include "server/places.h"

namespace tutti::doors {

class Prospects {
 public:
  // So many questions are asked at a time, in all and by one user. Each holds a connection until it is answered.
  static constexpr int kMostAtOnce = 64, kMostAtOnceEach = 16;

  // Outlives this.
  explicit Prospects(Source& source) : source_(source) {}

  // `sight` is of all namespaces. Failures: kInvalid, there is no question, or it cannot be read; kForbidden, the user
  // may not ask about the node, or about gangs in one of the namespaces; kNotFound, there is no such node; kTooMany;
  // kUnavailable, this process does not lead, or is too busy, or the API server does not say what the user sees.
  DoorResult<v1::WhatIfResponse> Ask(const v1::WhatIfRequest& request, Sight& sight);
  // Says when the gang could start, which waits and whose namespace the caller sees; or why that is not known.
  void Estimate(const model::GangKey& gang, Sight& sight, v1::StartEstimate* to);

 private:
  Source& source_;
  server::Places places_{kMostAtOnce, kMostAtOnceEach};
};

// Reads a request in JSON. Failure: kInvalid.
DoorResult<v1::WhatIfRequest> ParseWhatIf(std::string_view json);

}  // namespace tutti::doors
