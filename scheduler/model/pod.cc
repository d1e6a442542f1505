// SPDX-License-Identifier: Apache-2.0
#include "model/pod.h"

namespace tutti::model {

PodPhase ParsePhase(std::string_view word) {
  if (word.empty() || word == "Pending") return PodPhase::kPending;
  if (word == "Running") return PodPhase::kRunning;
  if (word == "Succeeded") return PodPhase::kSucceeded;
  if (word == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

}  // namespace tutti::model
