// SPDX-License-Identifier: Apache-2.0
#include "core/place/victim_search.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/planted.h"
#include "core/gangs/lightest.h"
#include "core/place/topology_rules.h"
#include "core/place/victim_bounds.h"
#include "core/place/victim_choice.h"

namespace tutti::core {

using model::GangId;
using model::NodeId;
using model::PodId;
using What = VictimUnit::What;

namespace {

constexpr int64_t kMostForVictims = 5'000'000;  // some 50 ms
constexpr int64_t kForDrafts = 1'500'000;       // of it, for one round of choosing by amounts
constexpr int64_t kForHalves = 1'500'000;       // of it, for what is left to give back when the rest is spent
constexpr size_t kMostSettled = 4;              // drafts that are asked about, of one round
constexpr size_t kFewVictims = 12, kFewOthers = 64;
constexpr size_t kMostRounds = 4;  // priorities tried one after another, before all go

using Groups = std::vector<std::vector<NodeId>>;

std::vector<NodeId> PresentNodes(const cluster::Snapshot& nodes) {
  std::vector<NodeId> present;
  for (uint32_t slot = 0; slot < nodes.slots(); ++slot)
    if (nodes.present(NodeId(slot))) present.emplace_back(slot);
  return present;
}

// Sets of nodes within one of which the members have to be.
Groups GroupsOf(const Problem& problem, const Rules& rules, const cluster::Snapshot& nodes) {
  Groups groups;
  if (!rules.any_does)
    for (const Rule& rule : rules.sets.back()) {
      if (rule.shape != Rule::Shape::kOne || rule.kinds.size() != problem.kinds.size()) continue;
      std::vector<std::pair<std::string_view, std::vector<NodeId>>> named;
      for (const auto& [value, in] : nodes.labels().DomainsOf(rule.level))
        if (rule.held.empty() || rule.held.contains(value)) named.emplace_back(nodes.symbols().Text(value), in);
      std::ranges::sort(named, {}, [](const auto& item) { return item.first; });
      for (auto& [name, in] : named) groups.push_back(std::move(in));
      for (std::vector<NodeId>& group : groups) std::ranges::sort(group);
      return groups;
    }
  groups.push_back(PresentNodes(nodes));
  return groups;
}

}  // namespace

struct VictimSearch::Question {
  Question(VictimSearch& search, GangId gang_id, const Members& members, const Requirement& needs,
           VictimRights& of_gang)
      : state(search.state_),
        id(gang_id),
        gang(search.book_.at(gang_id)),
        pending(members),
        rights(of_gang),
        problem(search.planner_.ProblemOf(members, needs)),
        asks(problem, search.rankings_, state.snapshot()),
        groups(GroupsOf(problem, MakeRules(gang, problem, state), state.snapshot())),
        bounds(asks, problem, state.snapshot(), groups),
        wanted(asks.classes(), 0) {
    problem.explains = false;
    Members chosen = HighestPriority(members, needs);
    if (std::ssize(chosen) < problem.total()) chosen = members;
    absl::flat_hash_map<const cluster::PodClass*, size_t> place_of;
    for (size_t c = 0; c < asks.classes(); ++c) place_of[&asks.pod_class(c)] = c;
    for (const Member* member : chosen) ++wanted[place_of.at(state.pod(member->pod).pod_class.get())];
  }

  // In the bounds, the unit is gone; it is back; these are gone, and nothing else.
  void Go(const VictimUnit& unit) {
    for (const PodId pod : unit.pods) bounds.Go(state.pod(pod));
  }
  void ComeBack(const VictimUnit& unit) {
    for (const PodId pod : unit.pods) bounds.ComeBack(state.pod(pod));
  }
  void LetGo(const std::vector<VictimUnit>& units) {
    bounds.Reset();
    for (const VictimUnit& unit : units) Go(unit);
  }

