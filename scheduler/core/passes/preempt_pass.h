// SPDX-License-Identifier: Apache-2.0
// PreemptPass: evicts pods of lower priority for a pod outside gangs that finds no node, as kube-scheduler does: a node
// is kept for the pod (status.nominatedNodeName), the victims are evicted, and the pod is tried again when they are
// gone.
//
// Invariants
//   (1) while victims of a pod leave its node, no others are chosen for it;
//   (2) a pod that leaves already is not evicted again;
//   (3) a pod that has a place and no bind of which has left gives up its place, and is not evicted. One whose bind is
//       on its way is evicted when it is bound;
//   (4) where extenders are asked which pods go (preemptVerb), none goes before they have answered, and none that they
//       did not name;
//   (5) a pod that would find no node with all victims gone is not asked again before its certificate ends.
#pragma once

#include "core/commit/committer.h"
#include "core/place/certificates.h"
#include "core/place/lone_preemption.h"

namespace tutti::core {

class PreemptPass {
 public:
  PreemptPass(const Options& options, cluster::ClusterState& state, GangBook& book, Agenda& agenda, Rankings& rankings,
              LonePreemption& search, Certificates& certificates, Committer& committer, ExtenderDesk& extender_desk,
              const Announcer& announcer, const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        rankings_(rankings),
        search_(search),
        certificates_(certificates),
        committer_(committer),
        extender_desk_(extender_desk),
        announcer_(announcer),
        clock_(clock) {}

  struct Outcome {
    std::optional<observe::PreemptionRefused> refused;  // what is said of it; absent: nothing is
    bool keeps_node = false;                            // a node is kept for the pod: it waits as no other does
    bool spares_gangs = false;                          // it may have room if a gang goes as a whole
    bool judged = false;                                // extenders were asked which pods go: it holds for this attempt
  };
  // Evicts pods for the only member of the gang, if that helps. `certificate`: by which no node takes the member; null:
  // extenders had a say in that. If it asks an extender, ExtenderDesk::AwaitsVictims is true, and it is to be called
  // again when the answer is there. REQUIRES: the gang has one member and needs one; its search was not cut off.
  Outcome Run(model::GangId id, Member& member, Certificate* certificate);

 private:
  // Returns what was found; nullopt: an extender is being asked about that.
  std::optional<PreemptionResult> Search(Member& member, const framework::PreemptionArgs& args);
  PreemptionResult ChooseByExtenders(const cluster::ExtenderReply& reply, const LonePreemption::Question& question,
                                     framework::Ranking& ranking);
  void Begin(model::GangId id, model::PodId pod, const PreemptionCandidate& chosen);
  // Gives back the room that the victim holds. Returns false if its bind is on its way: that is waited for.
  bool GiveBack(model::PodId victim);
  // Ends the nominations of pods of lower priority for the node: they may no longer fit there.
  void EndLowerNominations(model::PodId pod, const std::string& node);

  const Options& options_;
  cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Rankings& rankings_;
  LonePreemption& search_;
  Certificates& certificates_;
  Committer& committer_;
  ExtenderDesk& extender_desk_;
  const Announcer& announcer_;
  const base::Clock& clock_;
  uint32_t next_slot_ = 0;  // where the next search begins
};

}  // namespace tutti::core
