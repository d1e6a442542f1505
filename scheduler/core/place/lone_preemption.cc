// SPDX-License-Identifier: Apache-2.0
#include "core/place/lone_preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/planted.h"
#include "cluster/as_if_nominated.h"

namespace tutti::core {

using cluster::PodClass;
using framework::NodeTrial;
using framework::NodeVerdict;
using framework::Verdict;
using model::NodeId;
using model::PodId;

namespace {

constexpr const char* kNoVictims = "No preemption victims found for incoming pod";
constexpr const char* kNotHelpful = "Preemption is not helpful for scheduling";
constexpr int64_t kPriorityShift = int64_t{1} << 31;  // makes every priority count for at least nothing

}  // namespace

struct LonePreemption::Asked {
  const PodId id;
  const cluster::PodEntry& pod;
  NodeTrial& trial;
  const int32_t priority = pod.pod->spec->priority;
  const int32_t below = priority + base::Planted(base::Bug::kVictimsOfAll);  // of the pods that may go
};

// While it lives, the pods that are nominated for the node are there, and the trial knows.
class LonePreemption::WithNominated {
 public:
  WithNominated(LonePreemption& search, NodeTrial& trial, NodeId n)
      : nominated_(search.nominated_), trial_(trial), node_(n), scope_(std::in_place, search.what_if_) {
    for (const PodClass* one : nominated_) {
      search.what_if_.Place({}, *one, node_);
      trial_.Told(*one, node_, +1);
    }
  }
  ~WithNominated() {
    scope_.reset();
    for (const PodClass* one : nominated_) trial_.Told(*one, node_, -1);
  }
  WithNominated(const WithNominated&) = delete;
  WithNominated& operator=(const WithNominated&) = delete;