  const cluster::ClusterState& state;
  const GangId id;
  const Gang& gang;
  const Members& pending;
  VictimRights& rights;
  Problem problem;
  const MemberAsks asks;
  const Groups groups;
  VictimBounds bounds;
  std::vector<int64_t> wanted;  // by class
  Budget budget{kMostForVictims - kForHalves};
  Budget for_halves{kForHalves};  // what is spent of it is spent of `budget` as well
  int32_t highest = 0;            // that may go in this round
  // Of this round, by group, once they are asked for: units, and whether some were left for now.
  struct Found {
    std::vector<VictimUnit> units;
    bool left_some = false;
  };
  std::vector<std::optional<Found>> found;
  bool gave_up = false;  // some answer that should be a proof is none
};

struct VictimSearch::Draft {
  VictimCost cost;
  std::vector<VictimUnit> units;
};

VictimAnswer VictimSearch::Run(GangId id, const Members& pending, const Requirement& requirement,
                               VictimRights& rights) {
  evictable_.CatchUp();
  VictimAnswer none;
  none.proven = true;
  if (evictable_.PrioritiesBelow(rights.below()).empty()) return none;
  units_.Begin(rights);
  Question question(*this, id, pending, requirement, rights);
  VictimAnswer answer = Answer(question);
  planner_.Spend(kMostForVictims - kForHalves - question.budget.left());
  return answer;
}

VictimAnswer VictimSearch::Answer(Question& question) {
  const std::vector<int32_t> priorities = evictable_.PrioritiesBelow(question.rights.below());
  const auto enough = [&](int32_t highest) {
    question.bounds.FreeUpTo(highest, evictable_);
    return !question.bounds.DisprovesAll();
  };
  VictimAnswer none;
  none.proven = true;
  if (!enough(priorities.back())) return none;
  auto lowest = std::ranges::partition_point(priorities, [&](int32_t highest) { return !enough(highest); });
  for (size_t round = 0; lowest != priorities.end(); ++lowest, ++round) {
    if (round == kMostRounds) lowest = std::prev(priorities.end());
    if (auto answer = TryUpTo(question, *lowest)) return *std::move(answer);
  }
  // With all gone some members may lack company that they want to be near to.
  for (const MemberKind& kind : question.problem.kinds)
    none.proven = none.proven && kind.pod_class->spec->pod_affinity.required.empty();
  // Room that is kept for others comes free when it is not, and no pod gives it up then.
  none.proven = none.proven && !question.gave_up && planner_.NominatedBeside(question.gang, question.pending).empty();
  return none;
}

std::optional<VictimAnswer> VictimSearch::TryUpTo(Question& question, int32_t highest) {
  question.highest = highest;
  question.found.assign(question.groups.size(), std::nullopt);
  question.gave_up = false;
  std::optional<VictimAnswer> best;
  size_t settled = 0;
  for (Draft& draft : base::Planted(base::Bug::kGangVictimTooMany) ? std::vector<Draft>() : DraftsOf(question)) {
    if ((best && units_.CostTogether(best->victims) <= draft.cost) || settled++ == kMostSettled) break;
    auto answer = AskAndGiveBack(question, std::move(draft.units));
    if (answer && (!best || IsCheaper(answer->victims, best->victims))) best = std::move(answer);
  }
  if (best) {
    SpareGangs(question, &best);
    return best;
  }
  // What fits without all that may go can be made to do with less.
  question.gave_up = false;
  std::vector<VictimUnit> all = AllOf(question, What::kGang);
  return all.empty() ? std::nullopt : AskAndGiveBack(question, std::move(all));
}

void VictimSearch::SpareGangs(Question& question, std::optional<VictimAnswer>* best) {
  if (units_.CostTogether((*best)->victims).gangs == 0 || question.budget.exhausted()) return;
  std::vector<VictimUnit> others = AllOf(question, What::kSpare);
  question.LetGo(others);
  if (question.bounds.DisprovesAll()) return;
  auto without = AskAndGiveBack(question, std::move(others));
  if (without && IsCheaper(without->victims, (*best)->victims)) *best = std::move(without);
}

// Returns what may go on one set of nodes in this round.
const std::vector<VictimUnit>& VictimSearch::UnitsIn(Question& question, size_t group) {
  std::optional<Question::Found>& found = question.found[group];
  if (!found) {
    found.emplace().units = units_.On(question.groups[group], question.highest, question.id);
    found->left_some = units_.left_some();
  }
  return found->units;
}

std::vector<VictimUnit> VictimSearch::AllOf(Question& question, What most) {
  std::vector<VictimUnit> all, parts;
  absl::flat_hash_set<GangId> whole;
  question.bounds.FreeUpTo(question.highest, evictable_);
  for (size_t g = 0; g < question.groups.size(); ++g) {
    if (question.bounds.Disproves(g)) continue;
    for (const VictimUnit& unit : UnitsIn(question, g))
      if (unit.what > most)
        continue;
      else if (unit.what == What::kSpare)
        parts.push_back(unit);
      else if (unit.what != What::kGang || whole.insert(unit.gang).second)
        all.push_back(unit);
    question.gave_up = question.gave_up || question.found[g]->left_some;
  }
  absl::flat_hash_map<GangId, std::vector<size_t>> parts_of;  // that are among `all`
  for (VictimUnit& part : parts) {
    if (whole.contains(part.gang)) continue;
    std::vector<size_t>& together = parts_of[part.gang];
    if (std::ranges::find(together, part.part) != together.end()) continue;
    if (units_.TryAdd(part.gang, part.part, &together)) all.push_back(std::move(part));
  }
  const std::vector<size_t> taken = question.rights.TakeOf(all);
  question.rights.GiveAllBack();
  if (taken.size() == all.size()) return all;
  question.gave_up = true;  // with others in their stead it may fit
  std::vector<VictimUnit> allowed;
  for (const size_t u : taken) allowed.push_back(std::move(all[u]));
  return allowed;
}

// Of no gang more parts go than it can spare.
bool VictimSearch::MayGo(const std::vector<VictimUnit>& units) const {
  absl::flat_hash_map<GangId, std::vector<size_t>> parts;
  for (const VictimUnit& unit : units)
    if (unit.what == What::kSpare) parts[unit.gang].push_back(unit.part);
  return std::ranges::all_of(parts, [this](const auto& item) { return units_.MayGo(item.first, item.second); });
}

// One of each group in which there may be room, the cheapest first.
std::vector<VictimSearch::Draft> VictimSearch::DraftsOf(Question& question) {
  question.bounds.FreeUpTo(question.highest, evictable_);
  std::vector<size_t> open;
  for (size_t g = 0; g < question.groups.size(); ++g)
    if (!question.bounds.Disproves(g)) open.push_back(g);
  Budget budget(std::min(kForDrafts, question.budget.left()));
  const int64_t before = budget.left();
  std::vector<Draft> drafts;
  for (const size_t g : open) {
    if (budget.exhausted()) break;
    const std::vector<NodeId>& nodes = question.groups[g];
    const std::vector<VictimUnit>& units = UnitsIn(question, g);
    budget.Spend(std::ssize(nodes) + 10 * std::ssize(units));
    auto chosen = VictimChoice(state_, question.asks, question.wanted, nodes, units, budget)
                      .Run([this](GangId gang, std::span<const size_t> parts) { return units_.MayGo(gang, parts); },
                           question.rights);
    if (!chosen) continue;
    Draft& draft = drafts.emplace_back();
    for (const size_t u : chosen->units) draft.units.push_back(units[u]);
    draft.cost = units_.CostTogether(draft.units);
  }
  question.budget.Spend(before - budget.left());
  std::ranges::stable_sort(drafts, {}, &Draft::cost);
  return drafts;
}

PlanResult VictimSearch::AskWithout(Question& question, const std::vector<VictimUnit>& units) {
  cluster::WhatIf& what_if = planner_.what_if();
  const cluster::WhatIf::Scope scope(what_if);
  absl::flat_hash_set<PodId> gone;
  for (const VictimUnit& unit : units)
    for (const PodId pod : unit.pods)
      if (gone.insert(pod).second) what_if.Evict(pod);
  const int64_t work = planner_.work();
  PlanResult result = planner_.Place(question.gang, question.pending, question.problem);
  question.budget.Spend(Budget::kPlacement * std::ssize(gone) + planner_.work() - work);
  planner_.Spend(work - planner_.work());  // it is in the budget
  return result;
}

bool VictimSearch::Suffice(Question& question, const std::vector<VictimUnit>& units) const {
  question.budget.Spend(VictimRights::kPerUnit * std::ssize(units));
  return question.rights.Suffice(units);
}

bool VictimSearch::MakeRoomInQueue(Question& question, std::vector<VictimUnit>* units) {
  if (Suffice(question, *units)) return true;
  if (question.rights.TakeOf(*units).size() < units->size()) {
    question.rights.GiveAllBack();
    return false;
  }
  const std::vector<NodeId> nodes = PresentNodes(state_.snapshot());
  std::vector<VictimUnit> others = units_.On(nodes, question.highest, question.id);
  question.budget.Spend(std::ssize(nodes) + 10 * std::ssize(others));
  absl::flat_hash_map<GangId, std::vector<size_t>> parts;
  absl::flat_hash_set<PodId> gone;
  const auto is_gone = [&gone](PodId pod) { return gone.contains(pod); };
  for (const VictimUnit& unit : *units) {
    gone.insert(unit.pods.begin(), unit.pods.end());
    if (unit.what == What::kSpare) parts[unit.gang].push_back(unit.part);
  }
  bool enough = false;
  for (VictimUnit& unit : others) {
    if (unit.what == What::kGang ? std::ranges::all_of(unit.pods, is_gone) : std::ranges::any_of(unit.pods, is_gone))
      continue;
    if (!question.rights.MakesRoomInQueue(unit) || !question.rights.MayTake(unit)) continue;
    if (unit.what == What::kSpare && !units_.TryAdd(unit.gang, unit.part, &parts[unit.gang])) continue;
    if (unit.what == What::kGang)  // its parts go with it
      std::erase_if(*units,
                    [&](const VictimUnit& part) { return part.what == What::kSpare && part.gang == unit.gang; });
    question.rights.Take(unit);
    gone.insert(unit.pods.begin(), unit.pods.end());
    units->push_back(std::move(unit));
    enough = question.rights.QueueTakesGang();
    if (enough) break;
  }
  question.rights.GiveAllBack();
  return enough;
}

std::optional<VictimAnswer> VictimSearch::AskAndGiveBack(Question& question, std::vector<VictimUnit> units) {
  if (!MakeRoomInQueue(question, &units)) {
    question.gave_up = true;
    return std::nullopt;
  }
  PlanResult found = AskWithout(question, units);
  question.gave_up = question.gave_up || found.verdict == framework::Verdict::kGaveUp;
  if (!found.fits) return std::nullopt;
  std::vector<VictimUnit> needed = units;
  if (!base::Planted(base::Bug::kGangVictimTooMany)) DropUnneeded(question, found.placements, &needed);
  if (needed.size() < units.size() && Suffice(question, needed))
    if (PlanResult again = AskWithout(question, needed); again.fits) {
      units = std::move(needed);
      found = std::move(again);
    }
  VictimAnswer answer;
  answer.fits = true;
  answer.victims = std::move(units);
  answer.placements = std::move(found.placements);
  if (base::Planted(base::Bug::kGangVictimTooMany)) return answer;
  GiveBack(question, &answer);
  Exchange(question, &answer);
  return answer;
}

// Takes out those beside which, by amounts, the placements stand, the dearest first.
void VictimSearch::DropUnneeded(const Question& question, const std::vector<cluster::Placement>& placements,
                                std::vector<VictimUnit>* units) const {
  using Amounts = MemberAsks::Amounts;
  const MemberAsks& asks = question.asks;
  absl::flat_hash_map<NodeId, Amounts> left;  // of nodes where members are
  for (const cluster::Placement& placement : placements) {
    const auto [at, fresh] = left.try_emplace(placement.node);
    if (fresh) at->second = asks.FreeOn(placement.node, state_.snapshot());
    AddAmounts(at->second, asks.HeldBy(*placement.pod_class), -1);
  }
  absl::flat_hash_set<PodId> gone;
  for (const VictimUnit& unit : *units)
    for (const PodId id : unit.pods)
      if (const auto at = left.find(state_.pod(id).node); gone.insert(id).second && at != left.end())
        AddAmounts(at->second, asks.HeldBy(*state_.pod(id).pod_class));
  std::ranges::stable_sort(*units, std::ranges::greater(), &VictimUnit::cost);
  const auto stays = [&](const VictimUnit& unit) {
    absl::flat_hash_map<NodeId, Amounts> with;
    for (const PodId id : unit.pods)
      if (const cluster::PodEntry& pod = state_.pod(id); left.contains(pod.node)) {
        Amounts& amounts = with.try_emplace(pod.node, left.at(pod.node)).first->second;
        AddAmounts(amounts, asks.HeldBy(*pod.pod_class), -1);
        if (std::ranges::any_of(amounts, [](int64_t amount) { return amount < 0; })) return false;
      }
    for (auto& [node, amounts] : with) left[node] = amounts;
    return true;
  };
  std::erase_if(*units, stays);
}

// What was found stands without the units, or is found again.
bool VictimSearch::GivesBack(Question& question, std::span<const VictimUnit> units, VictimAnswer* answer) {
  for (const VictimUnit& unit : units) question.ComeBack(unit);
  const auto stay_gone = [&] {
    for (const VictimUnit& unit : units) question.Go(unit);
    return false;
  };
  if (question.bounds.DisprovesAll()) return stay_gone();
  absl::flat_hash_set<PodId> back;
  for (const VictimUnit& unit : units) back.insert(unit.pods.front());
  std::vector<VictimUnit> others;
  std::ranges::copy_if(answer->victims, std::back_inserter(others),
                       [&](const VictimUnit& other) { return !back.contains(other.pods.front()); });
  if (!Suffice(question, others)) return stay_gone();
  PlanResult without = AskWithout(question, others);
  if (!without.fits) return stay_gone();
  answer->victims = std::move(others);
  answer->placements = std::move(without.placements);
  return true;
}

// Of what the gang can spare on these nodes, as much as may go together, and beside `others` by right.
std::vector<VictimUnit> VictimSearch::PartsOn(Question& question, std::span<const NodeId> nodes, GangId gang,
                                              const std::vector<VictimUnit>& others) {
  std::vector<VictimUnit> all = others;
  std::vector<size_t> together;
  for (VictimUnit& unit : units_.On(nodes, question.highest, question.id)) {
    if (unit.what != What::kSpare || unit.gang != gang) continue;
    if (!question.budget.Spend(std::ssize(together) + 1)) break;
    if (units_.TryAdd(gang, unit.part, &together)) all.push_back(std::move(unit));
  }
  std::vector<VictimUnit> parts;
  if (together.empty()) return parts;
  question.budget.Spend(VictimRights::kPerUnit * std::ssize(all));
  std::vector<size_t> taken = question.rights.TakeOf(all);
  question.rights.GiveAllBack();
  std::ranges::sort(taken);
  for (const size_t u : taken)
    if (u >= others.size()) parts.push_back(std::move(all[u]));
  return parts;
}

// The parts that a gang can spare, where these are enough: those where members are placed, else also those that only
// make room in a queue.
std::vector<VictimUnit> VictimSearch::PartsInstead(Question& question, const VictimUnit& gang, VictimAnswer* answer) {
  std::vector<NodeId> nodes, near;
  for (const PodId pod : gang.pods) nodes.push_back(state_.pod(pod).node);
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  absl::flat_hash_set<NodeId> placed;
  for (const cluster::Placement& placement : answer->placements) placed.insert(placement.node);
  std::ranges::copy_if(nodes, std::back_inserter(near), [&](NodeId node) { return placed.contains(node); });
  question.budget.Spend(std::ssize(answer->placements));
  std::vector<VictimUnit> others;
  std::ranges::copy_if(answer->victims, std::back_inserter(others),
                       [&](const VictimUnit& other) { return other.pods != gang.pods; });
  for (const std::vector<NodeId>& where : {near, nodes}) {
    if (question.budget.exhausted()) return {};
    std::vector<VictimUnit> parts = PartsOn(question, where, gang.gang, others), instead = others;
    instead.insert(instead.end(), parts.begin(), parts.end());
    if (parts.empty() || !Suffice(question, instead)) continue;
    PlanResult with_parts = AskWithout(question, instead);
    if (!with_parts.fits) return {};
    question.ComeBack(gang);
    for (const VictimUnit& part : parts) question.Go(part);
    answer->victims = std::move(instead);
    answer->placements = std::move(with_parts.placements);
    return parts;
  }
  return {};
}

// Few victims are looked at once more: one unit that goes in place of one or two that cost more together.
void VictimSearch::Exchange(Question& question, VictimAnswer* answer) {
  const auto affordable = [&question] { return question.budget.left() > kMostForVictims / 2; };
  if (answer->victims.size() > kFewVictims || answer->exhausted || !affordable()) return;
  std::vector<VictimUnit> others;
  for (size_t g = 0; g < question.groups.size(); ++g) {
    std::ranges::copy(UnitsIn(question, g), std::back_inserter(others));
    if (others.size() > kFewOthers) return;
  }
  for (bool again = true; again && affordable();) {
    again = false;
    for (const VictimUnit& one : others) again = again || ExchangeFor(question, one, answer);
  }
}

bool VictimSearch::ExchangeFor(Question& question, const VictimUnit& one, VictimAnswer* answer) {
  const std::vector<VictimUnit>& victims = answer->victims;
  for (const VictimUnit& victim : victims)
    if (victim.pods == one.pods ||
        (victim.gang && victim.gang == one.gang && (victim.what == What::kGang || one.what == What::kGang)))
      return false;
  for (size_t a = 0; a < victims.size(); ++a)
    for (size_t b = a; b < victims.size(); ++b) {
      VictimCost cost = victims[a].cost;
      if (b != a) cost += victims[b].cost;
      if (cost <= one.cost) continue;
      std::vector<VictimUnit> with{one};
      for (size_t i = 0; i < victims.size(); ++i)
        if (i != a && i != b) with.push_back(victims[i]);
      const VictimUnit first = victims[a], second = victims[b];
      question.Go(one);
      question.ComeBack(first);
      if (b != a) question.ComeBack(second);
      if (!question.bounds.DisprovesAll() && MayGo(with) && Suffice(question, with))
        if (PlanResult found = AskWithout(question, with); found.fits) {
          answer->victims = std::move(with);
          answer->placements = std::move(found.placements);
          GiveBack(question, answer);
          return true;
        }
      question.ComeBack(one);
      question.Go(first);
      if (b != a) question.Go(second);
    }
  return false;
}

void VictimSearch::GiveBack(Question& question, VictimAnswer* answer) {
  question.LetGo(answer->victims);
  std::vector<VictimUnit> to_try = answer->victims;
  std::ranges::stable_sort(to_try, std::ranges::greater(), &VictimUnit::cost);
  for (size_t i = 0; i < to_try.size(); ++i) {
    if (question.budget.exhausted()) {
      GiveBackByHalves(question, std::span(to_try).subspan(i), /*some_stay=*/false, answer);
      return;
    }
    const VictimUnit unit = to_try[i];
    if (GivesBack(question, {&unit, 1}, answer) || unit.what != What::kGang) continue;
    std::ranges::copy(PartsInstead(question, unit, answer), std::back_inserter(to_try));
  }
}

// Where few are needed, most come back at once.
bool VictimSearch::GiveBackByHalves(Question& question, std::span<const VictimUnit> units, bool some_stay,
                                    VictimAnswer* answer) {
  if (!some_stay) {
    if (question.for_halves.exhausted()) {
      answer->exhausted = true;
      return false;
    }
    const int64_t before = question.budget.left();
    const bool all_come_back = GivesBack(question, units, answer);
    question.for_halves.Spend(before - question.budget.left());
    if (all_come_back) return true;
  }
  if (units.size() == 1) return false;
  const size_t half = units.size() / 2;
  const bool first = GiveBackByHalves(question, units.first(half), /*some_stay=*/false, answer);
  GiveBackByHalves(question, units.subspan(half), /*some_stay=*/first, answer);
  return false;
}

}  // namespace tutti::core
