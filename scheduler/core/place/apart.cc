// SPDX-License-Identifier: Apache-2.0
#include "core/place/apart.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "core/place/greedy.h"

namespace tutti::core {
namespace {

using cluster::WhatIf;
using model::NodeId;
using model::Symbol;

constexpr size_t kMostTries = 8;  // domains tried for one part, and for all

// Leaves out kinds of which no member is left.
void DemandAll(Problem* problem) {
  std::erase_if(problem->kinds, [](const MemberKind& kind) { return kind.members.empty(); });
  problem->DemandAll();
}

// How many members of each kind there are when the demands are met by the first that may.
std::vector<int64_t> FirstChoice(const Problem& problem) {
  std::vector<int64_t> wanted(problem.kinds.size());
  for (const Demand& demand : problem.demands) {
    int64_t left = demand.count;
    for (const size_t k : demand.kinds) {
      const int64_t more = std::min<int64_t>(left, problem.kinds[k].count() - wanted[k]);
      wanted[k] += more;
      left -= more;
    }
  }
  return wanted;
}

}  // namespace

Apart::Apart(WhatIf& what_if, Rankings& rankings, const Problem& problem, const std::vector<Rule>& rules)
    : what_if_(what_if), rankings_(rankings), problem_(problem), rules_(rules) {}

SearchOutcome Apart::Run(std::vector<cluster::Placement>* placements) {
  if (!Sort()) return SearchOutcome::kUnknown;
  if (Crowded()) return SearchOutcome::kImpossible;
  if (whole_.empty()) return TryWithin(nullptr, placements) ? SearchOutcome::kFound : SearchOutcome::kUnknown;

  int64_t wanted = rest_.total();
  for (const PlacedTogether& part : parts_) wanted += part.members.total();
  std::vector<std::tuple<int64_t, Values, std::vector<NodeId>>> domains;
  const std::vector<Asked> asked = ByClass(problem_.kinds);
  for (auto& [values, nodes] : WholeDomains()) {
    Place place{values.front(), std::move(nodes), {}};
    const auto [fits, room] = RoomIn(place, asked);
    std::ranges::sort(place.nodes);
    if (fits >= wanted) domains.emplace_back(room, values, std::move(place.nodes));
  }
  if (domains.empty()) return SearchOutcome::kImpossible;
  std::ranges::sort(domains);
  for (size_t i = 0; i < std::min(domains.size(), kMostTries); ++i)
    if (TryWithin(&std::get<2>(domains[i]), placements)) return SearchOutcome::kFound;
  return SearchOutcome::kUnknown;
}

// The nodes that are in one domain of each rule for all members, by these domains.
std::map<Apart::Values, std::vector<NodeId>> Apart::WholeDomains() const {
  absl::flat_hash_map<NodeId, Values> at;
  for (size_t i = 0; i < whole_.size(); ++i)
    for (const auto& [value, nodes] : what_if_.snapshot().labels().DomainsOf(whole_[i]->level)) {
      if (!whole_[i]->held.empty() && !whole_[i]->held.contains(value)) continue;
      for (const NodeId n : nodes)
        if (Values& values = at[n]; values.size() == i) values.push_back(value);
    }
  std::map<Values, std::vector<NodeId>> domains;
  for (const auto& [node, values] : at)
    if (values.size() == whole_.size()) domains[values].push_back(node);
  return domains;
}

// Into parts and the rest. False: some rule is of another shape, or two are about the same part.
bool Apart::Sort() {
  const std::vector<int64_t> wanted = FirstChoice(problem_);
  rest_.kinds = problem_.kinds;
  for (size_t k = 0; k < wanted.size(); ++k) {
    all_ = all_ && wanted[k] == problem_.kinds[k].count();
    rest_.kinds[k].members.resize(static_cast<size_t>(wanted[k]));
  }
  std::vector<char> taken(problem_.kinds.size());
  for (const Rule& rule : rules_) {
    if (rule.shape != Rule::Shape::kOne) return false;
    if (rule.kinds.size() == problem_.kinds.size()) {
      whole_.push_back(&rule);
      continue;
    }
    Problem members;
    for (const size_t k : rule.kinds) {
      if (std::exchange(taken[k], 1)) return false;
      members.kinds.push_back(rest_.kinds[k]);
      rest_.kinds[k].members.clear();
    }
    DemandAll(&members);
    if (members.total() == 0) continue;
    parts_.push_back({&rule, std::move(members), {}});
    parts_.back().asked = ByClass(parts_.back().members.kinds);
  }
  DemandAll(&rest_);
  std::ranges::stable_sort(parts_, std::ranges::greater(),
                           [](const PlacedTogether& part) { return part.members.total(); });
  return true;
}

// There are more parts of one class and size than the domains of their level hold.
bool Apart::Crowded() {
  if (!all_) return false;  // some part might be left out
  std::map<std::tuple<Symbol, model::ClassId, int64_t>, std::pair<const MemberKind*, int64_t>> alike;
  for (const PlacedTogether& part : parts_) {
    if (part.members.kinds.size() > 1 || !part.rule->held.empty()) continue;
    const MemberKind& kind = part.members.kinds.front();
    auto& [of, count] = alike[{part.rule->level, kind.pod_class->id, kind.count()}];
    of = &kind;
    ++count;
  }
  for (const auto& [what, of] : alike) {
    int64_t most = 0;
    for (const auto& [value, nodes] : what_if_.snapshot().labels().DomainsOf(std::get<0>(what))) {
      Place place{value, nodes, {}};
      most += RoomIn(place, *of.first) / std::get<2>(what);
    }
    if (most < of.second) return true;
  }
  return false;
}

bool Apart::TryWithin(const std::vector<NodeId>* within, std::vector<cluster::Placement>* placements) {
  places_.clear();
  for (const PlacedTogether& part : parts_) {
    const auto [at, fresh] = places_.try_emplace(part.rule->level);
    if (!fresh) continue;
    for (const auto& [value, nodes] : what_if_.snapshot().labels().DomainsOf(part.rule->level)) {
      Place place{value, nodes, {}};
      if (within) std::erase_if(place.nodes, [&](NodeId n) { return !std::ranges::binary_search(*within, n); });
      std::ranges::sort(place.nodes);
      if (!place.nodes.empty()) at->second.push_back(std::move(place));
    }
    std::ranges::sort(at->second, {}, &Place::value);
  }
  WhatIf::Scope scope(what_if_);
  for (const PlacedTogether& part : parts_)
    if (!Put(part)) return false;
  Greedy greedy(rest_, rankings_, what_if_);
  if (!greedy.Run(Greedy::Order::kLargestFirst, false, within).fits) return false;
  *placements = scope.Take();
  return true;
}

bool Apart::Put(const PlacedTogether& part) {
  std::vector<Place>& places = places_[part.rule->level];
  std::vector<std::pair<int64_t, size_t>> choices;  // the tightest first
  for (size_t i = 0; i < places.size() && part.rule->held.size() <= 1; ++i) {
    if (!part.rule->held.empty() && !part.rule->held.contains(places[i].value)) continue;
    const auto [fits, room] = RoomIn(places[i], part.asked);
    if (fits >= part.members.total()) choices.emplace_back(room, i);
  }
  const size_t most = std::min(choices.size(), kMostTries);
  std::partial_sort(choices.begin(), choices.begin() + static_cast<ptrdiff_t>(most), choices.end());
  for (size_t i = 0; i < most; ++i) {
    Place& place = places[choices[i].second];
    const WhatIf::Mark mark = what_if_.Here();
    Greedy greedy(part.members, rankings_, what_if_);
    if (greedy.Run(Greedy::Order::kLargestFirst, false, &place.nodes).fits) {
      place.room.clear();
      for (auto& [level, others] : places_)
        if (level != part.rule->level)
          for (Place& other : others) other.room.clear();
      return true;
    }
    what_if_.Rewind(mark);
  }
  return false;
}

int64_t Apart::RoomIn(Place& place, const MemberKind& kind) {
  const auto [at, fresh] = place.room.try_emplace(kind.pod_class->id, 0);
  if (!fresh) return at->second;
  const std::span<const int32_t> rooms = rankings_.For(kind.pod_class).Rooms();
  for (const NodeId n : place.nodes) at->second += rooms[n.index()];
  return at->second;
}

Apart::Room Apart::RoomIn(Place& place, const std::vector<Asked>& asked) {
  Room room;
  for (const Asked& one : asked) {
    const int64_t of_class = RoomIn(place, *one.of);
    room.fits += std::min(of_class, one.count);
    room.most = std::max(room.most, of_class);
  }
  return room;
}

std::vector<Apart::Asked> Apart::ByClass(const std::vector<MemberKind>& kinds) {
  absl::flat_hash_map<model::ClassId, size_t> known;
  std::vector<Asked> asked;
  for (const MemberKind& kind : kinds) {
    const auto [at, fresh] = known.try_emplace(kind.pod_class->id, asked.size());
    if (fresh) asked.push_back({&kind, 0});
    asked[at->second].count += kind.count();
  }
  return asked;
}

}  // namespace tutti::core
