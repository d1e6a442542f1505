// SPDX-License-Identifier: Apache-2.0
#include "core/place/victim_choice.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti::core {

using model::NodeId;

namespace {

constexpr size_t kMostInSubsets = 8;  // units on a node, of which all subsets are tried
// Nodes times members times options of which the best combination is sought.
constexpr int64_t kMostToCombine = 200'000;
constexpr size_t kFewWide = 12;  // units on several nodes, each of which is tried as the only one
constexpr size_t kFewClasses = 3, kFewNodes = 64;
constexpr int64_t kPerOption = 4;  // units of the budget

// What one member costs is less by `a` than by `b`.
bool CheaperPerMember(const VictimCost& a, int64_t gain_a, const VictimCost& b, int64_t gain_b) {
  __extension__ using Wide = __int128;
  const auto times = [](const VictimCost& cost, int64_t factor) {
    return std::tuple(Wide{cost.breaks} * factor, Wide{cost.gangs} * factor, Wide{cost.lost_gpu_ms} * factor,
                      Wide{cost.pods} * factor);
  };
  return times(a, gain_b) < times(b, gain_a);
}

}  // namespace

VictimChoice::VictimChoice(const cluster::ClusterState& state, const MemberAsks& asks, std::vector<int64_t> wanted,
                           std::span<const NodeId> nodes, const std::vector<VictimUnit>& units, Budget& budget)
    : asks_(asks),
      units_(units),
      wanted_(std::move(wanted)),
      nodes_(nodes),
      budget_(budget),
      spots_(units.size()),
      on_(nodes.size()) {
  absl::flat_hash_map<NodeId, size_t> place_of;
  for (size_t i = 0; i < nodes.size(); ++i) {
    place_of[nodes[i]] = i;
    free_at_first_.push_back(asks.FreeOn(nodes[i], state.snapshot()));
  }
  for (size_t u = 0; u < units.size(); ++u) {
    for (const model::PodId id : units[u].pods) {
      const cluster::PodEntry& pod = state.pod(id);
      const auto at = place_of.find(pod.node);
      if (at == place_of.end()) continue;
      const auto spot = std::ranges::find(spots_[u], at->second, &Spot::node);
      const Amounts held = asks.HeldBy(*pod.pod_class);
      if (spot == spots_[u].end())
        spots_[u].push_back({at->second, held});
      else
        AddAmounts(spot->amounts, held);
    }
    if (spots_[u].size() == 1)
      on_[spots_[u].front().node].push_back(u);
    else if (!spots_[u].empty())
      wide_.push_back(u);
  }
}

int64_t VictimChoice::RoomOn(size_t c, size_t node) const {
  return asks_.open(c, nodes_[node]) ? asks_.Room(c, free_[node]) : 0;
}

int64_t VictimChoice::Room(size_t c) const {
  int64_t room = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) room += RoomOn(c, i);
  return room;
}

bool VictimChoice::Overlaps(size_t unit, size_t other) const {
  const VictimUnit &a = units_[unit], &b = units_[other];
  return a.gang && a.gang == b.gang && (a.what == VictimUnit::What::kGang || b.what == VictimUnit::What::kGang) &&
         a.what != VictimUnit::What::kLeaving && b.what != VictimUnit::What::kLeaving;
}

bool VictimChoice::MayGo(size_t unit) const {
  if (gone_[unit] || closed_[unit] || denied_[unit]) return false;
  const auto gone = gone_of_.find(units_[unit].gang);
  return gone == gone_of_.end() || units_[unit].what != VictimUnit::What::kSpare ||
         std::ranges::none_of(gone->second, [&](size_t other) { return Overlaps(unit, other); });
}

void VictimChoice::Shift(size_t unit, int64_t sign) {
  for (const Spot& spot : spots_[unit]) {
    AddAmounts(free_[spot.node], spot.amounts, sign);
    known_[spot.node] = 0;
  }
}

// Parts of a gang that are gone already do not go a second time with all of it.
void VictimChoice::Go(size_t unit) {
  Shift(unit, 1);
  gone_[unit] = 1;
  if (!units_[unit].gang) return;
  auto& gone = gone_of_[units_[unit].gang];
  for (const size_t other : gone)
    if (Overlaps(unit, other)) Shift(other, -1);
  gone.push_back(unit);
}

