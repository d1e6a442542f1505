// SPDX-License-Identifier: Apache-2.0
// Refusals: which of the scheduler's binds the API server refuses in a scenario.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/objects/object.h"
#include "sim/port/interceptor.h"

namespace tutti::scenarios {

class Refusals final : public sim::Interceptor {
 public:
  // Refuses from now on what {binds-of: POD, to: NODE, times: N} says. In both names `*` stands for any text. Without
  // `to` it is on any node; without `times` it lasts until the next call. A null, or {}, ends all refusals. Errors:
  // kInvalid for an unknown word.
  base::Status Set(const sim::Json& wanted);

  sim::Fate Decide(const cluster::Command& command) override;

 private:
  std::string pods_, nodes_;
  int64_t left_ = 0;
};

// Tells whether `pattern`, in which `*` stands for any text, matches the whole of `text`.
bool MatchesGlob(std::string_view pattern, std::string_view text);

}  // namespace tutti::scenarios
