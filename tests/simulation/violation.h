// SPDX-License-Identifier: Apache-2.0
// Violation: an invariant that does not hold. Questions: how often each invariant was asked about.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tutti::simulation {

struct Violation {
  std::string invariant, message;
};

// How often an invariant was judged, and how often it was not because the scheduler could not have known.
struct Asked {
  uint64_t judged = 0, excused = 0;
};

class Questions {
 public:
  // Counts one question about the invariant. Returns `excuse`.
  bool Excused(std::string_view invariant, bool excuse) {
    Asked& asked = asked_[invariant];
    ++(excuse ? asked.excused : asked.judged);
    return excuse;
  }
  const std::map<std::string_view, Asked>& asked() const { return asked_; }

 private:
  std::map<std::string_view, Asked> asked_;  // by invariant
};

}  // namespace tutti::simulation