// REQUIRES: it was the last to go.
void VictimChoice::ComeBack(size_t unit) {
  Shift(unit, -1);
  gone_[unit] = 0;
  if (!units_[unit].gang) return;
  auto& gone = gone_of_[units_[unit].gang];
  gone.pop_back();
  for (const size_t other : gone)
    if (Overlaps(unit, other)) Shift(other, 1);
}

// By which part they ask of what there is, the largest first; then, of few classes on few nodes, all other orders.
std::vector<std::vector<size_t>> VictimChoice::Orders() const {
  Amounts total(asks_.columns().size(), 1);
  for (const Amounts& free : free_at_first_)
    for (size_t r = 0; r < free.size(); ++r) total[r] += std::max<int64_t>(0, free[r]);
  for (const std::vector<Spot>& spots : spots_)
    for (const Spot& spot : spots) AddAmounts(total, spot.amounts);
  const auto weight = [&](size_t c) {
    double most = 0;
    for (size_t r = 0; r < total.size(); ++r)
      most = std::max(most, static_cast<double>(asks_.of(c)[r]) / static_cast<double>(total[r]));
    return most;
  };
  std::vector<size_t> order;
  for (size_t c = 0; c < wanted_.size(); ++c)
    if (wanted_[c] > 0) order.push_back(c);
  std::ranges::stable_sort(order, std::ranges::greater(), weight);
  std::vector<std::vector<size_t>> orders{order};
  if (order.size() > kFewClasses || nodes_.size() > kFewNodes) return orders;
  std::ranges::sort(order);
  do {
    if (order != orders.front()) orders.push_back(order);
  } while (std::ranges::next_permutation(order).found);
  return orders;
}

std::optional<VictimChoice::Chosen> VictimChoice::Run(MayGoTogether may_go, VictimRights& rights) {
  std::optional<Chosen> best;
  for (const std::vector<size_t>& order : Orders()) {
    closed_.assign(units_.size(), 0);
    denied_.assign(units_.size(), 0);
    std::optional<Chosen> chosen = InOrder(order);
    while (chosen && (Restrict(*chosen, may_go) || Restrict(*chosen, rights)))
      chosen = budget_.exhausted() ? std::nullopt : InOrder(order);
    if (chosen && (!best || chosen->cost < best->cost)) best = std::move(chosen);
    if (budget_.exhausted()) break;
  }
  return best;
}

// Closes parts of gangs too many of which were chosen, so that all that are open may go. True: there are such.
bool VictimChoice::Restrict(const Chosen& chosen, MayGoTogether may_go) {
  absl::flat_hash_map<model::GangId, std::vector<size_t>> of_gang;
  for (const size_t u : chosen.units)
    if (units_[u].what == VictimUnit::What::kSpare) of_gang[units_[u].gang].push_back(u);
  bool restricted = false;
  for (const auto& [gang, units] : of_gang) {
    std::vector<size_t> parts;
    for (const size_t u : units) parts.push_back(units_[u].part);
    if (may_go(gang, parts)) continue;
    restricted = true;
    parts.clear();
    const auto open = [&](size_t u) {
      parts.push_back(units_[u].part);
      closed_[u] = !may_go(gang, parts);
      if (closed_[u]) parts.pop_back();
    };
    for (const size_t u : units) open(u);
    for (size_t u = 0; u < units_.size(); ++u)
      if (units_[u].what == VictimUnit::What::kSpare && units_[u].gang == gang && !denied_[u] &&
          std::ranges::find(units, u) == units.end())
        open(u);
  }
  return restricted;
}

// Closes units to which there is no right beside the others that were chosen, so that all that are open may be taken
// next to those. True: there are such among the chosen.
bool VictimChoice::Restrict(const Chosen& chosen, VictimRights& rights) {
  std::vector<VictimUnit> units;
  for (const size_t u : chosen.units) units.push_back(units_[u]);
  budget_.Spend(VictimRights::kPerUnit * std::ssize(units));
  const std::vector<size_t> taken = rights.TakeOf(units);
  const bool restricts = taken.size() < units.size();
  if (restricts) {
    std::vector<char> is_taken(units_.size(), 0);
    for (const size_t i : taken) is_taken[chosen.units[i]] = 1;
    budget_.Spend(VictimRights::kPerUnit * std::ssize(units_));
    for (size_t u = 0; u < units_.size(); ++u) denied_[u] = denied_[u] || (!is_taken[u] && !rights.MayTake(units_[u]));
  }
  rights.GiveAllBack();
  return restricts;
}

