// SPDX-License-Identifier: Apache-2.0
#include "core/place/search.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <numeric>

#include "core/place/apart.h"
#include "core/place/bounds.h"
#include "core/place/descend.h"
#include "core/place/exact.h"
#include "dialects/wording.h"

namespace tutti::core {
namespace {

using cluster::WhatIf;
using framework::FilterState;
using model::NodeId;
using model::Symbol;

// Some 10 ms, or as long as two more tries of one member after another; a search that ends does so after a small part.
constexpr int64_t kMostWork = 750'000;
// To see what a placement changes for one kind; and where it may change all nodes for that, for one node.
constexpr int64_t kWorkPerKind = 5, kWorkPerNode = 5;
constexpr size_t kMostTargets = 64;
constexpr size_t kFewRules = 3, kFewKinds = 8;  // for more of either an exact search is not the first thing tried
constexpr size_t kMostDomains = 64;             // tried one after another, those with most room

Counts CountsOf(const Problem& problem) {
  Counts counts;
  for (const MemberKind& kind : problem.kinds) counts.push_back(kind.count());
  return counts;
}

bool HasSlices(const std::vector<Rule>& rules) {
  return std::ranges::any_of(rules, [](const Rule& rule) { return rule.shape == Rule::Shape::kSlices; });
}

// Of sets that differ in nothing but their first rule's level, and whose levels have one name (the layers of
// HyperNodes that share nodes), the set whose first rule finds the most room in one domain. `domains`: of all of them.
const std::vector<Rule>& NearestOf(const RuleSets& sets, const Problem& problem, const cluster::Snapshot& snapshot,
                                   const auto& room_of, size_t* domains) {
  const std::vector<Rule>& last = sets.back();
  if (last.empty() || last.front().shape != Rule::Shape::kOne) return last;
  const auto name_of = [&](const Rule& rule) { return dialects::NamedLevel(snapshot.symbols().Text(rule.level)); };
  const std::string name = name_of(last.front());
  const std::vector<Rule>* nearest = &last;
  int64_t most = -2;
  std::vector<Symbol> seen;
  for (const std::vector<Rule>& set : sets) {
    if (set.size() != last.size() || set.front().shape != last.front().shape || name_of(set.front()) != name ||
        std::ranges::find(seen, set.front().level) != seen.end())
      continue;
    seen.push_back(set.front().level);
    *domains += snapshot.labels().DomainsOf(set.front().level).size();
    const int64_t room = Broken(set.front(), problem) ? -1 : room_of(set.front());
    if (room > most) most = room, nearest = &set;
  }
  return *nearest;
}

}  // namespace

Search::Search(WhatIf& what_if, Rankings& rankings, const Problem& problem)
    : what_if_(what_if),
      rankings_(rankings),
      problem_(problem),
      most_work_(std::max(kMostWork, 2 * Budget::kPlacement * problem.total())),
      budget_(most_work_) {
  for (const MemberKind& kind : problem.kinds)
    order_matters_ = order_matters_ || rankings.For(kind.pod_class).reach() == FilterState::Reach::kCluster;
}

SearchResult Search::Run(const Rules& given) {
  const RuleSets& rule_sets = given.sets;
  SearchResult result;
  SearchOutcome last = SearchOutcome::kUnknown;
  // What is only preferred gets half, each an equal share, and what is required the other.
  const auto preferred = static_cast<int64_t>(rule_sets.size()) - 1;
  Budget to_prefer(most_work_ / 2);
  for (const std::vector<Rule>& rules : rule_sets) {
    const bool required = &rules == &rule_sets.back();
    if (!required && to_prefer.exhausted()) {
      result.gave_up = result.gave_up || given.any_does;
      continue;
    }
    const int64_t share = preferred == 0 ? most_work_ : most_work_ / 2 / (required ? 1 : preferred);
    budget_ = Budget(share);
    last_try_ = 0;
    last = rules.empty() ? TryFree(&result) : TryRules(rules, &result);
    const int64_t spent = share - budget_.left() + last_try_;
    result.work += spent;
    if (last == SearchOutcome::kFound) return result;
    if (!required) to_prefer.Spend(spent);
    result.gave_up = result.gave_up || (last == SearchOutcome::kUnknown && given.any_does);
  }
  if (!given.all && !Disproved()) result.gave_up = true;
  result.gave_up = result.gave_up || last == SearchOutcome::kUnknown;
  if (!problem_.explains) return result;
  size_t domains = 0;
  const auto room_of = [this](const Rule& rule) {
    NearestDomain found;
    FindNearest(rule, &found);
    return found.room;
  };
  Explain(NearestOf(rule_sets, problem_, what_if_.snapshot(), room_of, &domains), &result);
  if (result.nearest && domains > 0) result.nearest->domains = domains;
  return result;
}

// Made at the first question: a search that finds nodes at once has none. Nothing is placed whenever it is asked.
Bounds& Search::BoundsOf() { return bounds_ ? *bounds_ : bounds_.emplace(problem_, rankings_); }

bool Search::Disproved() {
  for (const Demand& demand : problem_.demands) {
    const int64_t most = BoundsOf().Most(demand), wanted = demand.of_kinds();
    if (most >= wanted) continue;
    short_kinds_ = demand.kinds;
    short_by_ = wanted - most;
    return true;
  }
  return false;
}

SearchOutcome Search::TryFree(SearchResult* result) {
  if (TryGreedily(Greedy::Order::kLargestFirst, nullptr, {}, result)) return SearchOutcome::kFound;
  if (Disproved()) return SearchOutcome::kImpossible;
  if (problem_.kinds.size() > 1)
    for (const auto order : {Greedy::Order::kTightestNode, Greedy::Order::kSmallestFirst})
      if (TryGreedily(order, nullptr, {}, result)) return SearchOutcome::kFound;
  return order_matters_ ? TryInDomains({}, result) : TryExactly({}, result);
}

// Members that have nodes break some rules already, for labels of nodes have changed since: no more can be placed
// under these rules, and the other members are too few.
bool Search::TornApart(const std::vector<Rule>& rules) const {
  std::vector<char> out(problem_.kinds.size());
  for (const Rule& rule : rules)
    if (Broken(rule, problem_))
      for (const size_t k : rule.kinds) out[k] = 1;
  return std::ranges::any_of(problem_.demands, [&](const Demand& demand) {
    int64_t left = 0;
    for (const size_t k : demand.kinds) left += out[k] ? 0 : problem_.kinds[k].count();
    return left < demand.of_kinds();
  });
}

SearchOutcome Search::TryRules(const std::vector<Rule>& rules, SearchResult* result) {
  if (Disproved() || TornApart(rules)) return SearchOutcome::kImpossible;
  if (order_matters_) return TryInDomains(rules, result);
  const auto apart = [&] {
    const SearchOutcome answer = Apart(what_if_, rankings_, problem_, rules).Run(&result->placements);
    result->fits = answer == SearchOutcome::kFound;
    return answer;
  };
  const bool many = rules.size() > kFewRules || problem_.kinds.size() > kFewKinds;
  const SearchOutcome first = many ? apart() : TryExactly(rules, result);
  if (first != SearchOutcome::kUnknown || rules.size() > kMostRules) return first;
  return many ? TryExactly(rules, result) : apart();
}

SearchOutcome Search::TryExactly(const std::vector<Rule>& rules, SearchResult* result) {
  bool all = true;
  const std::vector<Counts> targets = rules.empty() ? std::vector{CountsOf(problem_)} : Targets(&all);
  bool proof = all;
  for (const Counts& target : targets) {
    SearchOutcome answer = SearchOutcome::kFound;
    for (const auto remainder : {Exact::Remainder::kAnywhere, Exact::Remainder::kOnce}) {
      Exact exact(what_if_, rankings_, problem_, rules, target, budget_, remainder);
      if (!exact.applies()) return TryInDomains(rules, result);
      std::vector<Spot> spots;
      answer = exact.Run(&spots);
      if (answer == SearchOutcome::kFound && TakeSpots(spots, exact.tree(), rules, result))
        return SearchOutcome::kFound;
      if (answer != SearchOutcome::kFound || !HasSlices(rules)) break;
    }
    proof = proof && answer == SearchOutcome::kImpossible;
  }
  return proof ? SearchOutcome::kImpossible : SearchOutcome::kUnknown;
}

// Where the exact search does not hold: a domain that holds all is found by trying each, the tightest first.
SearchOutcome Search::TryInDomains(const std::vector<Rule>& rules, SearchResult* result) {
  std::vector<Symbol> keys;
  for (const Rule& rule : rules)
    if (rule.shape == Rule::Shape::kOne) keys.push_back(rule.level);
  if (rules.empty())
    for (const MemberKind& kind : problem_.kinds)
      for (const Symbol key : rankings_.For(kind.pod_class).Gathers()) keys.push_back(key);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const Symbol key : keys) {
    size_t tried = 0;
    for (const Domain& domain : DomainsByRoom(key, AllKinds()))
      if (++tried > kMostDomains)
        break;
      else if (TryGreedily(Greedy::Order::kLargestFirst, &domain.nodes, rules, result))
        return SearchOutcome::kFound;
  }

