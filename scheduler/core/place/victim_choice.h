// SPDX-License-Identifier: Apache-2.0
// VictimChoice: which units go so that there is room for a gang's members on some nodes, by amounts alone, as cheaply
// as it finds. A search then tells whether the members really fit.
//
// One class of members after another: those that ask for most first, and where there are few, in other orders too. For
// each node it works out which units make room for one more member there, for two, and so on; and combines these:
// exactly where nodes and members are few, else by what a member costs. Units on several nodes, such as whole gangs,
// are taken where nothing else is enough, or cheaper. Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>
#include <absl/functional/function_ref.h>

#include <optional>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "core/place/problem.h"
#include "core/place/victim_bounds.h"
#include "core/place/victim_units.h"

namespace tutti::core {

class VictimChoice {
 public:
  // `wanted`: how many members of each class of `asks` are to be placed on `nodes`. What is there is as it is, with
  // what is speculated. All but `wanted` must outlive it. It spends of `budget`; no unit goes from a node that it
  // cannot afford to look at.
  VictimChoice(const cluster::ClusterState& state, const MemberAsks& asks, std::vector<int64_t> wanted,
               std::span<const model::NodeId> nodes, const std::vector<VictimUnit>& units, Budget& budget);

  // The places of units, as they were chosen, with what they cost together; nullopt: it found no way.
  struct Chosen {
    std::vector<size_t> units;
    VictimCost cost;
  };
  // Chooses units. `may_go`: whether these parts (VictimUnit::part) of one gang may all go. `rights` has nothing taken.
  using MayGoTogether = absl::FunctionRef<bool(model::GangId, std::span<const size_t>)>;
  std::optional<Chosen> Run(MayGoTogether may_go, VictimRights& rights);

 private:
  using Amounts = MemberAsks::Amounts;
  struct Spot {  // what a unit holds on a node
    size_t node = 0;
    Amounts amounts;
  };
  // Units that make room for `gain` more members on a node.
  struct Option {
    int64_t gain = 0;
    VictimCost cost;
    absl::InlinedVector<size_t, 4> units;
  };
  using Options = std::vector<Option>;  // by gain, both gain and cost rising

  std::vector<std::vector<size_t>> Orders() const;
  std::optional<Chosen> InOrder(std::span<const size_t> classes);
  bool Restrict(const Chosen& chosen, MayGoTogether may_go);
  bool Restrict(const Chosen& chosen, VictimRights& rights);
  bool ChooseFor(size_t c);
  std::optional<Chosen> WithinNodes(size_t c, int64_t lack);
  std::optional<Chosen> WithWide(size_t c, int64_t lack, const std::optional<Chosen>& without);
  const Options& OptionsOn(size_t c, size_t node);
  void TrySubsets(size_t c, size_t node, std::span<const size_t> units, Options* options) const;
  void TryInOrder(size_t c, size_t node, std::span<const size_t> units, Options* options) const;
  std::optional<Chosen> CombineExactly(int64_t lack);
  std::optional<Chosen> CombineByCost(int64_t lack);
  int64_t Gain(size_t c, size_t unit) const;
  // Tells whether one is all of a gang, and the other a part of it.
  bool Overlaps(size_t unit, size_t other) const;
  bool MayGo(size_t unit) const;
  void Go(size_t unit);
  void ComeBack(size_t unit);
  void Shift(size_t unit, int64_t sign);
  void PlaceMembers(size_t c);
  int64_t RoomOn(size_t c, size_t node) const;
  int64_t Room(size_t c) const;

  const MemberAsks& asks_;
  const std::vector<VictimUnit>& units_;
  const std::vector<int64_t> wanted_;
  const std::span<const model::NodeId> nodes_;
  Budget& budget_;
  std::vector<Amounts> free_at_first_;  // by node
  // Of the order of classes at hand, by unit: it may not go beside others of its gang that were chosen, or there is no
  // right to it beside others that were.
  std::vector<char> closed_, denied_;
  std::vector<Amounts> free_;                                                   // by node
  std::vector<std::vector<Spot>> spots_;                                        // by unit
  std::vector<std::vector<size_t>> on_;                                         // by node: units that are nowhere else
  std::vector<size_t> wide_;                                                    // units on several nodes
  std::vector<char> gone_;                                                      // by unit
  absl::flat_hash_map<model::GangId, absl::InlinedVector<size_t, 4>> gone_of_;  // units that are gone, by gang
  // Of the class that is being chosen for, by node; those that are not `known_` are to be found.
  std::vector<Options> options_;
  std::vector<char> known_;
  int64_t reserve_ = 0;  // what the budget keeps for the classes that come later
  Chosen chosen_;
};

}  // namespace tutti::core
