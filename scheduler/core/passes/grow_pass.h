// SPDX-License-Identifier: Apache-2.0
// GrowPass: what a gang that was whole takes of the rest, and what members that find no place are told.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/admit/queue_admission.h"
#include "core/gangs/strangers.h"
#include "core/gangs/surplus.h"
#include "core/passes/refusals.h"
#include "core/place/certificates.h"
#include "core/place/planner.h"

namespace tutti::core {

class GrowPass {
 public:
  GrowPass(const cluster::ClusterState& state, GangBook& book, Agenda& agenda, const QueueAdmission& admission,
           Planner& planner, Certificates& certificates, Committer& committer, ExtenderDesk& extender_desk,
           FigureRefresh& figures, Refusals& refusals, const Strangers& strangers, const Announcer& announcer,
           const base::Clock& clock)
      : state_(state),
        book_(book),
        agenda_(agenda),
        admission_(admission),
        planner_(planner),
        certificates_(certificates),
        committer_(committer),
        extender_desk_(extender_desk),
        figures_(figures),
        refusals_(refusals),
        strangers_(strangers),
        announcer_(announcer),
        clock_(clock) {}

  // Places whatever of the rest fits, in whole units, and first what the gang's minimum lacks. If that is more than can
  // be tried at once, the next run goes on from there; what found no place costs no search while its certificate holds.
  // REQUIRES: the gang was whole.
  void Run(model::GangId id, Census& census);
  // Says how the gang stands, of which members are being evicted, and places nothing. REQUIRES: the gang was whole.
  void Restate(model::GangId id, const Census& census);
  // Reserves room for all that the minimum of the gang lacks, or for none of it: then returns why. REQUIRES: the gang
  // was whole.
  std::optional<Refusal> PlaceMinimum(model::GangId id);

 private:
  // One run, and what is known so far.
  struct Filling;

  // Of a gang of which nothing shows that it was whole: places all that its minimum lacks, or none of it.
  void StartRest(Filling& filling, const Census& census);
  void FillUp(Filling& filling, const Census& census);
  // Takes the parts that are wanted out of `rest` and tries them. One that was placed may have been all that was
  // wanted.
  void TryThose(Filling& filling, const std::function<bool(const GrowthUnit&)>& wanted, Lack* lack,
                std::vector<const GrowthUnit*>* rest);
  // Tries to place the part. Returns true if it has a place.
  bool TryUnit(Filling& filling, const GrowthUnit& part);
  // What came of a part. kAwaited: an extender has to answer first. kRefused: `why` says why; null: the part has no
  // turn yet.
  enum class Outcome { kPlaced, kAwaited, kRefused };
  Outcome Place(Filling& filling, const GrowthUnit& part, std::shared_ptr<const Refusal>* why);
  void OnPlaced(Filling& filling, const GrowthUnit& part);
  // Makes members wait for a head, as none is at work: all of them if one exists, else those that need one.
  void WaitForHead(Filling& filling, std::vector<const GrowthUnit*>* rest);
  void Hold(Filling& filling, Refusal why, const std::vector<const GrowthUnit*>& parts);
  // Returns the refusal as the member is told it. Figures that it was told a moment ago stay.
  std::shared_ptr<const Refusal> Share(const Filling& filling, Refusal refusal, const Member& member);
  // Returns why the part waits, as far as that is known without a search; else nullopt.
  std::optional<Refusal> RefuseAtOnce(const Filling& filling, const GrowthUnit& part, const std::string& shape,
                                      const Requirement& rest);
  // Says whether the gang, which was whole, still is. `requirement`: what it needs by the census; `why`: why its members
  // wait, if some do.
  void SetStanding(Gang& gang, const Census& census, Requirement requirement, std::optional<Refusal> why);

  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  const QueueAdmission& admission_;
  Planner& planner_;
  Certificates& certificates_;
  Committer& committer_;
  ExtenderDesk& extender_desk_;
  FigureRefresh& figures_;
  Refusals& refusals_;
  const Strangers& strangers_;
  const Announcer& announcer_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
