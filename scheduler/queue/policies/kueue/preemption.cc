// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tutti::queue {
namespace {

std::string Because(VictimReason reason) {
  switch (reason) {
    case VictimReason::kInClusterQueue: return "prioritization in the ClusterQueue";
    case VictimReason::kInCohortReclamation: return "reclamation within the cohort";
    case VictimReason::kInCohortFairSharing: return "Fair Sharing within the cohort";
    case VictimReason::kInCohortReclaimWhileBorrowing: return "reclamation within the cohort while borrowing";
  }
  return "";
}

}  // namespace

std::string WordOf(VictimReason reason) {
  switch (reason) {
    case VictimReason::kInClusterQueue: return "InClusterQueue";
    case VictimReason::kInCohortReclamation: return "InCohortReclamation";
    case VictimReason::kInCohortFairSharing: return "InCohortFairSharing";
    case VictimReason::kInCohortReclaimWhileBorrowing: return "InCohortReclaimWhileBorrowing";
  }
  return "";
}

std::string PreemptedMessage(const std::string& preemptor_uid, const std::string& job_uid, VictimReason reason,
                             const std::string& preemptor_path, const std::string& victim_path) {
  const auto known = [](const std::string& text) { return text.empty() ? "UNKNOWN" : text; };
  return fmt::format(
      "Preempted to accommodate a workload (UID: {}, JobUID: {}) due to {}; preemptor path: {}; preemptee path: {}",
      known(preemptor_uid), known(job_uid), Because(reason), known(preemptor_path), known(victim_path));
}

std::string OldPreemptedMessage(const std::string& preemptor_uid, VictimReason reason) {
  const bool shares = reason == VictimReason::kInCohortFairSharing;
  return fmt::format("Preempted to accommodate a workload (UID: {}) due to {}", preemptor_uid,
                     shares ? "fair sharing within the cohort" : Because(reason));
}

bool Preemptor::Reaches(int32_t victims, model::PreemptionPolicy policy) const {
  switch (policy) {
    case model::PreemptionPolicy::kNever: return false;
    case model::PreemptionPolicy::kLowerPriority: return victims < priority;
    case model::PreemptionPolicy::kLowerOrNewerEqualPriority: return victims <= priority;
    case model::PreemptionPolicy::kAny: return true;
  }
  return false;
}

bool Preemptor::MayTake(const Holding& holding, model::PreemptionPolicy policy) const {
  if (!Reaches(holding.priority, policy)) return false;
  if (policy == model::PreemptionPolicy::kLowerOrNewerEqualPriority && holding.priority == priority &&
      holding.queued_ms <= queued_ms)
    return false;
  return std::ranges::any_of(short_cells, [&](CellId cell) { return holding.used.Get(cell) > 0; });
}

bool Trial::TakeOut(const Holding& holding, VictimReason reason) {
  arena_.ledger.Release(arena_.holdings.ChargeOf(holding));
  out_.push_back({&holding, reason});
  return not_found_ == 0 && Fits();
}

bool Trial::FitsWithAllGone() { return not_found_ > 0 && not_found_ < out_.size() && Fits(); }

bool Trial::Fits() {
  if (!has_quota_()) return false;
  if (!preemptor_.has_nodes || preemptor_.has_nodes(Victims())) return true;
  not_found_ = out_.size();
  return false;
}

std::vector<Victim> Trial::Victims() const {
  std::vector<Victim> victims;
  for (const Out& out : out_)
    if (!out.back) victims.push_back({out.holding->gang, out.reason});
  return victims;
}

std::vector<Victim> Trial::Trim() {
  size_t end = out_.size(), block = 1;
  for (int trials = 0; end > 0 && trials < kMostTrials; ++trials) {
    block = std::min(block, end);
    const std::span<Out> tried(&out_[end - block], block);
    for (Out& out : tried) PutBack(&out);
    if (Fits()) {
      end -= block;
      block *= 2;
      continue;
    }
    for (Out& out : tried) TakeOutAgain(&out);
    if (block == 1) --end;  // it is needed
    block = std::max<size_t>(1, block / 2);
  }
  return Victims();
}

void Trial::PutBack(Out* out) {
  out->charge = arena_.ledger.Charge(out->holding->leaf, out->holding->used);
  out->back = true;
}

void Trial::TakeOutAgain(Out* out) {
  arena_.ledger.Release(out->charge);
  out->back = false;
}

}  // namespace tutti::queue