 private:
  const std::vector<const PodClass*>& nominated_;
  NodeTrial& trial_;
  const NodeId node_;
  std::optional<cluster::WhatIf::Scope> scope_;
};

LonePreemption::Victims LonePreemption::LowerOn(const Asked& asked, NodeId n) {
  const Victims lower = victims_.Below(n, asked.below);
  if (!gangs_ || !gangs_->Concerns(lower)) return lower;
  lower_.assign(lower.begin(), lower.end());
  gangs_->KeepWhatMayGo(&lower_);
  return lower_;
}

// What a gang can spare depends on its pods elsewhere.
bool LonePreemption::MayKeep(const Asked& asked, NodeId n) {
  return !gangs_ || !gangs_->Concerns(victims_.Below(n, asked.below));
}

// Upstream: PodEligibleToPreemptOthers. Null: it may preempt.
const char* LonePreemption::WhyNotEligible(const Asked& asked, NodeId own) {
  if (asked.pod.pod->spec->never_preempts) return "not eligible due to preemptionPolicy=Never.";
  if (!own) return nullptr;
  std::optional<NodeVerdict> verdict = VerdictBesideNominated(asked, own);
  if (!verdict) verdict = asked.trial.Explain(own, NodeTrial::Ask::kAllFilters);
  if (verdict->verdict == Verdict::kNever) return nullptr;
  for (const PodId id : state_.pods_on(own)) {
    const model::Pod& pod = *state_.pod(id).pod;
    if (pod.spec->priority < asked.priority && (state_.pod(id).leaving || (pod.meta.deleting() && pod.preempted)))
      return "not eligible due to a terminating pod on the nominated node.";
  }
  return nullptr;
}

void LonePreemption::LoadNominated(const Asked& asked, NodeId n) {
  nominated_.clear();
  if (state_.nominations().empty()) return;
  const cluster::NominatedFor us{asked.priority, [&asked](PodId id) { return id == asked.id; }};
  for (const PodId id : state_.nominations().For(state_.snapshot().node(n).name))
    if (cluster::CountsFor(state_, id, us)) nominated_.push_back(state_.pod(id).pod_class.get());
}

bool LonePreemption::FitsBesideNominated(const Asked& asked, NodeId n) {
  if (!nominated_.empty()) {
    const WithNominated with(*this, asked.trial, n);
    if (asked.trial.Check(n) != Verdict::kFits) return false;
  }
  return asked.trial.Check(n) == Verdict::kFits;
}

std::optional<NodeVerdict> LonePreemption::VerdictBesideNominated(PodId pod, NodeId n, NodeTrial& trial) {
  return VerdictBesideNominated({pod, state_.pod(pod), trial}, n);
}

std::optional<NodeVerdict> LonePreemption::VerdictBesideNominated(const Asked& asked, NodeId n) {
  LoadNominated(asked, n);
  if (nominated_.empty()) return std::nullopt;
  // Its own node is looked at first of all, also where it was left out.
  const bool own = state_.nominations().NodeOf(asked.id) == state_.snapshot().node(n).name;
  const NodeTrial::Ask ask = own ? NodeTrial::Ask::kAllFilters : NodeTrial::Ask::kAsRanking;
  {
    const cluster::WhatIf::Unlogged unlogged(what_if_);
    const WithNominated with(*this, asked.trial, n);
    NodeVerdict verdict = asked.trial.Explain(n, ask);
    if (verdict.verdict != Verdict::kFits) return verdict;
  }
  return asked.trial.Explain(n, ask);
}

// What upstream knows of the node when it begins to look for victims.
Verdict LonePreemption::CheckNow(const Asked& asked, NodeId n, bool* for_amounts) {
  LoadNominated(asked, n);
  const Verdict without = asked.trial.Check(n, for_amounts);
  if (nominated_.empty()) return without;
  if (asked.trial.decided_by_amounts() && (without == Verdict::kFits || *for_amounts) &&
      std::ranges::none_of(nominated_, [](const PodClass* one) { return one->affine(); })) {
    *for_amounts = true;
    if (without != Verdict::kFits) return without;
    return Free(asked, n, {}) ? Verdict::kFits : Verdict::kNotNow;
  }
  *for_amounts = false;
  return VerdictBesideNominated(asked, n)->verdict;
}

// Splits them by whether their eviction violates a budget, if all before them in the list are evicted too.
void LonePreemption::SortByBudgets(Victims lower) {
  violating_.clear();
  others_.clear();
  left_.clear();
  for (uint32_t i = 0; i < lower.size(); ++i) {
    bool violates = false;
    for (const model::DisruptionBudget* budget : lower[i].budgets) {
      auto left = std::ranges::find(left_, budget, [](const auto& one) { return one.first; });
      if (left == left_.end()) left = left_.insert(left_.end(), {budget, budget->allowed});
      violates = --left->second < 0 || violates;
    }
    violates = violates && !base::Planted(base::Bug::kIgnoreBudgets);
    (violates ? violating_ : others_).push_back(i);
  }
}

// stays(i): with the i-th of the list back on the node, the pod still fits; it is back then.
template <typename Stays>
void LonePreemption::Reprieve(Victims lower, int64_t* violations, Stays stays) {
  SortByBudgets(lower);
  picked_.clear();
  for (const uint32_t i : violating_)
    if (!stays(i)) picked_.push_back(i);
  *violations = static_cast<int64_t>(picked_.size());
  for (const uint32_t i : others_)
    if (!stays(i) || (base::Planted(base::Bug::kLoneVictimTooMany) && i + 1 == lower.size())) picked_.push_back(i);
  std::ranges::sort(picked_);  // as the list is
}

// Fills free_ with what is left of each amount once the pod and those nominated are there and `gone` are not. False:
// some of it lacks.
bool LonePreemption::Free(const Asked& asked, NodeId n, std::span<const PossibleVictim> gone) {
  const auto& amounts = asked.trial.amounts();
  free_.resize(amounts.size());
  bool fits = true;
  for (size_t a = 0; a < amounts.size(); ++a) {
    const auto& [column, amount] = amounts[a];
    free_[a] = state_.snapshot().Free(n, column) - amount;
    for (const PodClass* one : nominated_) free_[a] -= AmountOf(*one, column);
    for (const PossibleVictim& one : gone) free_[a] += AmountOf(*one.pod_class, column);
    fits = fits && free_[a] >= 0;
  }
  return fits;
}

bool LonePreemption::PickByAmounts(const Asked& asked, NodeId n, Victims lower, int64_t* violations) {
  const auto& amounts = asked.trial.amounts();
  if (!Free(asked, n, lower)) {
    for (size_t a = 0; a < amounts.size(); ++a) lacking_[a] += free_[a] < 0;
    return false;
  }
  Reprieve(lower, violations, [&](uint32_t i) {
    const PodClass& pod_class = *lower[i].pod_class;
    for (size_t a = 0; a < amounts.size(); ++a)
      if (AmountOf(pod_class, amounts[a].first) > free_[a]) return false;
    for (size_t a = 0; a < amounts.size(); ++a) free_[a] -= AmountOf(pod_class, amounts[a].first);
    return true;
  });
  return true;
}

bool LonePreemption::PickByFilters(const Asked& asked, NodeId n, Victims listed, int64_t* violations) {
  const std::vector<PossibleVictim> lower(listed.begin(), listed.end());  // which is made again when pods are evicted
  std::vector<char> gone(lower.size(), 1);
  bool fits = false;
  {
    const cluster::WhatIf::Unlogged unlogged(what_if_);
    for (const PossibleVictim& one : lower) {
      what_if_.Evict(one.pod);
      asked.trial.Told(*one.pod_class, n, -1);
    }
    fits = FitsBesideNominated(asked, n);
    if (fits) {
      Reprieve(lower, violations, [&](uint32_t i) {
        const cluster::PodEntry& entry = state_.pod(lower[i].pod);
        what_if_.Place({}, *entry.pod_class, n, entry.takings);
        asked.trial.Told(*entry.pod_class, n, +1);
        if (FitsBesideNominated(asked, n)) {
          gone[i] = 0;
          return true;
        }
        what_if_.TakeBack();
        asked.trial.Told(*entry.pod_class, n, -1);
        return false;
      });
    } else {
      std::optional<NodeVerdict> verdict = VerdictBesideNominated(asked, n);
      if (!verdict) verdict = asked.trial.Explain(n, NodeTrial::Ask::kAllFilters);
      for (std::string& reason : verdict->reasons) ++reasons_[std::move(reason)];
    }
  }
  for (size_t i = 0; i < lower.size(); ++i)
    if (gone[i]) asked.trial.Told(*lower[i].pod_class, n, +1);
  return fits;
}

bool LonePreemption::PickVictims(const Asked& asked, NodeId n, bool for_amounts, int64_t* violations) {
  const Victims lower = LowerOn(asked, n);
  if (lower.empty()) {
    ++reasons_[kNoVictims];
    return false;
  }
  const bool plain = std::ranges::none_of(lower, [](const auto& one) { return one.pod_class->affine(); });
  const auto saturated = [&](const auto& one) {
    return state_.snapshot().requested(one.first)[n.index()] >= cluster::kLargestSum;
  };
  const auto& amounts = asked.trial.amounts();
  if (for_amounts && plain && asked.trial.decided_by_amounts() && std::ranges::none_of(amounts, saturated))
    return PickByAmounts(asked, n, lower, violations);
  return PickByFilters(asked, n, lower, violations);
}

PreemptionCost LonePreemption::CostOf(Victims lower, int64_t violations) const {
  PreemptionCost cost{violations, lower[picked_.front()].priority, 0, static_cast<int64_t>(picked_.size()), 0};
  cost.youngest = -lower[picked_.front()].started_ms;  // they are in the order of their starts
  for (const uint32_t i : picked_) cost.sum += lower[i].priority + kPriorityShift;
  return cost;
}

PreemptionCandidate LonePreemption::Make(const Asked& asked, NodeId n, int64_t violations) {
  PreemptionCandidate made{n, {}, {}, violations};
  const Victims lower = LowerOn(asked, n);
  for (uint32_t i = 0; i < lower.size(); ++i)
    (std::ranges::binary_search(picked_, i) ? made.victims : made.others).push_back(lower[i].pod);
  return made;
}

model::NodeRefusals LonePreemption::Refusals(const Asked& asked) const {
  model::NodeRefusals refusals{.nodes = state_.snapshot().node_count(), .reasons = {}, .of_class = {}};
  std::map<std::string, size_t> reasons = reasons_;
  for (size_t a = 0; a < lacking_.size(); ++a)
    if (lacking_[a] > 0) reasons[asked.trial.LackOf(asked.trial.amounts()[a].first)] += lacking_[a];
  refusals.SetReasons(reasons);
  return refusals;
}

std::optional<PreemptionCost> LonePreemption::Judge(const Asked& asked, const Question& question, NodeId n) {
  bool for_amounts = false;
  const Verdict now = question.shuns && question.shuns(n) ? Verdict::kNever : CheckNow(asked, n, &for_amounts);
  if (now != Verdict::kNotNow) {
    // Where it fits, an extender has refused the node: upstream looks for victims there, too.
    if (now == Verdict::kFits && LowerOn(asked, n).empty())
      ++reasons_[kNoVictims];
    else
      ++not_tried_;
    return std::nullopt;
  }
  int64_t violations = 0;
  if (!PickVictims(asked, n, for_amounts, &violations) || picked_.empty()) return std::nullopt;
  return CostOf(LowerOn(asked, n), violations);
}

std::optional<NodeId> LonePreemption::FindBest(const Asked& asked, const Question& question,
                                               PreemptionMemory::Answers* known, PreemptionResult* result) {
  const cluster::Snapshot& snapshot = state_.snapshot();
  lacking_.assign(asked.trial.amounts().size(), 0);
  reasons_.clear();
  not_tried_ = 0;
  const auto most =
      std::max<int64_t>(static_cast<int64_t>(snapshot.node_count()) * question.args.min_candidates_percent / 100,
                        question.args.min_candidates);
  std::optional<PreemptionCost> least;
  std::optional<NodeId> best;
  int64_t found = 0;
  bool some_violate_nothing = false;
  const auto slots = static_cast<uint32_t>(snapshot.slots());
  uint32_t next = slots == 0 ? 0 : question.from % slots;
  for (uint32_t i = 0; i < slots && !(some_violate_nothing && found >= most); ++i) {
    const NodeId n(next);
    if (++next == slots) next = 0;
    const std::optional<PreemptionCost>* before = known ? known->Find(n, state_.pods_version(n)) : nullptr;
    if (!before && !snapshot.present(n)) continue;
    const std::optional<PreemptionCost> cost = before ? *before : Judge(asked, question, n);
    if (known && !before && MayKeep(asked, n)) known->Keep(n, state_.pods_version(n), cost);
    if (!cost) continue;
    ++found;
    some_violate_nothing = some_violate_nothing || cost->violations == 0;
    if (question.lists_candidates) result->candidates.push_back(Make(asked, n, cost->violations));
    if (least && *cost >= *least) continue;
    least = cost;
    best = n;
  }
  return best;
}

PreemptionResult LonePreemption::Search(const Question& question, framework::Ranking& ranking) {
  NodeTrial trial(ranking);
  const Asked asked{question.pod, state_.pod(question.pod), trial};
  PreemptionResult result;
  const NodeId own = state_.snapshot().FindNode(state_.nominations().NodeOf(question.pod));
  if (const char* why = WhyNotEligible(asked, own)) {
    result.outcome = PreemptionResult::Outcome::kNotEligible;
    result.refused.not_eligible = why;
    return result;
  }
  if (gangs_) gangs_->Begin(asked.below);
  const bool as_its_class = !own && !question.shuns && !question.lists_candidates;
  PreemptionMemory::Answers* known = as_its_class ? memory_.Of(*asked.pod.pod_class, ranking) : nullptr;
  std::optional<NodeId> best = FindBest(asked, question, known, &result);
  std::optional<PreemptionCost> cost = best ? Judge(asked, question, *best) : std::nullopt;
  if (!cost && known) {
    // Once more, for the reasons; or because pods have joined gangs meanwhile, which does not touch their nodes.
    best = FindBest(asked, question, nullptr, &result);
    cost = best ? Judge(asked, question, *best) : std::nullopt;
  }
  if (cost) {
    result.outcome = PreemptionResult::Outcome::kFound;
    result.chosen = Make(asked, *best, cost->violations);
    return result;
  }
  result.outcome = PreemptionResult::Outcome::kNoCandidate;
  result.spares_gangs = gangs_ && gangs_->kept_some();
  if (not_tried_ > 0) reasons_[kNotHelpful] += not_tried_;
  result.refused.refusals = Refusals(asked);
  return result;
}

bool LonePreemption::FitsWithoutPicked(const Asked& asked, NodeId n, Victims lower) {
  LoadNominated(asked, n);
  bool fits = false;
  {
    const cluster::WhatIf::Unlogged unlogged(what_if_);
    for (const uint32_t i : picked_) {
      what_if_.Evict(lower[i].pod);
      asked.trial.Told(*lower[i].pod_class, n, -1);
    }
    fits = FitsBesideNominated(asked, n);
  }
  for (const uint32_t i : picked_) asked.trial.Told(*lower[i].pod_class, n, +1);
  return fits;
}

PreemptionResult LonePreemption::ChooseAmong(const Question& question, framework::Ranking& ranking,
                                             std::span<const PreemptionCandidate> candidates) {
  NodeTrial trial(ranking);
  const Asked asked{question.pod, state_.pod(question.pod), trial};
  PreemptionResult result;
  if (gangs_) gangs_->Begin(asked.below);
  std::optional<PreemptionCost> least;
  for (const PreemptionCandidate& candidate : candidates) {
    const NodeId n = candidate.node;
    const Victims now = LowerOn(asked, n);
    const std::vector<PossibleVictim> lower(now.begin(), now.end());  // which is made again when pods are evicted
    picked_.clear();
    for (uint32_t i = 0; i < lower.size(); ++i)
      if (std::ranges::find(candidate.victims, lower[i].pod) != candidate.victims.end()) picked_.push_back(i);
    if (picked_.empty() || (question.shuns && question.shuns(n)) || !FitsWithoutPicked(asked, n, lower)) continue;
    const PreemptionCost cost = CostOf(lower, candidate.violations);
    if (least && cost >= *least) continue;
    least = cost;
    result.outcome = PreemptionResult::Outcome::kFound;
    result.chosen = Make(asked, n, candidate.violations);
  }
  return result;
}

}  // namespace tutti::core
