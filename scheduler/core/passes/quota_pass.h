// SPDX-License-Identifier: Apache-2.0
// QuotaPass: gives quota to gangs whose queue does so before there are pods, together with nodes: what finds no nodes
// gets no quota, and no gang has to leave for one that would find none in its place (P7, P8).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/admit/quota_desk.h"
#include "core/admit/room_sums.h"
#include "core/passes/consider.h"
#include "core/passes/promises.h"
#include "core/passes/quota_gate.h"
#include "core/passes/stated_places.h"
#include "core/place/planner.h"

namespace tutti::core {

class QuotaPass {
 public:
  QuotaPass(cluster::ClusterState& state, GangBook& book, Agenda& agenda, QuotaDesk& desk, QuotaGate& gate,
            Promises& promises, StatedPlaces& stated, RoomSums& sums, AutoFits& auto_fits, Planner& planner,
            Consideration& consideration, GrowPass& grow, FigureRefresh& figures, const Announcer& announcer)
      : state_(state),
        book_(book),
        agenda_(agenda),
        desk_(desk),
        gate_(gate),
        promises_(promises),
        stated_(stated),
        sums_(sums),
        auto_fits_(auto_fits),
        planner_(planner),
        consideration_(consideration),
        grow_(grow),
        figures_(figures),
        announcer_(announcer) {}

  // Applies what was declared, and decides as much as can be decided before what was given back is seen.
  void Run();
  bool any() const { return desk_.any(); }

 private:
  // What gangs would be given with their victims gone, and the nodes of their members then, by role.
  struct Found {
    queue::Assignment assignment;
    std::map<std::string, std::vector<std::string>> nodes;
  };
  std::string Place(model::GangId id, const queue::Assignment& assignment);
  // The same of a whole gang that has quota: places are found for the members that it would have besides.
  std::string PlaceMore(model::GangId id, const queue::Assignment& assignment);
  // Returns why all nodes together have too little for the gang, with the victims gone, where that is all it needs.
  std::string WhySumsLack(model::GangId id, const queue::Assignment& assignment,
                          const std::vector<queue::Victim>& victims);
  std::string WouldPlace(model::GangId id, const queue::Assignment& assignment,
                         const std::vector<queue::Victim>& victims);
  // Returns why the gang as it is has no place, with the pods and promises of these gangs gone; "": it has one.
  std::string WhyNotPlaced(model::GangId id, const std::vector<queue::Victim>& gone, Found* found);
  void NoteRefusal(Gang& gang, Refusal refusal);
  void Follow(const queue::PassResult& result);
  void Mark(model::GangId id);
  void Consider(model::GangId id);
  // Keeps the nodes for the gang that it was found to have once its victims are gone.
  void KeepNodes(model::GangId id);

  cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  QuotaDesk& desk_;
  QuotaGate& gate_;
  Promises& promises_;
  StatedPlaces& stated_;
  RoomSums& sums_;
  AutoFits& auto_fits_;
  Planner& planner_;
  Consideration& consideration_;
  GrowPass& grow_;
  FigureRefresh& figures_;
  const Announcer& announcer_;
  std::map<model::GangId, Found> found_;
};

}  // namespace tutti::core
