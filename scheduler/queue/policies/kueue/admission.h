// SPDX-License-Identifier: Apache-2.0
// KueueAdmission: which gangs get quota, of which flavors, and which have to leave for it, by the rules of Kueue's
// cluster queues, cohorts and flavors. One thread. It knows no pod that runs and no node: what it admits is a matter of
// quota.
//
// Declarations, asks and what gangs have come in at any time; Run decides as much as can be decided: it goes on, line
// by line, until no other gang fits. Invariants
//   (1) no queue is charged for more than it may have because of what Run admits;
//   (2) a gang that was refused is tried again only when something that it lacked has become freer, when a declaration
//       has changed, or when it is the first of a strict line.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "queue/policies/kueue/assigner.h"
#include "queue/policies/kueue/displaced.h"
#include "queue/policies/kueue/lines.h"
#include "queue/policies/kueue/local_usage.h"
#include "queue/policies/kueue/turns.h"

namespace tutti::queue {

struct KueueRules {
  bool fair_sharing = false;
  std::vector<FairStrategy> strategies = kDefaultStrategies;
  LocalUsageRules local_usage;
  bool old_words = false;  // sentences are those of Kueue 0.8; else of today's
};

using model::HeldQuota;

struct PassResult {
  struct Admitted {
    model::GangId gang;
    std::string leaf;
    Assignment assignment;
    base::Millis reserved_ms = 0;  // wall
    model::GangId replaces;        // it had quota, which is this one's now; invalid: none
  };
  struct Evicted {
    model::GangId gang;
    model::GangId by;  // invalid: its queue was stopped
    VictimReason reason = VictimReason::kInClusterQueue;
  };
  std::vector<Admitted> admitted;   // in this order; one may be replaced by a later one
  std::vector<Evicted> evicted;     // each once, until it is released
  std::set<model::GangId> refused;  // those that wait for another reason than before: see Explain
  // Rounds in which the first gangs of a tree's queues were tried: with a gang admitted or evicted, and with none.
  int64_t fruitful = 0, fruitless = 0;
};

// What a pass asks of nodes. Without these functions every gang has nodes. They may change no declaration, and no
// gang's quota.
struct NodeRules {
  // An empty sentence: there are nodes for the gang with what it would have, and they are its from now on, so that it
  // is given its quota. Else why there are none.
  std::function<std::string(model::GangId, const Assignment&)> place;
  // The same with all of the victims gone, and without any effect.
  std::function<std::string(model::GangId, const Assignment&, const std::vector<Victim>&)> would_place;
  // Victims leave for the gang: the nodes that were found with them gone are kept for it.
  std::function<void(model::GangId)> keep;
};

class KueueAdmission {
 public:
  explicit KueueAdmission(KueueRules rules);
  void SetNodes(NodeRules nodes) { nodes_ = std::move(nodes); }

  void Put(model::Flavor flavor);
  void DropFlavor(const std::string& name);
  void Put(model::CohortSpec cohort);
  void DropCohort(const std::string& name);
  void Put(model::LeafQueueSpec leaf);
  void DropLeaf(const std::string& name);
  // `admits`: the leaf's namespace selector matches the namespace.
  void Put(model::LocalQueueSpec local, bool admits);
  void DropLocal(const std::string& ns, const std::string& name);

  // Lets the gang wait, or wait for something else; then it is tried again. REQUIRES: it has no quota, or asks for all
  // that it has and more: then it replaces itself, and keeps what it has meanwhile.
  // `nodes`: what else decides which nodes will do; gangs that ask alike and differ in it are not refused alike.
  void Wait(model::GangId gang, model::GangAsk ask, std::string nodes = {});
  // Charges the gang; it no longer waits. Replaces what it had.
  void Hold(model::GangId gang, const HeldQuota& quota, base::Millis now);
  // It gives its quota up in the place that it would have with this priority. REQUIRES: it has some.
  void SetPriority(model::GangId gang, int32_t priority);
  // The gang waits no more. It keeps what it has.
  void StopWaiting(model::GangId gang);
  // The gang neither waits nor has quota.
  void Forget(model::GangId gang, base::Millis now);

  // There may be nodes for the gang by now, which had none when it was looked at. No effect on a gang that does not
  // wait.
  void Retry(model::GangId gang);
  // The gang is to give its quota back, has it until Forget, and waits for no more. REQUIRES: it has some.
  void Evict(model::GangId gang) { Evict(gang, false); }

  PassResult Run(base::Millis now);
  // Run has something to look at.
  bool any() const { return !touched_.empty() || !draining_.empty() || !rerouted_.empty(); }