  // The search that takes back knows no rules but a set of nodes to stay on.
  const bool confined =
      rules.size() == 1 && rules[0].shape == Rule::Shape::kOne && rules[0].kinds.size() == problem_.kinds.size();
  if (!rules.empty() && !confined) return SearchOutcome::kUnknown;
  Descend descend(what_if_, rankings_, problem_, order_matters_, budget_);
  std::vector<Spot> spots;
  if (rules.empty()) {
    const SearchOutcome answer = descend.Run(nullptr, &spots);
    return answer == SearchOutcome::kFound && !TakeSpots(spots, {}, rules, result) ? SearchOutcome::kUnknown : answer;
  }
  for (const Domain& domain : DomainsByRoom(rules[0].level, AllKinds())) {
    if (!rules[0].held.empty() && !rules[0].held.contains(domain.value)) continue;
    const SearchOutcome answer = descend.Run(&domain.nodes, &spots);
    if (answer == SearchOutcome::kFound && TakeSpots(spots, {}, rules, result)) return SearchOutcome::kFound;
    if (answer != SearchOutcome::kImpossible) return SearchOutcome::kUnknown;
  }
  return SearchOutcome::kImpossible;
}

bool Search::TryGreedily(Greedy::Order order, const std::vector<NodeId>* nodes, const std::vector<Rule>& rules,
                         SearchResult* result) {
  if (last_try_ > budget_.left() / 2) return false;  // the exact search may yet prove something
  budget_.Spend(last_try_);
  WhatIf::Scope scope(what_if_);
  Greedy greedy(problem_, rankings_, what_if_);
  const Attempt attempt = greedy.Run(order, order_matters_, nodes);
  last_try_ = WorkOf(attempt);
  if (!attempt.fits || !Obeyed(rules, attempt.spots, what_if_.snapshot())) return false;
  result->fits = true;
  result->placements = scope.Take();
  return true;
}

