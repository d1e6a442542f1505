// SPDX-License-Identifier: Apache-2.0
// Binder: sends the binds of a plan and learns what became of each: bound, refused by the node, or in doubt.
#pragma once

#include <string>

#include "cluster/state.h"
#include "core/commit/extender_desk.h"
#include "core/commit/plans.h"
#include "core/outbox.h"
#include "core/publish/pod_status.h"

namespace tutti::core {

class Binder {
 public:
  Binder(const Options& options, const cluster::ClusterState& state, GangBook& book, Agenda& agenda, Plans& plans,
         Outbox& outbox, const ExtenderDesk& extender_desk, PodStatus& pod_status, const Announcer& announcer,
         const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        plans_(plans),
        outbox_(outbox),
        extender_desk_(extender_desk),
        pod_status_(pod_status),
        announcer_(announcer),
        clock_(clock) {}

  // Sends the bind, or arranges that the gang is considered again when it is due.
  void SendWhenDue(model::GangId id, model::MemberId member, Assignment& assignment);
  // Releases the member's room on a node that refused its bind. The node is not tried again before its back-off ends.
  // Another node is tried at once, but not one after another without end.
  void Refuse(Gang& gang, Member& member, const std::string& message);
  // Notes that the pod was seen bound to the node that it was planned on, by a bind that was not acknowledged.
  void OnSeenBound(const Gang& gang, const Member& member, const std::string& node);
  // Begins a new term as leader: binds of the last one are in doubt.
  void StartTerm();

  size_t in_flight() const { return outbox_.awaited(Outbox::For::kBind); }
  size_t delayed() const { return outbox_.delayed(Outbox::For::kBind); }  // of those in flight

 private:
  void Send(model::GangId id, model::MemberId member, Assignment& assignment);
  // Handles the reply to a bind. `as`: the pod as it was when its bind left.
  void OnReply(model::GangId id, model::MemberId slot, const model::Pod& as, const cluster::CommandReply& reply);
  // Reads the reply. Returns true if the member is bound as it was planned.
  bool Judge(model::GangId id, Member& member, const cluster::CommandReply& reply);
  void Doubt(Gang& gang, model::MemberId member, Assignment& assignment);
  // Has the bind sent again after a while, which grows, and not before the API server says. Nothing is wrong with the
  // node, whose room stays held.
  void Repeat(model::GangId id, Assignment& assignment, const cluster::CommandReply& reply);
  // Handles a bind that did not happen because the API server, or what it asks, fails: not for what the bind says. It
  // is repeated. A member that this happens to again and again gives its room up, as one that is refused.
  void OnFailure(Gang& gang, Member& member, Assignment& assignment, const cluster::CommandReply& reply);

  const Options& options_;
  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Plans& plans_;
  Outbox& outbox_;
  const ExtenderDesk& extender_desk_;
  PodStatus& pod_status_;
  const Announcer& announcer_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
