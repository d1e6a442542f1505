// SPDX-License-Identifier: Apache-2.0
// Evictor: removes pods. Each is first told why (the DisruptionTarget condition), and then deleted, both by its UID.
//
// Invariant: a member of a gang that is undone is deleted only if a controller recreates it without harm.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cluster/state.h"
#include "core/commit/plans.h"
#include "core/outbox.h"

namespace tutti::core {

class Evictor {
 public:
  Evictor(const cluster::ClusterState& state, GangBook& book, Agenda& agenda, Plans& plans, Outbox& outbox,
          const Announcer& announcer, const base::Clock& clock)
      : state_(state),
        book_(book),
        agenda_(agenda),
        plans_(plans),
        outbox_(outbox),
        announcer_(announcer),
        clock_(clock) {}

  // Evicts a member of a gang that is undone, unless it is on its way out already. True: it is on its way, or will be
  // tried again, once every half second, for what refuses it may last (a cache that is behind: the pod is gone). False:
  // it is kept, and EvictionNote::why_kept says why.
  bool Evict(Gang& gang, Member& member, const std::string& why);
  // Evicts a member that can only be recreated, because its node does not exist.
  bool EvictLost(Gang& gang, Member& member);
  // Forgets what is on its way: another leader may have written.
  void StartTerm();

  size_t under_way() const { return outbox_.awaited(Outbox::For::kEviction); }

 private:
  std::optional<std::string> WhyKept(const model::Pod& pod) const;
  // `announced`: the reply is to the delete, not to the condition.
  void OnReply(const GangBook::Written& written, bool announced, const cluster::Answer& reply);
  template <typename Body>
  void Send(const Member& member, bool announced, Body body);

  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Plans& plans_;
  Outbox& outbox_;
  const Announcer& announcer_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
