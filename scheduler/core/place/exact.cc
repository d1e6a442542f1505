// SPDX-License-Identifier: Apache-2.0
#include "core/place/exact.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti::core {
namespace {

using cluster::WhatIf;
using framework::FilterState;
using model::NodeId;
using model::Symbol;

// Units of the budget (core/place/problem.h), and how many kinds are counted in one.
constexpr int64_t kWorkPerState = 12, kWorkPerPair = 10, kKindsAtOnce = 2;

Counts Least(const Counts& a, const Counts& b) {
  Counts least = a;
  for (size_t k = 0; k < least.size(); ++k) least[k] = std::min(a[k], b[k]);
  return least;
}

// Members of the rule's kinds in `counts`.
int64_t Sum(const Rule& rule, const Counts& counts) {
  int64_t sum = 0;
  for (const size_t k : rule.kinds) sum += counts[k];
  return sum;
}

// Takes members of the rule's kinds out until `sum` are left; those of the last kinds first.
void Reduce(const Rule& rule, int64_t sum, Counts* counts) {
  int64_t surplus = Sum(rule, *counts) - sum;
  for (auto k = rule.kinds.rbegin(); k != rule.kinds.rend(); ++k) {
    const auto out = static_cast<int32_t>(std::min<int64_t>((*counts)[*k], surplus));
    (*counts)[*k] -= out;
    surplus -= out;
  }
}

int64_t HeldIn(const Rule& rule, Symbol domain) {
  const auto at = rule.held.find(domain);
  return at == rule.held.end() ? 0 : at->second;
}

}  // namespace

Exact::Exact(WhatIf& what_if, Rankings& rankings, const Problem& problem, const std::vector<Rule>& rules,
             Counts targets, Budget& budget, Remainder remainder, std::optional<int64_t> least)
    : what_if_(what_if),
      rankings_(rankings),
      problem_(problem),
      rules_(rules),
      targets_(std::move(targets)),
      least_(least.value_or(problem.total())),
      budget_(budget),
      remainder_(remainder),
      caps_(targets_) {
  const cluster::Snapshot& snapshot = what_if.snapshot();
  if (!budget.Spend(Walk() * static_cast<int64_t>(snapshot.slots()))) return;
  std::vector<char> open(snapshot.slots());
  for (size_t k = 0; k < problem.kinds.size(); ++k) {
    const MemberKind& kind = problem.kinds[k];
    framework::Ranking& ranking = rankings.For(kind.pod_class);
    applies_ = applies_ && ranking.reach() != FilterState::Reach::kCluster;
    const std::span<const int32_t> rooms = ranking.Rooms();
    rooms_.emplace_back(rooms.begin(), rooms.end());
    for (const NodeId n : kind.refused) rooms_.back()[n.index()] = 0;
    if (targets_[k] > 0)
      for (size_t slot = 0; slot < open.size(); ++slot) open[slot] |= rooms_.back()[slot] > 0;
    for (const auto& [column, amount] : kind.pod_class->requests) columns_.push_back(column);
  }
  std::ranges::sort(columns_);
  columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
  for (const Rule& rule : rules)
    if (rule.shape == Rule::Shape::kEven)
      for (const size_t k : rule.kinds) caps_[k] += static_cast<int32_t>(rule.size) + 1;
  // Which domain had better have it depends on more than that.
  if (remainder == Remainder::kOnce)
    rough_ = rules.size() > 1 || problem.kinds.size() > 1 || !rules.front().held.empty();
  if (!applies_) return;

  std::vector<NodeId> nodes;
  for (uint32_t slot = 0; slot < open.size(); ++slot)
    if (open[slot]) nodes.emplace_back(slot);
  std::vector<Symbol> levels;
  for (const Rule& rule : rules) levels.push_back(rule.level);
  if (!budget.Spend(kWorkPerPair * static_cast<int64_t>(targets_.size() * targets_.size()))) return;
  FindExclusions(&levels);
  rough_ = rough_ || (remainder == Remainder::kOnce && !exclusions_.empty());
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  tree_ = MakeDomainTree(std::move(nodes), std::move(levels), snapshot, &applies_);
  Arrange(tree_);
}

