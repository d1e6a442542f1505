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

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "queue/policies/kueue/assigner.h"
#include "queue/policies/kueue/lines.h"
#include "queue/policies/kueue/local_usage.h"
#include "queue/policies/kueue/turns.h"

namespace tutti::queue {

struct KueueRules {
  bool fair_sharing = false;
  std::vector<FairStrategy> strategies{FairStrategy::kLessThanOrEqualToFinalShare, FairStrategy::kLessThanInitialShare};
  LocalUsageRules local_usage;
};

using model::HeldQuota;

struct PassResult {
  struct Admitted {
    model::GangId gang;
    Assignment assignment;
    model::GangId replaces;  // it had quota, which is this one's now; invalid: none
  };
  struct Evicted {
    model::GangId gang;
    model::GangId by;  // invalid: its queue was stopped
    VictimReason reason = VictimReason::kInClusterQueue;
  };
  std::vector<Admitted> admitted;
  std::vector<Evicted> evicted;     // each once, until it is released
  std::set<model::GangId> refused;  // those that wait for another reason than before: see Explain
};

class KueueAdmission {
 public:
  explicit KueueAdmission(KueueRules rules);

  void Put(model::Flavor flavor);
  void DropFlavor(const std::string& name);
  void Put(model::CohortSpec cohort);
  void DropCohort(const std::string& name);
  void Put(model::LeafQueueSpec leaf);
  void DropLeaf(const std::string& name);
  // `admits`: the leaf's namespace selector matches the namespace.
  void Put(model::LocalQueueSpec local, bool admits);
  void DropLocal(const std::string& ns, const std::string& name);

  // Lets the gang wait, or wait for something else. REQUIRES: it has no quota.
  void Wait(model::GangId gang, model::GangAsk ask);
  // Charges the gang; it no longer waits. Replaces what it had.
  void Hold(model::GangId gang, const HeldQuota& quota, base::Millis now);
  // The gang neither waits nor has quota.
  void Forget(model::GangId gang, base::Millis now);

  PassResult Run(base::Millis now);

  // Why the gang waits. REQUIRES: it does.
  WaitExplanation Explain(model::GangId gang) const;
  bool waits(model::GangId gang) const { return waiting_.contains(gang); }
  const Holding* holding(model::GangId gang) const { return holdings_.Find(gang); }
  const ShareTree& shares() const { return shares_; }
  const Holdings& holdings() const { return holdings_; }

 private:
  struct Waiting {
    model::GangAsk ask;
    std::string local;  // "namespace/queue"
    QueueId leaf;       // held; invalid while the way to one is not open
    FlavorProgress progress;
    WaitExplanation why;
  };
  struct Local {
    model::LocalQueueSpec spec;
    bool admits = true;
  };
  friend class KueueCycle;

  void Enter(model::GangId gang, Waiting& waiting);
  void Leave(model::GangId gang, Waiting& waiting);
  // Lets those that name the queue of a namespace go where it leads now.
  void Reroute(const std::string& local);
  void RerouteTo(const std::string& leaf);
  // Whatever a declaration changes may be what a gang lacked.
  void Declared();
  void Touch(QueueId leaf) { touched_.insert(leaf); }
  void Drain(QueueId leaf, const std::string& local);
  void ReleaseQuota(model::GangId gang, base::Millis now);
  bool IsActive(QueueId leaf) const;

  KueueRules rules_;
  QueueTree tree_;
  Ledger ledger_{tree_};
  ShareTree shares_{tree_, ledger_};
  Holdings holdings_{ledger_};
  LocalUsage usage_;
  PreemptionArena arena_;
  Flavors flavors_;
  std::map<std::string, Local> locals_;
  std::map<model::GangId, Waiting> waiting_;
  std::map<std::string, std::set<model::GangId>> by_local_;  // of those that wait
  Lines lines_;
  std::set<model::GangId> draining_;  // to be told
  std::set<QueueId> touched_;         // leaves of which something has changed since the last pass
  std::set<model::GangId> scanned_;   // in this pass: all flavors were tried, and no gang would leave for any of them
  base::Millis now_ = 0;
};

}  // namespace tutti::queue
