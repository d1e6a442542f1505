// SPDX-License-Identifier: Apache-2.0
// Scheduler: the core. Events and clock readings in, commands out; no I/O, no threads, no randomness (P6).
//
// Its driver (app/ with a mailbox, the simulator with a virtual clock) calls RunOnce with all events waiting,
// and again no later than NextDeadline(). One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/extenders.h"
#include "cluster/ports.h"
#include "core/options.h"
#include "dialects/dialect.h"
#include "model/gang_draft.h"
#include "observe/cluster_view.h"
#include "observe/decision.h"
#include "observe/prospect.h"

namespace tutti::core {

class Scheduler {
 public:
  // All references and pointers must outlive this. `observer` may be null, and so may `extenders`: then those of the
  // options are not asked.
  Scheduler(Options options, dialects::DialectList dialects, cluster::ClusterWriter& writer, const base::Clock& clock,
            observe::Observer* observer, cluster::Extenders* extenders = nullptr);
  ~Scheduler();

  // Returns the kinds, besides pods and nodes, that the feed is to watch.
  std::vector<model::ObjectKind> Kinds() const;

  // Applies `events` in order, then decides and submits what follows from them and from the time.
  void RunOnce(const std::vector<cluster::FeedEvent>& events);

  // Returns when RunOnce has something to do though no event came (monotonic); nullopt: nothing is pending.
  std::optional<base::Millis> NextDeadline() const;
  // When the first gang has something to do or to tell that it waits for by the time: a limit that ends, a pause. What
  // renews figures or is tried again just in case goes on for as long as gangs wait, and does not count.
  std::optional<base::Millis> NextOwnDeadline() const;

  // Returns true once every watched kind is synced, but those that cannot be read and that only some gangs need;
  // nothing is decided before. WhyNotSynced names the others; empty: it is.
  bool synced() const;
  std::string WhyNotSynced() const;
  bool leading() const;
  // Tells whether no bind, eviction or undoing is under way: then a leader may hand over.
  bool quiet() const;

  // Returns the current record of every gang, sorted by key.
  std::vector<observe::Decision> Decisions() const;

  // Adds the same in parts, for callers that may not wait for all: the records from `place` on, some hundred, in no
  // order. Moves `place`, and returns true if those were the last. A gang that changes between two parts may be told
  // twice, the later word last, and one that comes may be left out.
  using DecisionsPlace = observe::DecisionsPlace;
  bool AddDecisions(DecisionsPlace* place, std::deque<observe::Decision>* records) const;
  // Adds likewise all pods that are known, others' too, from slot `*place` on.
  using PodList = std::deque<std::shared_ptr<const model::Pod>>;
  bool AddPods(uint32_t* place, PodList* pods) const;
  // Add likewise the nodes, and the queues that are declared.
  using NodeList = std::deque<observe::NodeView>;
  bool AddNodes(uint32_t* place, NodeList* nodes) const;
  using QueuesPlace = observe::QueuesPlace;
  using QueueList = std::deque<observe::QueueView>;
  bool AddQueues(QueuesPlace* place, QueueList* queues) const;

  // Returns what changed of them since: the records of the gangs that were touched after `sequence`, each once and as
  // it is now, and the keys of those that are no more; both sorted. Costs what those gangs cost, not what all do.
  // nullopt: that is too long ago, or of another process, and Decisions() has to be asked again. The first `sequence`
  // is decision_sequence() before a list. At most `most` changes are told at once: ask until the sequence stays.
  using DecisionChanges = observe::DecisionChanges;
  std::optional<DecisionChanges> DecisionsAfter(uint64_t sequence,
                                                size_t most = std::numeric_limits<size_t>::max()) const;
  uint64_t decision_sequence() const;

  // Says what would become of gangs that are not there, or where the gangs on a node would go if it were drained.
  // Nothing comes of it. Between two RunOnce alone. nullopt: nothing is decided now, or there is no such node.
  std::optional<observe::Outlook> Rehearse(const observe::WhatIf& what_if);
  // Returns all gangs, as another scheduler may be asked about them.
  std::vector<model::GangDraft> Drafts() const;

  // What was done so far. For tests of what a change costs.
  struct Work {
    uint64_t decisions_made = 0;  // records, for callers that asked
    uint64_t gangs_counted = 0;   // for the reports of queues
    uint64_t censuses = 0;        // taken: all members of a gang were looked at
    uint64_t classes_ranked = 0;  // all nodes were looked at for a class of pods
    uint64_t searches = 0;        // for nodes, be it a look into a ranking
    uint64_t search_work = 0;     // of those beyond that, in units of the budget (core/place/problem.h)
  };
  Work Done() const;

  // What is held in memory beyond pods, nodes and objects. For tests: at rest nothing is awaited.
  struct Footprint {
    size_t awaited = 0;  // commands whose answers are to come
    size_t gangs = 0, timers = 0, shapes = 0;
  };
  Footprint Holds() const;

  // Returns the nodes' names as they are numbered here, which is how ties between equal ones are broken. For tests.
  std::vector<std::string> NodeOrder() const;

  // CHECKs every sum against the pods and gangs. For tests; O(pods + nodes).
  void Audit() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::core