int64_t Search::WorkOf(const Attempt& attempt) const {
  const int64_t placed = std::ssize(attempt.spots), kinds = std::ssize(problem_.kinds);
  const int64_t work = (placed + 1) * (Budget::kPlacement + kWorkPerKind * kinds);
  return order_matters_ ? work + kWorkPerNode * kinds * static_cast<int64_t>(what_if_.snapshot().slots()) : work;
}

// Makes placements of spots: within each domain of the tree the best nodes are taken rather than those of the spots,
// where that works out.
bool Search::TakeSpots(const std::vector<Spot>& spots, const Domain& tree, const std::vector<Rule>& rules,
                       SearchResult* result) {
  if (!Obeyed(rules, spots, what_if_.snapshot())) return false;
  WhatIf::Scope scope(what_if_);
  Counts used(problem_.kinds.size(), 0);
  if (rules.empty() || tree.nodes.empty()) {
    for (const Spot& spot : spots)
      if (!Put(spot, &used)) return false;
  } else if (!TakeSpotsIn(tree, spots, &used)) {
    return false;
  }
  result->fits = true;
  result->placements = scope.Take();
  return true;
}

bool Search::TakeSpotsIn(const Domain& domain, std::vector<Spot> spots, Counts* used) {
  if (!domain.parts.empty()) {
    std::vector<size_t> part_of(what_if_.snapshot().slots());
    for (size_t i = 0; i < domain.parts.size(); ++i)
      for (const NodeId n : domain.parts[i].nodes) part_of[n.index()] = i;
    std::vector<std::vector<Spot>> of_part(domain.parts.size());
    for (const Spot& spot : spots) of_part[part_of[spot.node.index()]].push_back(spot);
    for (size_t i = 0; i < of_part.size(); ++i)
      if (!of_part[i].empty() && !TakeSpotsIn(domain.parts[i], std::move(of_part[i]), used)) return false;
    return true;
  }
  Problem part;
  part.kinds = problem_.kinds;
  for (size_t k = 0; k < part.kinds.size(); ++k) {
    int64_t count = 0;
    for (const Spot& spot : spots) count += spot.kind == k ? spot.count : 0;
    auto& members = part.kinds[k].members;
    members.erase(members.begin(), members.begin() + (*used)[k]);
    if (count > 0) part.demands.push_back({count, {k}, 0, Demand::Of::kRole});
  }
  const WhatIf::Mark mark = what_if_.Here();
  const Attempt attempt =
      Greedy(part, rankings_, what_if_).Run(Greedy::Order::kLargestFirst, order_matters_, &domain.nodes);
  if (attempt.fits) {
    for (const Spot& spot : attempt.spots) (*used)[spot.kind] += spot.count;
    return true;
  }
  what_if_.Rewind(mark);
  return std::ranges::all_of(spots, [&](const Spot& spot) { return Put(spot, used); });
}

bool Search::Put(const Spot& spot, Counts* used) {
  const MemberKind& kind = problem_.kinds[spot.kind];
  for (int32_t i = 0; i < spot.count; ++i) {
    if (!rankings_.For(kind.pod_class).Feasible(spot.node)) return false;
    what_if_.Place(kind.members[static_cast<size_t>((*used)[spot.kind]++)]->id, *kind.pod_class, spot.node,
                   rankings_.TakingsOn(kind.pod_class, spot.node));
  }
  return true;
}