// Of keys whose domains are single nodes the plugins speak when a node is asked; the others make levels.
void Exact::FindExclusions(std::vector<Symbol>* levels) {
  const cluster::Snapshot& snapshot = what_if_.snapshot();
  std::map<Symbol, bool> wide;
  const auto is_wide = [&](Symbol key) {
    const auto [at, fresh] = wide.try_emplace(key, false);
    if (fresh)
      for (const auto& [value, nodes] : snapshot.labels().DomainsOf(key)) at->second = at->second || nodes.size() > 1;
    return at->second;
  };
  for (size_t a = 0; a < problem_.kinds.size(); ++a) {
    framework::Ranking& ranking = rankings_.For(problem_.kinds[a].pod_class);
    if (ranking.reach() == FilterState::Reach::kNode) continue;
    for (size_t b = 0; b < problem_.kinds.size(); ++b)
      for (const Symbol key : ranking.ExcludedBy(*problem_.kinds[b].pod_class)) {
        if (!is_wide(key)) {
          if (std::ranges::find(node_keys_, key) == node_keys_.end()) node_keys_.push_back(key);
          continue;
        }
        const Exclusion exclusion{key, std::min(a, b), std::max(a, b)};
        if (std::ranges::find(exclusions_, exclusion) == exclusions_.end()) exclusions_.push_back(exclusion);
        levels->push_back(key);
      }
  }
}

// What is to be used first comes first: of domains that must hold all the smallest, of others the largest; of nodes
// those that are in use already, and of these the one with least room.
void Exact::Arrange(Domain& domain) const {
  const auto room = [&](const std::vector<NodeId>& nodes) {
    int64_t sum = 0;
    for (const NodeId n : nodes)
      for (size_t k = 0; k < rooms_.size(); ++k) sum += std::min(rooms_[k][n.index()], caps_[k]);
    return sum;
  };
  if (domain.parts.empty()) {
    const cluster::Snapshot& snapshot = what_if_.snapshot();
    std::vector<std::tuple<bool, int64_t, NodeId>> keyed;
    for (const NodeId n : domain.nodes)
      keyed.emplace_back(snapshot.requested(cluster::kPodsColumn)[n.index()] == 0, room({n}), n);
    std::ranges::sort(keyed);
    for (size_t i = 0; i < keyed.size(); ++i) domain.nodes[i] = std::get<2>(keyed[i]);
    return;
  }
  std::vector<std::pair<int64_t, size_t>> keyed;
  for (size_t i = 0; i < domain.parts.size(); ++i) {
    const bool one = std::ranges::any_of(rules_, [&](const Rule& rule) {
      return rule.shape == Rule::Shape::kOne && rule.level == domain.parts[i].level;
    });
    keyed.emplace_back(one ? room(domain.parts[i].nodes) : -room(domain.parts[i].nodes), i);
  }
  std::ranges::sort(keyed);
  std::vector<Domain> parts;
  for (const auto& [key, i] : keyed) parts.push_back(std::move(domain.parts[i]));
  domain.parts = std::move(parts);
  for (Domain& part : domain.parts) Arrange(part);
}

Counts Exact::RoomOf(const Domain& domain, const Counts& caps) const {
  Counts room(caps.size(), 0);
  for (size_t k = 0; k < caps.size(); ++k) {
    if (caps[k] == 0) continue;
    int64_t sum = 0;
    for (const NodeId n : domain.nodes) sum += rooms_[k][n.index()];
    room[k] = static_cast<int32_t>(std::min<int64_t>(caps[k], sum));
  }
  return room;
}

// What need not be looked for in a domain: kinds that must all be in one, where this one cannot hold them.
Counts Exact::Narrow(const Domain& domain, Counts caps) const {
  for (const Rule& rule : rules_) {
    if (rule.level != domain.level) continue;
    const auto lacks = [&](const Counts& room) {
      return std::ranges::any_of(rule.kinds, [&](size_t k) { return room[k] < targets_[k]; });
    };
    const bool elsewhere = rule.shape == Rule::Shape::kOne && !rule.held.empty() &&
                           (!rule.held.contains(domain.value) || rule.held.size() > 1);
    if (!domain.value || elsewhere || (rule.shape == Rule::Shape::kOne && lacks(RoomOf(domain, caps))))
      for (const size_t k : rule.kinds) caps[k] = 0;
  }
  return caps;
}

// Once over all kinds.
int64_t Exact::Walk() const { return 1 + static_cast<int64_t>(targets_.size()) / kKindsAtOnce; }