std::optional<VictimChoice::Chosen> VictimChoice::InOrder(std::span<const size_t> classes) {
  free_ = free_at_first_;
  gone_.assign(units_.size(), 0);
  gone_of_.clear();
  chosen_ = {};
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto left = static_cast<int64_t>(classes.size() - i);
    reserve_ = std::max<int64_t>(0, budget_.left()) / left * (left - 1);
    if (!ChooseFor(classes[i])) return std::nullopt;
  }
  std::erase_if(chosen_.units, [this](size_t unit) {
    return units_[unit].what == VictimUnit::What::kSpare &&
           std::ranges::any_of(gone_of_[units_[unit].gang], [&](size_t other) { return Overlaps(unit, other); });
  });
  chosen_.cost = {};
  for (const size_t unit : chosen_.units) chosen_.cost += units_[unit].cost;
  return std::move(chosen_);
}

bool VictimChoice::ChooseFor(size_t c) {
  const int64_t lack = wanted_[c] - Room(c);
  options_.assign(nodes_.size(), {});
  known_.assign(nodes_.size(), 0);
  if (lack > 0) {
    std::optional<Chosen> found = WithinNodes(c, lack);
    if (auto with_wide = WithWide(c, lack, found)) found = std::move(with_wide);
    if (!found) return false;
    for (const size_t unit : found->units) Go(unit);
    chosen_.units.insert(chosen_.units.end(), found->units.begin(), found->units.end());
    chosen_.cost += found->cost;
  }
  PlaceMembers(c);
  return true;
}

// On the nodes that then have the least room left.
void VictimChoice::PlaceMembers(size_t c) {
  std::vector<std::pair<int64_t, size_t>> rooms;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (const int64_t room = RoomOn(c, i); room > 0) rooms.emplace_back(room, i);
  std::ranges::sort(rooms);
  int64_t left = wanted_[c];
  for (const auto& [room, node] : rooms) {
    const int64_t count = std::min(room, left);
    AddAmounts(free_[node], asks_.of(c), -count);
    if ((left -= count) == 0) return;
  }
}

namespace {

// Keeps of equal or smaller gain only what costs less.
template <typename Options>
void KeepBest(Options* options) {
  std::ranges::stable_sort(
      *options, [](const auto& a, const auto& b) { return a.gain != b.gain ? a.gain > b.gain : a.cost < b.cost; });
  Options kept;
  for (auto& option : *options)
    if (kept.empty() || option.cost < kept.back().cost) kept.push_back(std::move(option));
  std::ranges::reverse(kept);
  *options = std::move(kept);
}

}  // namespace

const VictimChoice::Options& VictimChoice::OptionsOn(size_t c, size_t node) {
  Options& options = options_[node];
  if (known_[node]) return options;
  options.clear();
  if (budget_.left() < reserve_) return options;
  known_[node] = 1;
  if (!asks_.open(c, nodes_[node])) return options;
  absl::InlinedVector<size_t, 16> units;
  for (const size_t u : on_[node])
    if (MayGo(u)) units.push_back(u);
  if (units.empty()) return options;
  budget_.Spend(kPerOption << std::min(units.size(), kMostInSubsets));
  if (units.size() <= kMostInSubsets)
    TrySubsets(c, node, units, &options);
  else
    TryInOrder(c, node, units, &options);
  KeepBest(&options);
  return options;
}

void VictimChoice::TrySubsets(size_t c, size_t node, std::span<const size_t> units, Options* options) const {
  const int64_t before = asks_.Room(c, free_[node]);
  for (uint32_t subset = 1; subset < uint32_t{1} << units.size(); ++subset) {
    Option option;
    Amounts free = free_[node];
    bool apart = true;
    for (size_t i = 0; i < units.size(); ++i) {
      if (!(subset >> i & 1)) continue;
      for (const size_t other : option.units) apart = apart && !Overlaps(units[i], other);
      option.units.push_back(units[i]);
      option.cost += units_[units[i]].cost;
      AddAmounts(free, spots_[units[i]].front().amounts);
    }
    option.gain = asks_.Room(c, free) - before;
    if (!apart || option.gain <= 0) continue;
    const auto same = std::ranges::find(*options, option.gain, &Option::gain);
    if (same == options->end())
      options->push_back(std::move(option));
    else if (option.cost < same->cost)
      *same = std::move(option);
  }
}

