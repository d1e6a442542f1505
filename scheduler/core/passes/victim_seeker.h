// SPDX-License-Identifier: Apache-2.0
// VictimSeeker: seeks the pods that leave so that a gang starts. A lone pod evicts others by kube-scheduler's rules:
// see PreemptPass.
#pragma once

#include <string>
#include <vector>

#include "core/commit/committer.h"
#include "core/place/victim_refusals.h"
#include "core/place/victim_search.h"

namespace tutti::core {

// What is known of gangs of one shape is kept under that; of a gang that is like no other, whose shape is empty, under
// its id.
std::string KeyOf(model::GangId id, const std::string& shape);

class VictimSeeker {
 public:
  VictimSeeker(const Options& options, const cluster::ClusterState& state, GangBook& book, Agenda& agenda,
               Committer& committer, VictimSearch& search, VictimRefusals& refusals, const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        committer_(committer),
        search_(search),
        refusals_(refusals),
        clock_(clock) {}

  // Seeks victims without which the gang fits, and the places that it then has: where those are known, `result` fits.
  // None: there are none now. REQUIRES: VictimRemoval::MayChoose
  std::vector<Victim> Choose(model::GangId id, const Census& census, const Requirement& requirement,
                             const std::string& shape, PlanResult* result);
  // Has the gang considered again in a while, if it may have victims: what keeps it from having some is none of what
  // wakes a gang that waits for nodes.
  void SeekAgain(model::GangId id);

 private:
  bool MayPreempt(const Gang& gang) const;
  // By Options::choose_victims.
  std::vector<Victim> ChooseAsTold(const Gang& gang) const;

  const Options& options_;
  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Committer& committer_;
  VictimSearch& search_;
  VictimRefusals& refusals_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