SearchOutcome Exact::Run(std::vector<Spot>* spots) {
  if (budget_.exhausted()) return SearchOutcome::kUnknown;
  const Front front = Solve(tree_, caps_, true);
  if (budget_.exhausted()) return SearchOutcome::kUnknown;
  for (const int32_t s : front) {
    if (!Enough(states_[static_cast<size_t>(s)].counts)) continue;
    spots->clear();
    Unfold(s, Wanted(states_[static_cast<size_t>(s)].counts), spots);
    const bool even = std::ranges::all_of(
        rules_, [&](const Rule& rule) { return rule.shape != Rule::Shape::kEven || TrimEven(rule, spots); });
    return even ? SearchOutcome::kFound : SearchOutcome::kUnknown;
  }
  return rough_ ? SearchOutcome::kUnknown : SearchOutcome::kImpossible;
}

Exact::Front Exact::Solve(const Domain& domain, const Counts& given, bool root) {
  const Counts caps = Narrow(domain, given);
  states_.push_back({Counts(caps.size(), 0), -1, -1, {}});
  Front front{static_cast<int32_t>(states_.size()) - 1};
  if (std::ranges::all_of(caps, [](int32_t cap) { return cap == 0; })) return front;
  // What the parts still to come could add, so that the root forgets what can come to nothing.
  std::vector<Counts> rest;
  const size_t parts = domain.parts.empty() ? domain.nodes.size() : domain.parts.size();
  if (root) {
    rest.assign(parts + 1, Counts(caps.size(), 0));
    for (size_t i = parts; i-- > 0;) {
      const Counts room = domain.parts.empty() ? Counts(caps.size(), 0) : RoomOf(domain.parts[i], caps);
      for (size_t k = 0; k < caps.size(); ++k) {
        const int32_t here = domain.parts.empty() ? rooms_[k][domain.nodes[i].index()] : room[k];
        rest[i][k] = std::min(caps[k], rest[i + 1][k] + here);
      }
    }
  }
  for (size_t i = 0; i < parts && !budget_.exhausted(); ++i) {
    const Front part = domain.parts.empty() ? NodeFront(domain.nodes[i], caps) : Solve(domain.parts[i], caps, false);
    front = Join(front, part, caps, root ? &rest[i + 1] : nullptr);
    const auto full = [&](int32_t s) {
      const Counts& counts = states_[static_cast<size_t>(s)].counts;
      return root ? Enough(counts) : counts == caps;
    };
    if (front.empty() || std::ranges::any_of(front, full)) break;
  }
  return root ? front : Leave(domain, front);
}

Exact::Front Exact::Join(const Front& a, const Front& b, const Counts& caps, const Counts* rest) {
  std::vector<State> found;
  for (const int32_t left : a)
    for (const int32_t right : b) {
      if (!budget_.Spend(kWorkPerState + Walk())) return {};
      State state{states_[static_cast<size_t>(left)].counts, left, right, {}};
      for (size_t k = 0; k < caps.size(); ++k)
        state.counts[k] = std::min(caps[k], state.counts[k] + states_[static_cast<size_t>(right)].counts[k]);
      if (rest) {
        Counts most = state.counts;
        for (size_t k = 0; k < caps.size(); ++k) most[k] = std::min(caps[k], most[k] + (*rest)[k]);
        if (!Enough(most)) continue;
      }
      found.push_back(std::move(state));
    }
  return Keep(std::move(found));
}

// Leaves out what is at most another.
Exact::Front Exact::Keep(std::vector<State> found) {
  const auto sum = [](const State& state) {
    return std::accumulate(state.counts.begin(), state.counts.end(), int64_t{0});
  };
  std::ranges::stable_sort(found, [&](const State& a, const State& b) { return sum(a) > sum(b); });
  Front front;
  for (State& state : found) {
    if (!budget_.Spend(1 + static_cast<int64_t>(front.size()) / 4 + Walk())) return front;
    const bool dominated = std::ranges::any_of(front, [&](int32_t other) {
      return std::ranges::equal(state.counts, states_[static_cast<size_t>(other)].counts, std::less_equal<>());
    });
    if (dominated) continue;
    front.push_back(static_cast<int32_t>(states_.size()));
    states_.push_back(std::move(state));
  }
  return front;
}

Exact::Front Exact::Leave(const Domain& domain, const Front& front) {
  std::vector<State> found;
  for (const int32_t s : front) {
    std::vector<Counts> allowed{states_[static_cast<size_t>(s)].counts};
    if (domain.value) Forbid(domain, &allowed);
    for (Counts& counts : allowed) {
      for (const Rule& rule : rules_)
        if (rule.level == domain.level) Obey(rule, domain, &counts);
      found.push_back({std::move(counts), s, -1, {}});
    }
  }
  return Keep(std::move(found));
}

