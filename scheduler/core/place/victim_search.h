// SPDX-License-Identifier: Apache-2.0
// VictimSearch: the victims without which a whole gang fits, as few and as cheap as it finds; or the proof that no
// victims to which it may have the right would help.
//
// In this order: a bound, by the amounts that pods hold (Evictable); of all priorities up to which victims are enough,
// the lowest; domain by domain of the gang's rules, units chosen by amounts alone (VictimChoice); the ordinary search
// with these gone; and every unit that can be spared is given back, the dearest first. Where no choice by amounts does,
// all that may go is gone at first. Promises of an answer that fits
//   (1) with the victims gone, the placements pass every filter together;
//   (2) with any one unit given back the gang does not fit, as far as the budget let that be found out (`exhausted`);
//   (3) the gang has the right to all victims together, and with them gone its queue takes it; of a gang go parts that
//       it can spare, or all.
// The same input gives the same answer. Scheduler thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "core/gangs/gang_book.h"
#include "core/place/evictable.h"
#include "core/place/planner.h"
#include "core/place/rankings.h"
#include "core/place/victim_units.h"

namespace tutti::core {

struct VictimAnswer {
  bool fits = false;
  std::vector<VictimUnit> victims;
  std::vector<cluster::Placement> placements;
  bool exhausted = false;  // the budget ended, that for halves too, before every unit had been tried without
  // When it does not fit: no victims would help before Evictable::MoreSince says so. Else it was not found out.
  bool proven = false;
};

class VictimSearch {
 public:
  // All must outlive it.
  VictimSearch(const cluster::ClusterState& state, GangBook& book, Evictable& evictable, Planner& planner,
               Rankings& rankings, const base::Clock& clock)
      : state_(state),
        evictable_(evictable),
        book_(book),
        planner_(planner),
        rankings_(rankings),
        units_(state, book, clock) {}

  // Reads what changed on nodes.
  void CatchUp() { evictable_.CatchUp(); }
  // Seeks victims for the members that `requirement` lacks, chosen from `pending`, with what the gang has the right to.
  // The state is as before afterwards; what it spent is added to the planner's work. REQUIRES: they do not fit as it
  // is, or the queue does not take them; nothing was speculated since CatchUp.
  VictimAnswer Run(model::GangId id, const Members& pending, const Requirement& requirement, VictimRights& rights);

 private:
  struct Question;
  struct Draft;  // units that were chosen by amounts

  VictimAnswer Answer(Question& question);
  std::optional<VictimAnswer> TryUpTo(Question& question, int32_t highest);
  const std::vector<VictimUnit>& UnitsIn(Question& question, size_t group);
  std::vector<Draft> DraftsOf(Question& question);
  bool Suffice(Question& question, const std::vector<VictimUnit>& units) const;
  // Adds units so that the queue takes the gang. Returns false if there are not enough.
  bool MakeRoomInQueue(Question& question, std::vector<VictimUnit>* units);
  // Asks with the units gone, and gives back those that can be spared; nullopt: the gang does not fit.
  std::optional<VictimAnswer> AskAndGiveBack(Question& question, std::vector<VictimUnit> units);
  // Returns all that may go, each pod once: without gangs as a whole, where `most` is kSpare.
  std::vector<VictimUnit> AllOf(Question& question, VictimUnit::What most);
  // Tries to replace victims that are whole gangs by smaller units, if that costs less.
  void SpareGangs(Question& question, std::optional<VictimAnswer>* best);
  void DropUnneeded(const Question& question, const std::vector<cluster::Placement>& placements,
                    std::vector<VictimUnit>* units) const;
  void GiveBack(Question& question, VictimAnswer* answer);
  // Gives these units back, if all of them can be spared. Returns false if not; then nothing has changed.
  bool GivesBack(Question& question, std::span<const VictimUnit> units, VictimAnswer* answer);
  // Gives back those of the units that can be spared. `some_stay`: it is known that not all can be. Returns true if all
  // could.
  bool GiveBackByHalves(Question& question, std::span<const VictimUnit> units, bool some_stay, VictimAnswer* answer);
  std::vector<VictimUnit> PartsOn(Question& question, std::span<const model::NodeId> nodes, model::GangId gang,
                                  const std::vector<VictimUnit>& others);
  std::vector<VictimUnit> PartsInstead(Question& question, const VictimUnit& gang, VictimAnswer* answer);
  void Exchange(Question& question, VictimAnswer* answer);
  bool ExchangeFor(Question& question, const VictimUnit& one, VictimAnswer* answer);
  bool MayGo(const std::vector<VictimUnit>& units) const;
  bool IsCheaper(std::span<const VictimUnit> units, std::span<const VictimUnit> than) const {
    return units_.CostTogether(units) < units_.CostTogether(than);
  }
  PlanResult AskWithout(Question& question, const std::vector<VictimUnit>& units);

  const cluster::ClusterState& state_;
  Evictable& evictable_;
  GangBook& book_;
  Planner& planner_;
  Rankings& rankings_;
  VictimUnits units_;
};

}  // namespace tutti::core