// The ways to choose how many of each kind meet the demands, each of them once. What is chosen of some kinds can always
// be completed: of many kinds there may be more hopeless choices than can be looked at. `all` is set to whether
// these are all.
std::vector<Counts> Search::Targets(bool* all) const {
  struct Part {        // the kinds of a role with a minimum; the first: those of no such role
    int64_t owed = 0;  // still to be chosen
    int64_t must = 0;  // in the kinds to come, members that must be placed
    int64_t room = 0;  // in the kinds to come, all
    int64_t need() const { return std::max(owed, must); }
    bool can() const { return owed <= room; }
  };
  const std::vector<MemberKind>& kinds = problem_.kinds;
  std::vector<Part> parts(1);
  std::vector<size_t> part_of(kinds.size(), 0);
  for (const Demand& demand : problem_.demands) {
    if (demand.of != Demand::Of::kRole) continue;
    for (const size_t k : demand.kinds) part_of[k] = parts.size();
    parts.push_back({demand.of_kinds()});
  }
  int64_t room = 0, need = 0;
  for (size_t k = 0; k < kinds.size(); ++k) {
    Part& part = parts[part_of[k]];
    part.room += kinds[k].count();
    part.must += kinds[k].must ? kinds[k].count() : 0;
    room += kinds[k].count();
  }
  for (const Part& part : parts) need += part.need();
  *all = true;
  std::vector<Counts> found;
  Counts counts(kinds.size(), 0);
  const auto choose = [&](const auto& self, size_t k, int64_t left) -> void {
    if (k == kinds.size()) return found.push_back(counts);
    Part& part = parts[part_of[k]];
    const Part before = part;
    const int32_t most = kinds[k].count();
    part.room -= most;
    part.must -= kinds[k].must ? most : 0;
    room -= most;
    need -= before.need();
    for (auto take = static_cast<int32_t>(std::min<int64_t>(most, left)); take >= (kinds[k].must ? most : 0); --take) {
      part.owed = before.owed - take;
      const int64_t after = left - take;
      if (after > room || !part.can()) break;
      if (need + part.need() > after) continue;
      if (found.size() >= kMostTargets) {
        *all = false;
        break;
      }
      need += part.need();
      counts[k] = take;
      self(self, k + 1, after);
      need -= part.need();
    }
    counts[k] = 0;
    part = before;
    room += most;
    need += before.need();
  };
  if (need <= problem_.total() && problem_.total() <= room && std::ranges::all_of(parts, &Part::can))
    choose(choose, 0, problem_.total());
  return found;
}

std::vector<size_t> Search::AllKinds() const {
  std::vector<size_t> kinds(problem_.kinds.size());
  std::iota(kinds.begin(), kinds.end(), size_t{0});
  return kinds;
}

// Of each of `kinds` as many as fit, were no other there. A gang may have thousands of kinds of one class.
int64_t Search::RoomIn(const std::vector<NodeId>& nodes, const std::vector<size_t>& kinds) {
  absl::flat_hash_map<const cluster::PodClass*, int64_t> rooms;
  int64_t sum = 0;
  for (const size_t k : kinds) {
    const MemberKind& kind = problem_.kinds[k];
    const auto [room, fresh] = rooms.try_emplace(kind.pod_class.get(), 0);
    if (fresh) {
      const std::span<const int32_t> on_node = rankings_.For(kind.pod_class).Rooms();
      for (const NodeId n : nodes) room->second += on_node[n.index()];
    }
    sum += std::min<int64_t>(room->second, kind.count());
  }
  return sum;
}

// The domains with room for any of `kinds`; those with room for all first, the one with the fewest nodes first, then by
// name.
std::vector<Domain> Search::DomainsByRoom(Symbol level, const std::vector<size_t>& kinds) {
  std::vector<std::pair<std::tuple<int64_t, size_t, std::string_view>, Domain>> keyed;
  for (const auto& [value, nodes] : what_if_.snapshot().labels().DomainsOf(level)) {
    Domain domain{level, value, nodes, {}};
    std::ranges::sort(domain.nodes);
    const std::string_view name = what_if_.snapshot().symbols().Text(value);
    if (const int64_t room = RoomIn(nodes, kinds); room > 0)
      keyed.emplace_back(std::tuple(-room, nodes.size(), name), std::move(domain));
  }
  std::ranges::sort(keyed, {}, [](const auto& item) { return item.first; });
  std::vector<Domain> domains;
  for (auto& [key, domain] : keyed) domains.push_back(std::move(domain));
  return domains;
}

}  // namespace tutti::core