void Exact::Forbid(const Domain& domain, std::vector<Counts>* allowed) const {
  for (const Exclusion& exclusion : exclusions_) {
    if (exclusion.level != domain.level) continue;
    for (size_t i = 0, end = allowed->size(); i < end; ++i) {
      Counts& counts = (*allowed)[i];
      if (exclusion.a == exclusion.b) {
        counts[exclusion.a] = std::min(counts[exclusion.a], 1);
      } else if (counts[exclusion.a] > 0 && counts[exclusion.b] > 0) {
        Counts other = counts;
        other[exclusion.a] = 0;
        counts[exclusion.b] = 0;
        allowed->push_back(std::move(other));
      }
    }
  }
}

// Less than `counts`, as much of it as the rule lets one domain have.
void Exact::Obey(const Rule& rule, const Domain& domain, Counts* counts) {
  const int64_t sum = Sum(rule, *counts), held = HeldIn(rule, domain.value);
  if (sum == 0) return;
  int64_t most = 0;
  if (domain.value && rule.shape == Rule::Shape::kOne) {
    const bool all = std::ranges::all_of(rule.kinds, [&](size_t k) { return (*counts)[k] >= targets_[k]; });
    most = all && (rule.held.empty() || held > 0) ? sum : 0;
  } else if (domain.value && rule.shape == Rule::Shape::kSlices) {
    // What is no multiple as a whole has a smaller slice in it.
    int64_t total = Sum(rule, targets_);
    for (const auto& [value, count] : rule.held) total += count;
    const int64_t remainder = total % rule.size;
    const auto whole = [&](int64_t count) { return (held + count) % rule.size == 0; };
    for (most = sum; most > 0 && !whole(most) && (held + most) % rule.size != remainder;) --most;
    if (remainder_ == Remainder::kOnce && !whole(most) &&
        remainder_in_.try_emplace(&rule, domain.value).first->second != domain.value)
      while (most > 0 && !whole(most)) --most;
  } else if (domain.value) {
    for (most = std::min(sum, std::max<int64_t>(0, rule.size + 1 - held)); most > 0 && held + most < rule.size;)
      most = 0;
  }
  if (most == sum) return;
  const auto present = std::ranges::count_if(rule.kinds, [&](size_t k) { return (*counts)[k] > 0; });
  if (most > 0 && present > 1) rough_ = true;
  Reduce(rule, most, counts);
}

Exact::Front Exact::NodeFront(NodeId n, const Counts& caps) {
  std::vector<State> found;
  for (const Counts& pattern : Patterns(n)) found.push_back({Least(pattern, caps), -1, -1, n});
  return Keep(std::move(found));
}

// Nodes with the same room for each kind and the same left of all that is asked for take the same.
const std::vector<Counts>& Exact::Patterns(NodeId n) {
  const cluster::Snapshot& snapshot = what_if_.snapshot();
  std::vector<int64_t> key;
  size_t welcome = 0, last = 0;
  bool own = false;
  for (size_t k = 0; k < rooms_.size(); ++k) {
    key.push_back(caps_[k] == 0 ? 0 : std::min(rooms_[k][n.index()], caps_[k]));
    if (key.back() > 0) {
      ++welcome;
      last = k;
    }
    own = own || !problem_.kinds[k].pod_class->spec->volumes.empty();
  }
  if (welcome > 1) {
    for (const model::ResourceId column : columns_) key.push_back(snapshot.Free(n, column));
    key.push_back(snapshot.Free(n, cluster::kPodsColumn));
    for (const Symbol label : node_keys_) key.push_back(snapshot.node(n).Label(label).valid());
    if (own) key.push_back(n.value);  // what its volumes take of a node is not in these figures
  }
  const auto [at, fresh] =
      patterns_.try_emplace(std::string(reinterpret_cast<const char*>(key.data()), key.size() * sizeof(int64_t)));
  if (!fresh) return at->second;
  std::vector<Counts> patterns;
  Counts counts(rooms_.size(), 0);
  if (welcome == 1) {
    counts[last] = static_cast<int32_t>(key[last]);
    patterns.push_back(counts);
  } else if (welcome > 1) {
    WhatIf::Scope scope(what_if_);
    Enumerate(n, 0, counts, &patterns);
  }
  return at->second = std::move(patterns);
}

