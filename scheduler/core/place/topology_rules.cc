// SPDX-License-Identifier: Apache-2.0
#include "core/place/topology_rules.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/planted.h"
#include "core/gangs/topology.h"

namespace tutti::core {
namespace {

using model::Symbol;
using model::TopologyRequest;

constexpr size_t kMostRuleSets = 64, kMostRulesInAll = 4096;  // in all of them together, where there are more than two

// Members of one request: kinds still to be placed, and members that are.
struct Group {
  TopologyRequest request;
  std::vector<size_t> kinds;
  std::vector<const Member*> held;
  int64_t total = 0;  // to be placed, and placed
};

bool Holds(const Member& member, const cluster::ClusterState& state) {
  return state.pod(member.pod).node && !state.pod(member.pod).pod->meta.deleting();
}

// What members ask for others too, which say nothing: the first one for the whole gang, whose subset is a word, and the
// first one for each role, whose subset is a word, a slash and the role.
struct Shared {
  const TopologyRequest* of_gang = nullptr;
  absl::flat_hash_map<std::string_view, const TopologyRequest*> of_role;

  const TopologyRequest* For(const Member& member) const {
    const auto at = of_role.find(member.role);
    return at != of_role.end() ? at->second : of_gang;
  }
};

Shared FindShared(const Gang& gang) {
  Shared shared;
  for (const Member* member : gang.members) {
    const TopologyRequest* own = member->topology.get();
    if (!own || own->empty() || own->subset.empty()) continue;
    const size_t slash = own->subset.find('/');
    if (slash == std::string::npos)
      shared.of_gang = shared.of_gang ? shared.of_gang : own;
    else if (std::string_view(own->subset).substr(slash + 1) == member->role)
      shared.of_role.try_emplace(member->role, own);
  }
  return shared;
}

// Each kind, and each member, is looked at once for all subsets together: a gang may have thousands.
std::vector<Group> FindGroups(const Gang& gang, const Problem& problem, const cluster::ClusterState& state) {
  std::vector<Group> groups;
  const auto add = [&](const TopologyRequest& request, const auto& kind_in, const auto& member_in) {
    if (request.empty()) return;
    Group group{request, {}, {}, 0};
    for (size_t k = 0; k < problem.kinds.size(); ++k)
      if (kind_in(problem.kinds[k])) group.kinds.push_back(k);
    for (const Member* member : gang.members)
      if (member_in(*member) && Holds(*member, state)) group.held.push_back(member);
    if (!group.kinds.empty()) groups.push_back(std::move(group));
  };
  const TopologyRequest& of_all = gang.spec.topology;
  if (!of_all.each_role) add(of_all, [](const MemberKind&) { return true; }, [](const Member&) { return true; });
  for (const model::RoleSpec& role : gang.spec.roles)
    add(
        role.topology, [&](const MemberKind& kind) { return kind.role == role.name; },
        [&](const Member& member) { return member.role == role.name; });
  // What a member asks for itself, else what its role is asked as each role is, else what another asks for the role or
  // the whole gang; and which members are asked together with it.
  using Subset = std::pair<const TopologyRequest*, std::string_view>;
  const Shared shared = FindShared(gang);
  const auto subset_of = [&](const Member& member) -> std::pair<const TopologyRequest*, Subset> {
    const TopologyRequest* own = member.topology.get();
    if (own && !own->empty()) return {own, {nullptr, own->subset}};
    if (of_all.each_role && !of_all.empty()) return {&of_all, {&of_all, member.role}};
    if (!of_all.empty()) return {};
    const TopologyRequest* others = shared.For(member);
    return {others, {nullptr, others ? std::string_view(others->subset) : std::string_view()}};
  };
  absl::flat_hash_map<Subset, size_t> of_subset;
  for (size_t k = 0; k < problem.kinds.size(); ++k) {
    const auto [request, subset] = subset_of(*problem.kinds[k].members.front());
    if (!request) continue;
    const auto [at, fresh] = of_subset.try_emplace(subset, groups.size());
    if (fresh) groups.push_back({*request, {}, {}, 0});
    groups[at->second].kinds.push_back(k);
  }
  for (const Member* member : gang.members)
    if (!of_subset.empty() && Holds(*member, state))
      if (const auto at = of_subset.find(subset_of(*member).second); at != of_subset.end())
        groups[at->second].held.push_back(member);
  for (Group& group : groups) {
    for (const size_t k : group.kinds) group.total += problem.kinds[k].count();
    group.total = std::min(group.total, problem.total()) + static_cast<int64_t>(group.held.size());
  }
  return groups;
}

Rule MakeRule(Rule::Shape shape, const std::string& level, int64_t size, const Group& group,
              const cluster::ClusterState& state) {
  Rule rule{shape, state.snapshot().symbols().Intern(level), size, group.kinds, {}};
  for (const Member* member : group.held) {
    const Symbol value = state.snapshot().node(state.pod(member->pod).node).Label(rule.level);
    if (value || !base::Planted(base::Bug::kForgetUnlabelled)) ++rule.held[value];
  }
  return rule;
}

// The ways to serve one group, the best first.
RuleSets WaysFor(const Group& group, const cluster::ClusterState& state) {
  using Shape = Rule::Shape;
  const TopologyRequest& request = group.request;
  RuleSets musts(1);  // one of them
  if (!request.required.empty()) {
    musts.front().push_back(MakeRule(Shape::kOne, request.required, 0, group, state));
    for (const std::string& level : request.alternatives)
      musts.push_back({MakeRule(Shape::kOne, level, 0, group, state)});
  }
  const auto slices = [&](const std::string& level, int64_t size) {
    if (level.empty() || size <= 1) return;
    for (std::vector<Rule>& must : musts) must.push_back(MakeRule(Shape::kSlices, level, size, group, state));
  };
  slices(request.slice_level, request.slice_size);
  for (const TopologyRequest::Layer& layer : request.inner_slices) slices(layer.level, layer.size);
  RuleSets ways;
  const auto add = [&](Shape shape, const std::string& level, int64_t size) {
    for (const std::vector<Rule>& must : musts) {
      ways.push_back(must);
      ways.back().push_back(MakeRule(shape, level, size, group, state));
    }
  };
  if (!request.balanced.empty()) {
    int64_t last = 0;
    const Symbol level = state.snapshot().symbols().Intern(request.balanced);
    const auto domains = static_cast<int64_t>(state.snapshot().labels().DomainsOf(level).size());
    for (int64_t parts = 1; parts <= std::max<int64_t>(1, std::min(domains, group.total)); ++parts) {
      const int64_t size = group.total / parts;
      if (std::exchange(last, size) != size) add(Shape::kEven, request.balanced, size);
    }
    return ways;
  }
  for (const std::string& level : request.preferred) {
    if (level == request.required) break;
    add(Shape::kOne, level, 0);
  }
  ways.insert(ways.end(), musts.begin(), musts.end());
  return ways;
}

// Adds to `picks`, until there are `most`, the ways to choose one number up to `least[i]` for each i from `at` on that
// add up to `sum`; `room` is the sum of those `least`. False: there are `most`.
bool Combine(const std::vector<size_t>& least, size_t sum, size_t room, size_t at, size_t most,
             std::vector<size_t>* pick, std::vector<std::vector<size_t>>* picks) {
  if (at == least.size()) {
    picks->push_back(*pick);
    return picks->size() < most;
  }
  room -= least[at];
  for (size_t n = sum > room ? sum - room : 0; n <= std::min(least[at], sum); ++n) {
    (*pick)[at] = n;
    if (!Combine(least, sum - n, room, at + 1, most, pick, picks)) return false;
  }
  return true;
}

}  // namespace

Rules MakeRules(const Gang& gang, const Problem& problem, const cluster::ClusterState& state) {
  Rules rules{{{}}};
  if (FreeOfTopology(gang)) return rules;
  std::vector<RuleSets> ways;
  for (const Group& group : FindGroups(gang, problem, state)) {
    ways.push_back(WaysFor(group, state));
    const bool any = !group.request.balanced.empty() || !group.request.alternatives.empty();
    rules.any_does = rules.any_does || (any && ways.back().size() > 1);
  }
  std::vector<size_t> least;
  for (const RuleSets& of_group : ways) least.push_back(of_group.size() - 1);
  // Combinations, those with the least given up first; what must be is never left out.
  // Of even parts alone all sizes are tried: there are twice as many as the root of the number of members.
  const size_t most = rules.any_does && ways.size() == 1
                          ? ways.front().size()
                          : std::clamp(kMostRulesInAll / std::max<size_t>(1, ways.size()), size_t{2}, kMostRuleSets);
  const size_t least_sum = std::accumulate(least.begin(), least.end(), size_t{0});
  std::vector<std::vector<size_t>> picks;
  std::vector<size_t> pick(ways.size());
  if (most == 2 && least_sum > 0) picks.push_back(pick);
  size_t sum = 0;
  while (most > 2 && sum < least_sum && Combine(least, sum, least_sum, 0, most - 1, &pick, &picks)) ++sum;
  picks.push_back(least);
  size_t combinations = 1;
  for (const size_t of_group : least) combinations = std::min(combinations * (of_group + 1), kMostRulesInAll);
  rules.all = !rules.any_does || picks.size() >= combinations;
  rules.sets.clear();
  for (const std::vector<size_t>& pick : picks) {
    std::vector<Rule>& set = rules.sets.emplace_back();
    for (size_t i = 0; i < pick.size(); ++i) {
      const std::vector<Rule>& way = ways[i][pick[i]];
      set.insert(set.end(), way.begin(), way.end());
    }
  }
  return rules;
}

bool Broken(const Rule& rule, const Problem& problem) {
  int64_t more = 0, held = 0, slices = 0;
  for (const size_t k : rule.kinds) more += problem.kinds[k].count();
  more = std::min(more, problem.total());
  for (const auto& [value, count] : rule.held) {
    held += count;
    if (rule.size > 0) slices += (count + rule.size - 1) / rule.size;
  }
  switch (rule.shape) {
    case Rule::Shape::kOne: return rule.held.size() > 1 || rule.held.contains(Symbol());
    case Rule::Shape::kSlices: return slices > (held + more + rule.size - 1) / rule.size;
    case Rule::Shape::kEven:
      return std::ranges::any_of(rule.held, [&](const auto& part) {
        return part.second > rule.size + 1 || (!part.first && part.second < rule.size);
      });
  }
  return false;
}

bool Obeyed(const std::vector<Rule>& rules, const std::vector<Spot>& spots, const cluster::Snapshot& snapshot) {
  return std::ranges::all_of(rules, [&](const Rule& rule) {
    std::map<Symbol, int64_t> parts = rule.held;
    for (const Spot& spot : spots) {
      if (!std::ranges::binary_search(rule.kinds, spot.kind)) continue;
      const Symbol value = snapshot.node(spot.node).Label(rule.level);
      if (!value) return false;
      parts[value] += spot.count;
    }
    int64_t total = 0, slices = 0, least = std::numeric_limits<int64_t>::max(), most = 0;
    for (const auto& [value, count] : parts) {
      total += count;
      least = std::min(least, count);
      most = std::max(most, count);
      if (rule.size > 0) slices += (count + rule.size - 1) / rule.size;
    }
    switch (rule.shape) {
      case Rule::Shape::kOne: return parts.size() <= 1;
      case Rule::Shape::kSlices: return slices <= (total + rule.size - 1) / rule.size;
      case Rule::Shape::kEven: return parts.empty() || most - least <= 1;
    }
    return false;
  });
}

}  // namespace tutti::core
