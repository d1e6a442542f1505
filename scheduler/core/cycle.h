// SPDX-License-Identifier: Apache-2.0
// Cycle: the passes over the scheduler's state, in their order: drain → wake → consider → publish.
#pragma once

#include <memory>
#include <optional>

#include "cluster/ports.h"
#include "core/options.h"
#include "core/publish/describe.h"
#include "core/publish/describe_cluster.h"
#include "observe/prospect.h"

namespace tutti::core {

class Cycle {
 public:
  // `extenders`: null: none is asked.
  Cycle(Options options, dialects::DialectList dialects, const base::Clock& clock, observe::Observer* observer,
        cluster::Extenders* extenders);
  ~Cycle();

  // Applies an event to the state, and wakes what it may help: drain (passes/drain.h).
  void Apply(const cluster::FeedEvent& event);
  // Wakes, considers (passes/consider.h: start, grow or undo) and publishes (passes/publish_pass.h). Nothing is decided
  // unless synced, leading and past the fence.
  void Decide();
  // Hands what was decided to the writer.
  void Flush(cluster::ClusterWriter& writer);
  // Returns when there is something to decide though no event came (monotonic); nullopt: nothing is pending.
  std::optional<base::Millis> NextDeadline() const;
  std::optional<base::Millis> NextOwnDeadline() const;  // as Scheduler's

  std::vector<model::ObjectKind> Kinds() const;
  bool synced() const;
  std::string WhyNotSynced() const;
  bool leading() const;
  bool quiet() const;  // no bind or eviction is under way
  // Says what would follow (passes/rehearsal.h). Nothing comes of it. nullopt: as Scheduler's.
  std::optional<observe::Outlook> Rehearse(const observe::WhatIf& what_if);

  // Return what is shown: Decisions (publish/describe.h), pods, nodes in their order, metrics, what is held in memory.
  const Describer& describer() const;
  const ClusterDescriber& cluster_describer() const;
  const observe::Journal& journal() const;
  const cluster::ClusterState& state() const;
  observe::Observer::Gauges Gauges();
  struct Footprint {
    size_t awaited = 0, gangs = 0, timers = 0, certificates = 0;
    uint64_t gangs_counted = 0, censuses = 0, classes_ranked = 0, searches = 0, search_work = 0;  // so far
  };
  Footprint Holds() const;
  // CHECKs every kept sum against the objects that it counts. For tests.
  void Audit() const;

 private:
  struct Parts;  // the state, its keepers and the passes, each made from those before it: cycle.cc
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::core