void Exact::Enumerate(NodeId n, size_t k, Counts& counts, std::vector<Counts>* patterns) {
  budget_.Spend(Walk());
  if (k == counts.size()) {
    patterns->push_back(counts);
    return;
  }
  const MemberKind& kind = problem_.kinds[k];
  const WhatIf::Mark mark = what_if_.Here();
  const int32_t most = std::min({caps_[k], rooms_[k][n.index()], kind.count()});
  while (counts[k] < most && budget_.Spend(Budget::kPlacement) && rankings_.For(kind.pod_class).Feasible(n)) {
    what_if_.Place(kind.members[static_cast<size_t>(counts[k])]->id, *kind.pod_class, n);
    ++counts[k];
  }
  const bool is_last = std::all_of(rooms_.begin() + static_cast<ptrdiff_t>(k) + 1, rooms_.end(),
                                   [&](const std::vector<int32_t>& rooms) { return rooms[n.index()] == 0; });
  for (;; --counts[k]) {
    Enumerate(n, k + 1, counts, patterns);
    if (is_last || counts[k] == 0 || budget_.exhausted()) break;
    what_if_.TakeBack();
  }
  what_if_.Rewind(mark);
  counts[k] = 0;
}

bool Exact::Enough(const Counts& counts) const {
  int64_t sum = 0;
  if (least_ < problem_.total()) {
    for (const int32_t wanted : Wanted(Least(counts, targets_))) sum += wanted;
    return sum >= least_;
  }
  for (size_t k = 0; k < counts.size(); ++k) sum += std::min(counts[k], targets_[k]);
  if (sum < problem_.total()) return false;
  return std::ranges::all_of(problem_.demands, [&](const Demand& demand) {
    int64_t of_demand = 0;
    for (const size_t k : demand.kinds) of_demand += std::min(counts[k], targets_[k]);
    return of_demand >= demand.of_kinds();
  });
}

// As few of `counts` as meet the demands; all where a rule counts on it.
Counts Exact::Wanted(const Counts& counts) const {
  if (!rules_.empty()) return counts;
  Counts wanted(counts.size(), 0);
  for (const Demand& demand : problem_.demands) {
    int64_t left = demand.count;
    for (const size_t k : demand.kinds) {
      const auto take = static_cast<int32_t>(std::min<int64_t>(left, counts[k] - wanted[k]));
      wanted[k] += take;
      left -= take;
    }
  }
  return wanted;
}

void Exact::Unfold(int32_t s, const Counts& wanted, std::vector<Spot>* spots) const {
  const State& state = states_[static_cast<size_t>(s)];
  if (std::ranges::all_of(wanted, [](int32_t count) { return count == 0; })) return;
  if (state.node) {
    for (size_t k = 0; k < wanted.size(); ++k)
      if (wanted[k] > 0) spots->push_back({k, state.node, wanted[k]});
    return;
  }
  const Counts from_left = Least(wanted, states_[static_cast<size_t>(state.left)].counts);
  Unfold(state.left, from_left, spots);
  if (state.right < 0) return;
  Counts from_right = wanted;
  for (size_t k = 0; k < wanted.size(); ++k) from_right[k] -= from_left[k];
  Unfold(state.right, from_right, spots);
}

// Takes what is too much out of the largest parts. False: they are not even then.
bool Exact::TrimEven(const Rule& rule, std::vector<Spot>* spots) const {
  const auto under = [&](const Spot& spot) { return std::ranges::binary_search(rule.kinds, spot.kind); };
  std::map<Symbol, int64_t> parts = rule.held;
  int64_t surplus = -Sum(rule, targets_);
  for (const Spot& spot : *spots)
    if (under(spot)) {
      parts[what_if_.snapshot().node(spot.node).Label(rule.level)] += spot.count;
      surplus += spot.count;
    }
  const auto size = [](const auto& part) { return part.second; };
  for (; surplus > 0; --surplus) {
    auto largest = std::ranges::max_element(parts, {}, size);
    const auto spot = std::ranges::find_if(*spots, [&](const Spot& at) {
      return under(at) && at.count > 0 && what_if_.snapshot().node(at.node).Label(rule.level) == largest->first;
    });
    if (spot == spots->end()) return false;
    --spot->count;
    --largest->second;
  }
  std::erase_if(*spots, [](const Spot& spot) { return spot.count == 0; });
  std::erase_if(parts, [](const auto& part) { return part.second == 0; });
  const auto [least, most] = std::ranges::minmax_element(parts, {}, size);
  return parts.empty() || most->second - least->second <= 1;
}

}  // namespace tutti::core
