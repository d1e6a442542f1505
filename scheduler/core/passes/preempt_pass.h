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
//   (4) a pod that would find no node with all victims gone is not asked again before its certificate ends.
#pragma once

#include "core/commit/committer.h"
#include "core/place/certificates.h"
#include "core/place/lone_preemption.h"

namespace tutti::core {

class PreemptPass {
 public:
  PreemptPass(const Options& options, cluster::ClusterState& state, GangBook& book, Agenda& agenda, Rankings& rankings,
              LonePreemption& search, Certificates& certificates, Committer& committer, const Announcer& announcer,
              const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        rankings_(rankings),
        search_(search),
        certificates_(certificates),
        committer_(committer),
        announcer_(announcer),
        clock_(clock) {}

  struct Outcome {
    std::optional<observe::PreemptionRefused> refused;  // what is said of it; absent: nothing is
    bool keeps_node = false;                            // a node is kept for the pod: it waits as no other does
    bool spares_gangs = false;                          // it may have room if a gang goes as a whole
  };
  // Evicts pods for the only member of the gang, if that helps. REQUIRES: by the certificate no node takes the member;
  // the gang has one and needs one.
  Outcome Run(model::GangId id, const Member& member, Certificate& certificate);

 private:
  PreemptionResult Search(const Member& member, const framework::PreemptionArgs& args);
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
  const Announcer& announcer_;
  const base::Clock& clock_;
  uint32_t next_slot_ = 0;  // where the next search begins
};

}  // namespace tutti::core