// One by one, by cost or by what they hold, until there is room for one more; those that were not needed stay.
void VictimChoice::TryInOrder(size_t c, size_t node, std::span<const size_t> units, Options* options) const {
  const int64_t before = asks_.Room(c, free_[node]);
  std::vector<size_t> order(units.begin(), units.end());
  const std::span<const int64_t> ask = asks_.of(c);
  const auto most_held = [&](size_t u) {
    double held = 0;
    for (size_t r = 0; r < ask.size(); ++r)
      if (ask[r] > 0) held += static_cast<double>(spots_[u].front().amounts[r]) / static_cast<double>(ask[r]);
    return -held;
  };
  for (const bool by_amounts : {false, true}) {
    if (by_amounts) std::ranges::stable_sort(order, {}, most_held);
    Amounts free = free_[node];
    Option option;
    for (const size_t u : order) {
      if (std::ranges::any_of(option.units, [&](size_t other) { return Overlaps(u, other); })) continue;
      option.units.push_back(u);
      option.cost += units_[u].cost;
      AddAmounts(free, spots_[u].front().amounts);
      const int64_t gain = asks_.Room(c, free) - before;
      if (gain <= option.gain) continue;
      option.gain = gain;
      Option needed{gain, {}, {}};
      Amounts left = free;
      for (const size_t one : option.units) {
        Amounts without = left;
        AddAmounts(without, spots_[one].front().amounts, -1);
        if (asks_.Room(c, without) - before >= gain) {
          left = without;
        } else {
          needed.units.push_back(one);
          needed.cost += units_[one].cost;
        }
      }
      options->push_back(std::move(needed));
    }
  }
}

std::optional<VictimChoice::Chosen> VictimChoice::WithinNodes(size_t c, int64_t lack) {
  int64_t most = 0, count = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Options& options = OptionsOn(c, i);
    if (options.empty()) continue;
    most += options.back().gain;
    count += std::ssize(options);
  }
  if (most < lack) return std::nullopt;
  return count * lack <= kMostToCombine ? CombineExactly(lack) : CombineByCost(lack);
}

// Of each node one option or none: the cheapest way to gain `lack`, node by node for each number still lacking.
std::optional<VictimChoice::Chosen> VictimChoice::CombineExactly(int64_t lack) {
  struct Best {
    VictimCost cost;
    bool known = false;
  };
  const auto size = static_cast<size_t>(lack) + 1;
  std::vector<Best> best(size);
  best[0].known = true;
  std::vector<std::vector<uint16_t>> taken(options_.size());  // by node and number gained: option plus one
  for (size_t i = 0; i < options_.size(); ++i) {
    if (options_[i].empty()) continue;
    taken[i].assign(size, 0);
    budget_.Spend(std::ssize(options_[i]) * lack);
    for (size_t gained = size - 1; gained > 0; --gained)
      for (size_t o = 0; o < options_[i].size(); ++o) {
        const Option& option = options_[i][o];
        const Best& from = best[gained - std::min(gained, static_cast<size_t>(option.gain))];
        if (!from.known) continue;
        VictimCost cost = from.cost;
        cost += option.cost;
        if (best[gained].known && best[gained].cost <= cost) continue;
        best[gained] = {cost, true};
        taken[i][gained] = static_cast<uint16_t>(o + 1);
      }
  }
  if (!best.back().known) return std::nullopt;
  Chosen chosen{{}, best.back().cost};
  size_t gained = size - 1;
  for (size_t i = options_.size(); i-- > 0;) {
    if (taken[i].empty() || taken[i][gained] == 0) continue;
    const Option& option = options_[i][taken[i][gained] - size_t{1}];
    chosen.units.insert(chosen.units.end(), option.units.begin(), option.units.end());
    gained -= std::min(gained, static_cast<size_t>(option.gain));
  }
  return chosen;
}

