// SPDX-License-Identifier: Apache-2.0
// PodStatus: tells a member's pod what was decided: its PodScheduled condition and its Events. Writes what changed,
// once.
#pragma once

#include <optional>
#include <string>

#include "cluster/state.h"
#include "core/gangs/agenda.h"
#include "core/outbox.h"

namespace tutti::core {

class PodStatus {
 public:
  PodStatus(const cluster::ClusterState& state, GangBook& book, Agenda& agenda, Outbox& outbox,
            const base::Clock& clock)
      : state_(state), book_(book), agenda_(agenda), outbox_(outbox), clock_(clock) {}

  // Says that the member waits: condition PodScheduled=False and a FailedScheduling Event. Nothing is written if that
  // is what was last said, or while the effect of the last write is unseen: the API server would refuse it. If another
  // node is kept for the pod than it says, or none, the write says that too. Returns true if it is written.
  bool TellWaiting(model::GangId id, Member& member, const std::string& reason, const std::string& message,
                   MessageSource source = {});
  void TellBound(const Member& member, const std::string& node);
  // Says why a member that should go is not deleted.
  void TellKept(Member& member);
  // Forgets what was last said: what is said next is written, and changes the pod.
  static void Distrust(Member& member);
  // Forgets what was last said, and a write that is on its way: an earlier leader may have written since.
  static void StartTerm(Member& member);
  // Compares the condition on the member's pod, which changed, with what was last said. If they differ, that is said
  // again.
  void OnCondition(Member& member);

 private:
  std::optional<std::string> UnsaidNode(const Member& member) const;
  void OnReply(const GangBook::Written& written, const cluster::CommandReply& reply);

  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Outbox& outbox_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
