// SPDX-License-Identifier: Apache-2.0
// VolumeBinder: has the volumes of placed members bound, before the members are (upstream: PreBind of VolumeBinding).
//
// A volume that exists is reserved for its claim (claimRef); one that is to be made is asked for (the claim's
// annotation volume.kubernetes.io/selected-node). Both writes carry the resourceVersion of what was planned on. Then
// the volume controller, or the driver's provisioner, binds the two, and that is waited for.
//
// Nothing is taken back when a plan is given up, or its scheduler dies: as upstream, both marks are where the next plan
// begins, for VolumeBinding reads them. They bind no pods but the claim's own.
#pragma once

#include <string>

#include "cluster/state.h"
#include "core/commit/preparation.h"
#include "core/gangs/agenda.h"
#include "core/options.h"
#include "core/outbox.h"

namespace tutti::core {

class VolumeBinder : public Preparation {
 public:
  VolumeBinder(const Options& options, const cluster::ClusterState& state, GangBook& book, Agenda& agenda,
               Outbox& outbox, const base::Clock& clock)
      : options_(options), state_(state), book_(book), agenda_(agenda), outbox_(outbox), clock_(clock) {}

  base::Millis Begin(model::PodId pod, Assignment& assignment) override;
  Progress Advance(model::GangId id, model::PodId pod, Assignment& assignment, std::string* why) override;
  void StartTerm() override;

 private:
  using Open = Assignment::OpenVolume;
  // Tells whether volumes that were settled still are. While other members' volumes are made, a claim may be made
  // again.
  Progress StillSettled(model::PodId pod, std::string* why) const;
  Progress AdvanceOne(model::GangId id, model::PodId pod, const std::string& node, Open& open, std::string* why);
  Progress Reserve(model::GangId id, model::PodId pod, const model::Claim& claim, Open& open, std::string* why);
  Progress AskFor(model::GangId id, model::PodId pod, const std::string& node, const model::Claim& claim, Open& open,
                  std::string* why);
  // Returns why the member cannot be where its volumes turned out to be; empty: it can.
  std::string OutOfReach(model::PodId pod, const std::string& node) const;
  void Send(model::GangId id, model::PodId pod, Open& open, cluster::Patch patch);

  void OnReply(const GangBook::Written& written, const std::string& claim, const cluster::CommandReply& reply);

  const Options& options_;
  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Outbox& outbox_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
