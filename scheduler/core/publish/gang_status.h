// SPDX-License-Identifier: Apache-2.0
// GangStatus: tells the object that declares a gang what was decided: Events, and what its dialect desires of objects.
// While a write for the gang is on its way nothing is stated; what changes meanwhile is told by the next.
#pragma once

#include <map>
#include <span>
#include <string>

#include "cluster/state.h"
#include "core/gangs/agenda.h"
#include "core/outbox.h"
#include "core/publish/object_keeper.h"

namespace tutti::core {

class GangStatus final : public ObjectKeeper::Owner {
 public:
  GangStatus(const cluster::ClusterState& state, GangBook& book, Agenda& agenda, Outbox& outbox, ObjectKeeper& keeper,
             const base::Clock& clock)
      : state_(state), book_(book), agenda_(agenda), outbox_(outbox), keeper_(keeper), clock_(clock) {}

  // Posts an Event on the declaring object, if there is one.
  void TellGang(const Gang& gang, bool warning, const std::string& reason, const std::string& note);
  // States what the dialect desires of objects for the gang, if that may be news.
  void Report(model::GangId id);
  // Makes the next Report state what the dialect desires, though the gang may not have changed.
  static void Invalidate(Gang& gang) { gang.note.reported.reset(); }
  // Forgets what was last stated and announced: an earlier leader may have written since.
  static void StartTerm(Gang& gang);
  // Tells whether something that was stated is not done.
  bool Owes(const Gang& gang);
  // Ends all that is desired for the gang.
  void Drop(const Gang& gang) { keeper_.Drop(SubjectOf(gang)); }
  // Returns the earliest instant (monotonic) at which a report is worth a write.
  static base::Millis ReportAt(const Gang& gang);

  void Restate(const ObjectKeeper::Subject& subject, base::Millis at_ms) override;

 private:
  // Tells whether the report differs from the last one in counts alone, and one such was made a moment ago.
  bool WaitsForCounts(model::GangId id, const dialects::GangReport& report);
  std::map<std::string, std::map<std::string, int64_t>> NodesByRole(const Gang& gang) const;
  // Tells whether the object is to exist, and does not yet.
  bool Lacks(const cluster::DesiredObject& desired) const;
  // Returns how urgent the writes of what is desired for the gang are.
  cluster::Lane LaneOf(const Gang& gang, const dialects::GangReport& report,
                       std::span<const cluster::DesiredObject> desired) const;
  // Posts the Events that the dialect has of what changed since the last report.
  void Announce(Gang& gang, const dialects::GangReport& now);
  ObjectKeeper::Subject SubjectOf(const Gang& gang) { return {this, gang.key}; }

  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Outbox& outbox_;
  ObjectKeeper& keeper_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