// What costs least a member is taken first, one option of a node; what proves too much in the end stays.
std::optional<VictimChoice::Chosen> VictimChoice::CombineByCost(int64_t lack) {
  struct Taken {
    size_t node;
    const Option* option;
  };
  std::vector<std::pair<size_t, const Option*>> all;
  for (size_t i = 0; i < options_.size(); ++i)
    for (const Option& option : options_[i])
      if (option.gain <= lack || &option == &options_[i].front()) all.emplace_back(i, &option);
  budget_.Spend(kPerOption * std::ssize(all));
  std::ranges::stable_sort(all, [lack](const auto& a, const auto& b) {
    return CheaperPerMember(a.second->cost, std::min(a.second->gain, lack), b.second->cost,
                            std::min(b.second->gain, lack));
  });
  std::vector<const Option*> of_node(options_.size(), nullptr);
  int64_t gained = 0;
  for (const auto& [node, option] : all) {
    if (gained >= lack) break;
    const int64_t before = of_node[node] ? of_node[node]->gain : 0;
    if (option->gain <= before) continue;
    of_node[node] = option;
    gained += option->gain - before;
  }
  if (gained < lack) return std::nullopt;
  Chosen chosen;
  for (size_t i = options_.size(); i-- > 0;) {
    if (!of_node[i]) continue;
    // Less of the node, or none, will do if so many are not needed.
    const Option* least = of_node[i];
    for (const Option& option : options_[i])
      if (gained - of_node[i]->gain + option.gain >= lack) {
        least = &option;
        break;
      }
    if (gained - of_node[i]->gain >= lack) least = nullptr;
    gained += (least ? least->gain : 0) - of_node[i]->gain;
    if (!least) continue;
    chosen.units.insert(chosen.units.end(), least->units.begin(), least->units.end());
    chosen.cost += least->cost;
  }
  return chosen;
}

int64_t VictimChoice::Gain(size_t c, size_t unit) const {
  int64_t gain = 0;
  for (const Spot& spot : spots_[unit]) {
    if (!asks_.open(c, nodes_[spot.node])) continue;
    Amounts free = free_[spot.node];
    const int64_t before = asks_.Room(c, free);
    AddAmounts(free, spot.amounts);
    gain += asks_.Room(c, free) - before;
  }
  return gain;
}

// Units on several nodes, one after another, the cheapest a member first; after each the rest is sought within nodes.
// Of few of them each is tried as the only one as well. REQUIRES: `without` is what there is without any of them.
std::optional<VictimChoice::Chosen> VictimChoice::WithWide(size_t c, int64_t lack,
                                                           const std::optional<Chosen>& without) {
  std::optional<Chosen> best;
  const auto beaten = [&](const VictimCost& cost) {
    return (best && best->cost <= cost) || (without && without->cost <= cost);
  };
  const auto offer = [&](const Chosen& wide) {
    const int64_t left = wanted_[c] - Room(c);
    std::optional<Chosen> rest = left > 0 ? WithinNodes(c, left) : Chosen();
    if (!rest) return;
    Chosen all = wide;
    all.units.insert(all.units.end(), rest->units.begin(), rest->units.end());
    all.cost += rest->cost;
    if (!beaten(all.cost)) best = std::move(all);
  };
  std::vector<std::pair<size_t, int64_t>> open;
  for (const size_t u : wide_)
    if (const int64_t gain = MayGo(u) ? Gain(c, u) : 0; gain > 0) open.emplace_back(u, gain);
  if (open.size() <= kFewWide)
    for (const auto& [u, gain] : open) {
      if (beaten(units_[u].cost) || budget_.left() < reserve_) continue;
      Go(u);
      offer({{u}, units_[u].cost});
      ComeBack(u);
    }
  Chosen taken;
  for (int64_t left = lack; left > 0 && !open.empty() && budget_.left() >= reserve_; left = wanted_[c] - Room(c)) {
    budget_.Spend(kPerOption * std::ssize(open));
    for (auto& [u, gain] : open) gain = MayGo(u) ? Gain(c, u) : 0;
    std::erase_if(open, [](const auto& item) { return item.second <= 0; });
    const auto next = std::ranges::min_element(open, [&](const auto& a, const auto& b) {
      return CheaperPerMember(units_[a.first].cost, std::min(a.second, left), units_[b.first].cost,
                              std::min(b.second, left));
    });
    if (next == open.end()) break;
    const size_t unit = next->first;
    open.erase(next);
    Go(unit);
    taken.units.push_back(unit);
    taken.cost += units_[unit].cost;
    if (beaten(taken.cost)) break;
    offer(taken);
  }
  for (auto unit = taken.units.rbegin(); unit != taken.units.rend(); ++unit) ComeBack(*unit);
  return best;
}

}  // namespace tutti::core
