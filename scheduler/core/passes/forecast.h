// SPDX-License-Identifier: Apache-2.0
// Forecast: when gangs that wait could start, if nothing else comes: one that is there, behind those that stand before
// it in its line; or one of a question, as if it came now. Nothing comes of it. Between two cycles alone, on the
// scheduler's thread. A question spends some 10 ms, and has no estimate where that is too little.
#pragma once

#include <optional>
#include <vector>

#include "core/gangs/waiting_line.h"
#include "core/passes/start_walk.h"
#include "core/passes/victim_seeker.h"

namespace tutti::core {

class Forecast {
 public:
  using Look = StartWalk::Look;

  Forecast(const Options& options, cluster::ClusterState& state, const dialects::DialectList& dialects, GangBook& book,
           Queues& queues, QueueWaits& waits, QuotaDesk& desk, Planner& planner, VictimSeeker& seeker,
           const RunLengths& lengths, const base::Clock& clock)
      : options_(options),
        state_(state),
        dialects_(dialects),
        book_(book),
        queues_(queues),
        waits_(waits),
        desk_(desk),
        planner_(planner),
        seeker_(seeker),
        lengths_(lengths),
        clock_(clock) {}

  // Returns an outlook with the gang alone, and its `start`. nullopt: there is no such gang.
  std::optional<observe::Outlook> Await(const model::GangKey& key, const Look& look);
  // Sets the `start` of those gangs of a question that wait for their queue or for nodes. `asked`: all of them, as the
  // outlook has them.
  void AddStarts(const std::vector<const model::GangDraft*>& asked, const Look& look, observe::Outlook* outlook);

 private:
  // Returns the gangs that wait in the draft's line.
  WaitingLine LineBeside(const model::GangDraft& draft) const;
  // Returns when the gang at that place of the line could start. Takes what it spends from `work`.
  observe::StartEstimate Estimate(std::vector<model::GangDraft> line, size_t place, const Look& look, int64_t* work);

  const Options& options_;
  cluster::ClusterState& state_;
  const dialects::DialectList& dialects_;
  GangBook& book_;
  Queues& queues_;
  QueueWaits& waits_;
  QuotaDesk& desk_;
  Planner& planner_;
  VictimSeeker& seeker_;
  const RunLengths& lengths_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
