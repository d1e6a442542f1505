// SPDX-License-Identifier: Apache-2.0
// Certificates: why gangs of one shape find no nodes, and what would have to happen before they could.
//
// A certificate holds until something happens that it does not judge by nodes; or until the nodes that improved since
// have room for as many members as were lacking. Room that others take again counts no more; nor does, for lone pods,
// room that is kept for pods of their priority or a higher one: when a victim is gone, the pod that it left for is
// considered, and not all that wait for theirs. Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "core/place/planner.h"
#include "core/place/rankings.h"
#include "core/place/victim_table.h"

namespace tutti::core {

struct Certificate : Validity {
  PlanResult result;
  bool volumes = false;  // some member has volumes
  bool beside_nominated = false;  // see IgnoreKeptRoom
  // Of lone pods that may preempt, and that would find no node even with all pods of lower priority gone.
  std::optional<observe::PreemptionRefused> preemption_refused;
  bool spares_gangs = false;  // and pods that gangs cannot spare were left out
  int32_t preempts_below = 0;
  std::optional<observe::PreemptionRefused> refused_before;  // the same of the last one of the shape
  std::vector<model::Symbol> selected_in;  // namespaces in which Services or controllers select some member

  // What nodes are judged by, for each of result.short_classes.
  std::vector<framework::Ranking::Needs> needs;
  uint64_t affine_pods = 0;  // where the log of pods with affinity ended when it was made
  struct Improved {
    model::NodeId node;
    int64_t room = 0;  // when it was last looked at; others may have taken some since
  };
  std::vector<Improved> improved;  // since then, with room for some member
  size_t watch = 0;                // its place among the watches
};

// Returns the certificate that a refusal rests on. REQUIRES: it was kept by Certificates, as all are.
inline Certificate& CertificateOf(Validity& validity) { return static_cast<Certificate&>(validity); }

class Certificates {
 public:
  Certificates(const cluster::ClusterState& state, Rankings& rankings, VictimTable& victims)
      : state_(state), snapshot_(state.snapshot()), rankings_(rankings), victims_(victims) {}

  // Returns the certificate of the shape, if one that was made at `not_before_ms` or later still holds; else null.
  std::shared_ptr<Certificate> Find(const std::string& shape, base::Millis not_before_ms);
  // Tells whether one that was found, or kept, still holds after whatever was placed since.
  bool StillHolds(Certificate& certificate) { return Holds(certificate); }
  // Keeps a new certificate of the shape, also for the gangs that wait by an earlier one.
  std::shared_ptr<Certificate> Keep(const std::string& shape, PlanResult result, base::Millis now_ms);

  // Counts room that is kept for other pods as none, if it depends on its node alone whether a pod of the class fits.
  // REQUIRES: lone pods wait by the certificate. Each is considered when there is room on the node that is kept for it.
  void IgnoreKeptRoom(Certificate& certificate);

  // Notes that a lone pod of that priority would find no node either with all pods of lower priority gone. REQUIRES: it
  // waits by the certificate, and may preempt.
  void RefusePreemption(Certificate& certificate, const observe::PreemptionRefused& refused, int32_t preempts_below);

  // Marks as over or doubtful those that what happened concerns.
  void Happened(framework::Wake happened, std::span<const model::NodeId> improved);
  // Ends the certificates of members with volumes: a claim that waiting pods use has changed.
  void EndThoseWithVolumes();
  // Ends the certificates of members that are selected in the namespace: Services or controllers select other pods
  // there now (Wake::kSelection says no namespace).
  void EndThoseSelectedIn(model::Symbol ns);

  // Ends the certificate, which is not believed any longer. REQUIRES: some gang waits by it.
  void EndOne(const Validity& certificate) {
    End(*watches_[static_cast<const Certificate&>(certificate).watch].certificate);
  }

  bool empty() const { return by_shape_.empty(); }
  size_t in_use() const;

 private:
  // What decides for most events, side by side: there are hundreds of certificates, and an event concerns few.
  struct Watch {
    Certificate* certificate;
    framework::Wake wakes;   // events that concern it; none once it is over
    framework::Wake scarce;  // those that concern it once a node lacks `amount` of `column`
    model::ResourceId column;
    int64_t amount;  // what a node must have free for any member; 0: not one thing for all
  };
  void Improve(Watch& watch, model::NodeId n);
  bool Holds(Certificate& certificate);
  // Tells whether the node may have room for the class by now, if its pods of lower priority went.
  bool MayPreemptOn(const Certificate& certificate, model::NodeId n);
  int64_t RoomFor(Certificate& certificate, model::NodeId n);
  // Returns what is free on the node beside the pods that it is kept for and that count for a pod of that priority.
  int64_t FreeBeside(model::NodeId n, model::ResourceId column, int32_t priority) const;
  void End(Certificate& certificate);

  const cluster::ClusterState& state_;
  const cluster::Snapshot& snapshot_;
  Rankings& rankings_;
  VictimTable& victims_;
  absl::flat_hash_map<std::string, std::shared_ptr<Certificate>> by_shape_;
  std::vector<Watch> watches_;  // of each of them
  uint64_t last_figures_id_ = 0;
  size_t sweep_at_ = 64;  // doubles with what is in use
};

}  // namespace tutti::core