  // Why the gang has to leave, where no other one comes in its place: a word and a sentence. REQUIRES: it has quota.
  std::pair<std::string, std::string> WhyDrained(model::GangId gang) const;
  // Why the gang waits. REQUIRES: it does.
  WaitExplanation Explain(model::GangId gang) const;
  // Tells whether the gang waits in a strict line, and was not tried, since others come first.
  bool GoesBehind(model::GangId gang) const;
  // There was quota for the gang, and no nodes. REQUIRES: it waits.
  bool LacksNodes(model::GangId gang) const { return waiting_.at(gang).lacks_nodes; }
  bool waits(model::GangId gang) const { return waiting_.contains(gang); }
  const Holding* holding(model::GangId gang) const { return holdings_.Find(gang); }
  const ShareTree& shares() const { return shares_; }
  const KueueRules& rules() const { return rules_; }
  const Holdings& holdings() const { return holdings_; }
  const Flavors& flavors() const { return flavors_; }
  // null: there is none of the name.
  const model::LocalQueueSpec* local(const std::string& ns, const std::string& name) const;

 private:
  struct Waiting {
    model::GangAsk ask;
    std::string nodes;
    std::string local;  // "namespace/queue"
    QueueId leaf;       // held; invalid while the way to one is not open
    FlavorProgress progress;
    bool lacks_nodes = false;  // there was quota for it, and no nodes
    uint64_t nodes_epoch = 0;  // when that was; the first of a strict line has its turn again in the next
    // Flavors that had quota for it and no nodes then, and what was said of that. One that comes before them may do
    // with victims, or by borrowing, and was passed over for them.
    std::set<std::string> no_nodes;
    std::string why_no_nodes;
    base::Millis evicts_since_ms = 0;
    int evicts = 0;  // how often gangs were told to leave for it since then
    WaitExplanation why;
  };
  struct Local {
    model::LocalQueueSpec spec;
    bool admits = true;
  };
  friend class Bids;
  friend class KueueCycle;
  friend class KueueProspect;

  void Evict(model::GangId gang, bool for_another);
  void Enter(model::GangId gang, Waiting& waiting);
  // Returns why the way to a line is not open for the gang; none: it is.
  std::optional<WaitExplanation> WhyBarred(const model::GangAsk& ask) const;
  void Leave(model::GangId gang, Waiting& waiting);
  // Lets those that name the queue of a namespace go where it leads now.
  void Reroute(const std::string& local);
  void RerouteTo(const std::string& leaf);
  // Whatever a declaration changes may be what a gang lacked.
  void Declared();
  // Something that is no turn of gangs has changed in the tree of the leaf.
  void Changed(QueueId leaf) { RetryAll(displaced_.Clear(shares_.Root(leaf))); }
  void RetryAll(const std::set<model::GangId>& gangs);
  // Returns the uids of the gangs whose places the gang of this uid does not take (Displaced).
  std::set<std::string> SparedBy(const std::string& uid, QueueId leaf, int32_t priority) const;
  bool Spares(const model::GangAsk& ask, QueueId leaf) const { return !SparedBy(ask.uid, leaf, ask.priority).empty(); }
  void Touch(QueueId leaf) { touched_.insert(leaf); }
  void Drain(QueueId leaf, const std::string& local);
  void ReleaseQuota(model::GangId gang, base::Millis now);
  bool IsActive(QueueId leaf) const;
  // REQUIRES: it is not active.
  WaitExplanation WhyInactive(QueueId leaf) const;

  KueueRules rules_;
  NodeRules nodes_;
  QueueTree tree_;
  Ledger ledger_{tree_};
  ShareTree shares_{tree_, ledger_};
  Holdings holdings_{ledger_};
  LocalUsage usage_;
  PreemptionArena arena_;
  Flavors flavors_;
  std::map<std::string, model::CohortSpec> cohorts_;
  std::map<std::string, Local> locals_;
  std::map<model::GangId, Waiting> waiting_;
  std::map<std::string, std::set<model::GangId>> by_local_;  // of those that wait
  Lines lines_;
  Displaced displaced_;
  std::set<model::GangId> draining_;  // to be told
  std::set<model::GangId> rerouted_;  // their queue lets them in no line, or does again: to be told
  std::set<QueueId> touched_;         // leaves of which something has changed since the last pass
  std::set<model::GangId> scanned_;   // in this pass: all flavors were tried, and no gang would leave for any of them
  uint64_t nodes_epoch_ = 0;          // another one where quota became free, or a declaration changed
  base::Millis now_ = 0;
};

}  // namespace tutti::queue
