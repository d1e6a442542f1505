// SPDX-License-Identifier: Apache-2.0
#include "core/passes/refusals.h"

#include <string>
#include <utility>

namespace tutti::core {

void Refusals::Wait(model::GangId id, Refusal refusal, const std::string& besides) {
  Gang& gang = book_.at(id);
  std::string remark = refusal.state() == GangState::kInvalid ? "" : gang.spec.remark;
  if (gang.given_up && !gang.given_up->words.empty()) remark += (remark.empty() ? "" : " ") + gang.given_up->words;
  if (!besides.empty()) remark += (remark.empty() ? "" : " ") + besides;
  if (const std::string& said = refusal.reason().remark; !said.empty() && !remark.empty()) remark = said + " " + remark;
  if (!remark.empty()) refusal.AddRemark(remark);
  if (gang.refusal && !gang.refusal->figures_stale) figures_.Keep(id, *gang.refusal, &refusal);
  book_.Refuse(gang, std::move(refusal));
  if (gang.plan) committer_.Pump(id);
}

Refusal Refusals::Judged(model::GangId id, const Members& members, Refusal refusal) {
  const base::Millis now = clock_.MonotonicMs();
  refusal.wakes = framework::Wake::kAll;
  refusal.figures_ms = now;
  agenda_.At(id, now + extender_desk_.Finish(members, false));
  return refusal;
}

}  // namespace tutti::core
