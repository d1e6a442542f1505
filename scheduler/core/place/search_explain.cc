// SPDX-License-Identifier: Apache-2.0
// Why a search found nothing: which domain comes nearest, how many fit there, what the others lack, and what may help.
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "core/place/bounds.h"
#include "core/place/exact.h"
#include "core/place/search.h"
#include "dialects/wording.h"

namespace tutti::core {

using cluster::WhatIf;
using framework::Ranking;
using framework::Wake;
using model::NodeId;

namespace {

constexpr Wake kRoom = Wake::kPodGone | Wake::kNodeCapacity | Wake::kNodeAdded;
// Of so many classes all nodes are asked why they do not take them.
constexpr size_t kMostAsked = 4;
// Some 3 ms to find out how many fit.
constexpr int64_t kWorkToCount = 200'000;

// The kinds by role, so that it makes no difference in which order members came. `order`: their places in `problem`.
Problem ByRole(const Problem& problem, const std::vector<size_t>& order) {
  Problem sorted;
  std::vector<size_t> place_of(order.size());
  for (const size_t k : order) {
    place_of[k] = sorted.kinds.size();
    sorted.kinds.push_back(problem.kinds[k]);
  }
  for (Demand demand : problem.demands) {
    for (size_t& k : demand.kinds) k = place_of[k];
    std::ranges::sort(demand.kinds);
    sorted.demands.push_back(std::move(demand));
  }
  return sorted;
}

}  // namespace

Wake Search::WakesOf(const std::vector<size_t>& kinds) {
  Wake wakes = Wake::kNothing;
  for (const size_t k : kinds) {
    Ranking& ranking = rankings_.For(problem_.kinds[k].pod_class);
    wakes = wakes | ranking.WakesOn();
    ranking.Rooms();
    if (ranking.total_room() > 0) wakes = wakes | kRoom;
    if (!problem_.kinds[k].refused.empty()) wakes = wakes | Wake::kTime;
  }
  return wakes;
}

// The domain that comes nearest to what the rule wants in one: its nodes, or none where no domain has room for any.
// nullopt: the rule does not ask for one domain, or they are in several already.
std::optional<std::vector<NodeId>> Search::FindNearest(const Rule& rule, NearestDomain* nearest) {
  const cluster::Snapshot& snapshot = what_if_.snapshot();
  const std::vector<Domain> domains = DomainsByRoom(rule.level, rule.kinds);
  nearest->level = snapshot.symbols().Text(rule.level);
  nearest->level_name = dialects::NamedLevel(nearest->level);
  nearest->none = dialects::NobodyIn(nearest->level);
  nearest->domains = snapshot.labels().DomainsOf(rule.level).size();
  nearest->even = rule.shape == Rule::Shape::kEven;
  for (const size_t k : rule.kinds) nearest->wanted += problem_.kinds[k].count();
  nearest->wanted = std::min(nearest->wanted, problem_.total());
  if (rule.shape == Rule::Shape::kSlices) {
    nearest->slice = rule.size;
    nearest->wanted = (nearest->wanted + rule.size - 1) / rule.size;
    for (const Domain& domain : domains) nearest->room += RoomIn(domain.nodes, rule.kinds) / rule.size;
  }
  if (Broken(rule, problem_)) {
    for (const auto& [value, count] : rule.held)
      if (value && rule.shape == Rule::Shape::kOne)
        nearest->torn.push_back(snapshot.symbols().Text(value));
      else if (!value)
        nearest->unlabelled = count;
    std::ranges::sort(nearest->torn);
    return std::vector<NodeId>();
  }
  if (rule.shape != Rule::Shape::kOne) return std::nullopt;
  if (domains.empty() && rule.held.empty()) return std::vector<NodeId>();
  auto best = domains.begin();
  if (!rule.held.empty()) best = std::ranges::find(domains, rule.held.begin()->first, &Domain::value);
  nearest->value = snapshot.symbols().Text(best != domains.end() ? best->value : rule.held.begin()->first);
  if (best == domains.end()) {
    const auto in = snapshot.labels().NodesIn(rule.level, rule.held.begin()->first);
    std::vector<NodeId> full(in.begin(), in.end());
    std::ranges::sort(full);
    return full;
  }
  nearest->room = std::min(nearest->wanted, RoomIn(best->nodes, rule.kinds));
  return best->nodes;
}

// Where members of a kind may be at best: the domain that is nearest for the rule that they are under.
struct Search::Places {
  std::vector<std::vector<NodeId>> nodes;  // by rule
  Greedy::NodesOf of_kind;                 // null: everywhere
  std::vector<Rule> unbroken;              // what a placement of some of the members has to obey
  bool known = true;                       // false: some kinds are under several such rules, and no one domain is known
};

// `nearest` is of the first rule.
Search::Places Search::FindPlaces(const std::vector<Rule>& rules, std::optional<NearestDomain>* nearest) {
  Places places{std::vector<std::vector<NodeId>>(rules.size()), Greedy::NodesOf(problem_.kinds.size()), {}, true};
  size_t looked_at = 0;
  for (size_t r = 0; r < rules.size(); ++r) {
    if (rules[r].kinds.empty()) continue;
    if (!Broken(rules[r], problem_)) places.unbroken.push_back(rules[r]);
    if (++looked_at > kMostRules) {
      places.known = false;
      continue;
    }
    NearestDomain of_rule;
    const auto nodes = FindNearest(rules[r], &of_rule);
    if (!*nearest) *nearest = std::move(of_rule);
    if (!nodes) continue;
    places.nodes[r] = *nodes;
    for (const size_t k : rules[r].kinds) {
      places.known = places.known && !places.of_kind[k];
      places.of_kind[k] = &places.nodes[r];
    }
  }
  return places;
}

// No more of the members that are asked for find nodes, whatever is tried.
int64_t Search::MostThatFit(const std::vector<Rule>& rules, const std::optional<NearestDomain>& nearest) {
  Bounds& bounds = BoundsOf();
  int64_t by_demand = 0;
  for (const Demand& demand : problem_.demands) by_demand += std::min(demand.count, bounds.Most(demand));
  int64_t most = std::min(by_demand, bounds.Most({problem_.total(), AllKinds()}));
  const bool one = rules.size() == 1 && rules[0].shape == Rule::Shape::kOne;
  if (one && nearest && rules[0].kinds.size() == problem_.kinds.size()) most = std::min(most, nearest->room);
  return most;
}

// Of members of unlike kinds one after another may be placed so that fewer fit than could. Afterwards the most that fit
// are placed, and `most` says so, as far as an exact search tells.
Attempt Search::CountExactly(Attempt attempt, Greedy& greedy, WhatIf::Mark start, const Places& places, int64_t* most) {
  if (std::ssize(attempt.spots) >= std::min(*most, problem_.total() - 1)) return attempt;
  std::vector<size_t> order = AllKinds();
  std::ranges::stable_sort(order, {}, [this](size_t k) {
    const MemberKind& kind = problem_.kinds[k];
    return std::tuple(!kind.members.front()->head, -int64_t{kind.members.front()->priority},
                      std::string_view(kind.role));
  });
  const Problem problem = ByRole(problem_, order);
  Counts all;
  for (const MemberKind& kind : problem.kinds) all.push_back(kind.count());
  const std::vector<Rule> rules;
  for (bool more = true; more && std::ssize(attempt.spots) < *most;) {
    const int64_t fit = std::ssize(attempt.spots);
    std::vector<Spot> spots = attempt.spots;
    what_if_.Rewind(start);
    Exact exact(what_if_, rankings_, problem, rules, all, budget_, Exact::Remainder::kAnywhere, fit + 1);
    const SearchOutcome answer = exact.applies() ? exact.Run(&spots) : SearchOutcome::kUnknown;
    if (answer == SearchOutcome::kImpossible) *most = fit;
    if (answer == SearchOutcome::kFound)
      for (Spot& spot : spots) spot.kind = order[spot.kind];
    attempt = greedy.Count(false, places.of_kind, spots);
    more = answer == SearchOutcome::kFound && std::ssize(attempt.spots) > fit;
  }
  return attempt;
}

// Nodes that would take another of the kind, were it not for the rules; without a kind, all that are not `inside`.
void Search::SayOutside(const MemberKind* kind, const std::vector<NodeId>& inside, framework::Refusals* refusals) {
  if (!refusals->of_class.empty()) return;
  const Ranking* ranking = kind ? &rankings_.For(kind->pod_class) : nullptr;
  size_t outside = 0;
  for (uint32_t slot = 0; slot < what_if_.snapshot().slots(); ++slot) {
    const NodeId n(slot);
    if (!what_if_.snapshot().present(n) || std::ranges::binary_search(inside, n)) continue;
    outside += !ranking || (ranking->Feasible(n) && Admits(*kind, n));
  }
  if (outside > 0)
    refusals->reasons.emplace_back("node(s) were outside of what the topology of the gang allows", outside);
}

// The kinds without a node, those first that the demands lack; some of them, each of another class.
std::vector<Unfit> Search::AskWhy(const Attempt& attempt, const Greedy& greedy, const Places& places) {
  std::vector<size_t> kinds;
  for (const auto& [k, count] : attempt.unplaced) kinds.push_back(k);
  for (size_t k = 0; k < attempt.failed.size(); ++k)
    if (attempt.failed[k]) kinds.push_back(k);
  absl::flat_hash_set<const cluster::PodClass*> seen;
  std::vector<Unfit> unfit;
  for (const size_t k : kinds) {
    const MemberKind& kind = problem_.kinds[k];
    if (unfit.size() == kMostAsked || !seen.insert(kind.pod_class.get()).second) continue;
    Unfit& one = unfit.emplace_back(Unfit{k, greedy.Explain(k), places.of_kind[k]});
    if (one.nodes) SayOutside(&kind, *one.nodes, &one.refusals);
  }
  return unfit;
}

void Search::Explain(const std::vector<Rule>& rules, SearchResult* result) {
  std::vector<size_t> kinds = AllKinds();
  if (!result->gave_up && !short_kinds_.empty()) kinds = short_kinds_, result->short_by = short_by_;
  if (!result->gave_up) result->short_kinds = kinds;
  const Places places = FindPlaces(rules, &result->nearest);
  int64_t most = MostThatFit(rules, result->nearest);
  result->wakes = WakesOf(kinds);
  // Where no node takes a member, none can be the first, in whatever order.
  const bool order_decides = order_matters_ && std::ranges::any_of(problem_.kinds, [this](const MemberKind& kind) {
                               Ranking& ranking = rankings_.For(kind.pod_class);
                               ranking.Rooms();
                               return ranking.total_room() > 0;
                             });

  WhatIf::Scope scope(what_if_);
  Greedy greedy(problem_, rankings_, what_if_);
  const WhatIf::Mark start = what_if_.Here();
  Attempt attempt = greedy.Count(order_matters_, places.of_kind);
  result->work += WorkOf(attempt);
  if (rules.empty() && !order_matters_ && !result->gave_up) {
    budget_ = Budget(kWorkToCount);
    attempt = CountExactly(std::move(attempt), greedy, start, places, &most);
    result->work += kWorkToCount - budget_.left();
  }
  if (attempt.fits && Obeyed(rules, attempt.spots, what_if_.snapshot())) {  // the search gave up, and this is lucky
    result->fits = true;
    result->placements = scope.Take();
    return;
  }
  result->unplaced = attempt.unplaced;
  const std::vector<Unfit> unfit = AskWhy(attempt, greedy, places);
  if (!unfit.empty()) result->refusals = unfit.front().refusals;
  result->refusals.nodes = what_if_.snapshot().node_count();
  if (attempt.fits && result->nearest) SayOutside(nullptr, {}, &result->refusals);
  if (places.known && !attempt.fits && Obeyed(places.unbroken, attempt.spots, what_if_.snapshot()))
    result->figures = MakeFigures(problem_, attempt, unfit, most, !result->gave_up, what_if_.snapshot());
  else
    result->figures.needed = problem_.total(), result->figures.cut_short = result->gave_up;

  const bool concerns = std::ranges::any_of(kinds, [&](size_t k) { return attempt.failed[k]; });
  for (const MemberKind& kind : problem_.kinds)
    if (concerns || !rules.empty()) result->wakes = result->wakes | rankings_.For(kind.pod_class).WakesOn();
  if (!rules.empty()) result->wakes = result->wakes | Wake::kNodeLabels | kRoom;
  if (result->gave_up || order_decides)
    result->wakes = result->wakes | kRoom | Wake::kNodeLabels | Wake::kNodeTaints | Wake::kPodPlaced;
}

}  // namespace tutti::core
