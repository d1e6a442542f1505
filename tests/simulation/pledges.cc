// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pledges.h"

#include <fmt/format.h>

namespace tutti::simulation {

std::string Pledges::OnBindLeaves(const Truth& truth, const TruePod& pod, const std::string& id,
                                  const std::string& commit) {
  undone_.erase(pod.uid);
  Plan& plan = plans_.try_emplace(id, Plan{pod.gang, {}}).first->second;
  if (plan.gang != pod.gang)
    return fmt::format("plan {} binds {} of {}, and is of {}", id, pod.name, pod.gang, plan.gang);
  if (commit == pod.uid) return {};  // the last of its plan, or one that fills up a whole gang
  const TruePod* last = truth.Pod(plan.commit);
  if (!last || !last->live()) plan.commit = commit;
  if (plan.commit == commit) return {};
  return fmt::format("plan {} of {} binds {} last, and now {}", id, pod.gang, plan.commit, commit);
}

void Pledges::OnUndo(const TruePod& member) {
  if (!member.commit.empty()) undone_.insert_or_assign(member.commit, member.plan);
}

bool Pledges::ComesTooLate(const TruePod& pod) const {
  const auto undone = undone_.find(pod.uid);
  return undone != undone_.end() && pod.commit == pod.uid && pod.plan == undone->second;
}

}  // namespace tutti::simulation
