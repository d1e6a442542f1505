// SPDX-License-Identifier: Apache-2.0
#include "observe/prospect.h"

namespace tutti::observe {

std::string_view Word(Prospect::Verdict verdict) {
  switch (verdict) {
    case Prospect::Verdict::kFits: return "fits";
    case Prospect::Verdict::kNeedsVictims: return "needs-victims";
    case Prospect::Verdict::kWaitsForQueue: return "waits-for-queue";
    case Prospect::Verdict::kWaitsForNodes: return "waits-for-nodes";
    case Prospect::Verdict::kWaitsForMembers: return "waits-for-members";
    case Prospect::Verdict::kNever: return "never";
    case Prospect::Verdict::kUndecided: break;
  }
  return "undecided";
}

}  // namespace tutti::observe
