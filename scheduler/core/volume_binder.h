// SPDX-License-Identifier: Apache-2.0
// VolumeBinder: has the volumes of placed members bound, before the members are (upstream: PreBind of VolumeBinding).
//
// A volume that exists is reserved for its claim (claimRef); one that is to be made is asked for (the claim's
// annotation volume.kubernetes.io/selected-node). Both writes carry the resourceVersion of what was planned on. Then
// the volume controller, or the driver's provisioner, binds the two, and that is waited for.
//
// Nothing is taken back when a plan is given up, or its scheduler dies: as upstream, both marks are where the next plan
// begins, for VolumeBinding reads them. They bind nobody but the claim's own pods.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "cluster/state.h"
#include "core/gang_book.h"
#include "core/outbox.h"
#include "core/scheduler.h"

namespace tutti::core {

class VolumeBinder {
 public:
  VolumeBinder(const Options& options, const cluster::ClusterState& state, GangBook& book, Outbox& outbox,
               const base::Clock& clock)
      : options_(options), state_(state), book_(book), outbox_(outbox), clock_(clock) {}

  // Notes what the placed member's claims are to get, and until when. REQUIRES: it is assumed.
  void Begin(model::PodId pod, Assignment& assignment) const;

  enum class Stand { kSettled, kWaiting, kFailed };
  // Sends what is due. kFailed: `why` says why, and the member must be placed again.
  Stand Advance(model::GangId id, model::PodId pod, Assignment& assignment, std::string* why);

  // True when the answer was to a write of ours; its gang is marked ready.
  bool OnAnswer(const cluster::Answer& answer);
  // A new term as leader: of what is under way, nothing is known any more.
  void StartTerm();

  std::function<void(model::GangId, base::Millis at_ms)> on_timer;

 private:
  using Open = Assignment::OpenVolume;
  // What was settled may have come undone since, while other members' volumes are made: a claim is made again.
  Stand StillSettled(model::PodId pod, std::string* why) const;
  Stand AdvanceOne(model::GangId id, model::PodId pod, const std::string& node, Open& open, std::string* why);
  Stand Reserve(model::GangId id, model::PodId pod, const model::Claim& claim, Open& open, std::string* why);
  Stand AskFor(model::GangId id, model::PodId pod, const std::string& node, const model::Claim& claim, Open& open,
               std::string* why);
  // The volumes turned out to be where the member cannot be: why; empty: they are not.
  std::string OutOfReach(model::PodId pod, const std::string& node) const;
  void Send(model::GangId id, model::PodId pod, Open& open, cluster::Patch patch);

  struct Sent {
    model::GangKey gang;
    model::PodId pod;
    std::string uid, claim;
  };

  const Options& options_;
  const cluster::ClusterState& state_;
  GangBook& book_;
  Outbox& outbox_;
  const base::Clock& clock_;
  std::unordered_map<cluster::CommandId, Sent> sent_;
};

}  // namespace tutti::core
