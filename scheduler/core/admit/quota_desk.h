// SPDX-License-Identifier: Apache-2.0
// QuotaDesk: gangs in queues that give quota before there are pods: which wait, which have quota, of which flavors, and
// which have to give it back. It keeps GangQuota, and what a gang's declaration means with the quota that it has.
//
// What is declared is noted while events are applied, and taken up once a cycle, by Renew. Invariants
//   (1) a gang that says of itself that it has quota has it from the beginning, and is not admitted a second time; from
//       then on the desk's own word counts;
//   (2) quota that is to be given back is held until Release.
// One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "core/admit/quota_counts.h"
#include "core/gangs/fit.h"
#include "core/gangs/gang_book.h"
#include "core/options.h"
#include "dialects/dialect.h"
#include "model/gang_draft.h"
#include "queue/policies/kueue/admission.h"

namespace tutti::queue {
class KueueProspect;
}

namespace tutti::core {

class QuotaDesk {
 public:
  QuotaDesk(const QuotaRule& rule, const cluster::ClusterState& state, GangBook& book, const AutoFits& auto_fits,
            const base::Clock& clock);

  // -- What is declared --
  // Notes which declarations of queues and flavors changed.
  void Note(dialects::Dialect& dialect, const dialects::Touched& touched);
  // Notes that the gang is new, or its declaration changed. No effect on a gang without quota terms, now and before.
  void Note(model::GangId id);
  // Forgets the gang, which is about to be closed.
  void Forget(model::GangId id);
  // Forgets what every gang has: what their objects say counts.
  void StartTerm();

  // -- A pass --
  // Applies what was noted. Returns the gangs that stand otherwise now. Adds to `barred` those of them that have to
  // give back what they had because they are barred (QuotaTerms::barred).
  std::vector<model::GangId> Renew(std::vector<model::GangId>* barred);
  // Tells whether Run or Renew has work.
  bool any() const { return admission_.any() || !noted_.empty() || !declared_.empty(); }
  // Decides which gangs get quota and which have to leave, and stores both. `nodes`: see queue::NodeRules. Gangs that
  // wait for another reason than before are in PassResult::refused.
  queue::PassResult Run(queue::NodeRules nodes);

  // Decides what the gang needs of nodes, as they are now, to be given quota. REQUIRES: it has none.
  void DecideFit(model::GangId id);
  // Returns where the gang's object says that its members are, by role, and forgets that.
  std::map<std::string, std::vector<model::HeldQuota::Place>> TakePlaces(model::GangId id);

  // Treats the gang as if it had this quota, while Run asks `nodes`. EndTry ends that. With `keeps`, the gang keeps the
  // quota until Run has given it for good; else it has what it had.
  void Try(model::GangId id, const queue::Assignment& assignment);
  void EndTry(model::GangId id, bool keeps);

  // Stores what the gang is given once its victims have left. Its promises are made of that already.
  void Expect(model::GangId id, const queue::Assignment& assignment);

  // -- Questions --
  // Begins a question about gangs that ask for quota now. The desk does not change before it ends. `changed`: see
  // queue::KueueProspect.
  queue::KueueProspect Ask(const std::optional<model::LeafQueueSpec>& changed = std::nullopt);
  // Returns what a gang of this declaration asks of its queue. REQUIRES: that gives quota before there are pods.
  static model::GangAsk AskOf(const model::GangSpec& declared);
  // Returns the draft as its gang is meant with the quota: so many members of each role, on nodes of its flavors.
  // Members that are too many stay, beyond the minimum.
  model::GangDraft With(model::GangDraft draft, const queue::Assignment& assignment) const;
  // Returns the members of the gangs that hold room on nodes: pods and promises.
  std::vector<model::PodId> PodsOf(const std::vector<queue::Victim>& victims) const;

  // -- What happens to a gang --
  // Tells whether there was quota for the gang, which waits, and no nodes.
  bool LacksNodes(model::GangId id) const { return admission_.waits(id) && admission_.LacksNodes(id); }
  // Has quota and nodes sought again for the gang, because there may be nodes now.
  void Retry(model::GangId id);
  // Has the gang stand in line for the members that it asks for besides those that it has quota for, once it is whole;
  // frees the quota of those that it does not ask for any more. No effect on one whose size does not change.
  void FollowSize(model::GangId id);
  // Puts the gang in line, if it had to wait until now for that (QuotaTerms::not_before_ms).
  void LineUpIfDue(model::GangId id);
  // Makes the gang give back what it has, for this reason: a word and a sentence. REQUIRES: it has quota.
  void Evict(model::GangId id, std::string reason, std::string message);
  // Frees the quota of a gang that has stopped, and puts the gang in line again. REQUIRES: it had quota.
  void Release(model::GangId id);
  // Returns why the gang waits; "": it does not, or was not looked at yet.
  std::string WhyItWaits(model::GangId id) const;
  // Returns the queue whose quota the gang has or asks for; or the queue that it names, where that leads to none.
  std::string QueueName(const Gang& gang) const;
  std::string QueueName(const model::GangAsk& ask) const;

  // Stores that the observer was told that the gang is admitted.
  void SetAdmissionTold(model::GangId id) { book_.at(id).quota->admission_told = true; }
  // Stores whether the gang has nodes for its quota.
  void SetPlaced(model::GangId id, bool placed);

  // Return the counts of queues by {namespace, name}; without a namespace: of the queues whose quota it is.
  QuotaCounts& counts() { return counts_; }
  const QuotaCounts& counts() const { return counts_; }
  // Returns the dialect of the queue; null: there is none of the name.
  dialects::Dialect* DialectOf(const QuotaCounts::QueueName& queue) const;
  // Returns the queue itself, or the one that it leads to; null: there is none.
  const model::LeafQueueSpec* Leaf(const QuotaCounts::QueueName& queue) const;
  // Returns the queue of a namespace; null: there is none.
  const model::LocalQueueSpec* Local(const QuotaCounts::QueueName& queue) const {
    return admission_.local(queue.first, queue.second);
  }
  // Returns all queues that are declared, except cohorts, with their dialects.
  const std::map<QuotaCounts::QueueName, dialects::Dialect*>& queues() const { return dialect_of_; }
  const queue::ShareTree& shares() const { return admission_.shares(); }
  // Tells whether queues share by how much each borrows.
  bool SharesFairly() const { return admission_.rules().fair_sharing; }
  // Returns the dialect of a cohort that is declared; null: there is none.
  dialects::Dialect* DialectOfCohort(const std::string& cohort) const;
  // Takes the names of the cohorts whose declarations changed.
  std::set<std::string> TakeTouchedCohorts() { return std::exchange(touched_cohorts_, {}); }
  // Returns how much the queue borrows of all that it could borrow, in thousandths, by its weight; 0: there is no such
  // queue.
  double WeightedShare(const std::string& leaf) const;
  double CohortShare(const std::string& cohort) const;
  // Returns the same of each cohort around the queue, the nearest first.
  std::vector<std::pair<std::string, double>> SharesAbove(const std::string& leaf) const;
  // Returns the label keys of the topology of the role's flavors, the widest level first; empty: they have none.
  std::vector<std::string> LevelsOf(const model::HeldQuota::Role& role) const;

 private:
  struct Declared {
    dialects::Dialect* dialect;
    enum class Kind { kFlavor, kCohort, kLeaf, kLocal } kind;
    std::string ns, name;
    auto operator<=>(const Declared&) const = default;
  };
  void Renew(const Declared& declared);
  // Takes up what was declared of queues. All queues of the trees that changed are restated: their shares may be others.
  void RenewQueues();
  // Adds the names of the cohorts that are the roots of these.
  void AddRoots(const std::set<Declared>& declared, std::set<std::string>* roots) const;
  // Applies the gang's declaration. Returns true if the gang has to give back what it had.
  bool Follow(model::GangId id);
  void TakeOver(model::GangId id);
  // Adds to `has` what bound members have been given besides: an earlier leader may have bound them before it could
  // write that down.
  void KeepBound(model::GangId id, model::HeldQuota* has) const;
  void LineUp(model::GangId id);
  // Puts the gang in line.
  void Queue(model::GangId id);
  void End(model::GangId id);
  // Has the gang wait for no more than it has.
  void AskNoMore(model::GangId id);
  // Forgets what the gang was to be given once its victims have left.
  void ExpectNothing(model::GangId id);
  // Says why the gang waits, as it is now.
  void Explain(model::GangId id);
  void PutDown(const queue::PassResult::Admitted& admitted);
  void PutDown(const queue::PassResult::Evicted& evicted);
  // Frees what members had that have ended by now.
  void FreeDone(model::GangId id);
  // Adapts the gang's spec to the quota that it has: so many members, on nodes of its flavors.
  void Adapt(model::GangId id);
  model::PromisedMembers Flavored(GangQuota& quota, const model::PromisedMembers& declared,
                                  const model::HeldQuota::Role& role) const;
  // Returns the spec with what the flavors, by resource, say of nodes.
  model::PodSpec Flavored(const model::PodSpec& spec, const std::map<std::string, std::string>& flavors) const;
  model::HeldQuota Held(const Gang& gang, const std::string& leaf,
                        const std::vector<queue::RoleAssignment>& roles) const;

  const cluster::ClusterState& state_;
  GangBook& book_;
  const AutoFits& auto_fits_;
  const base::Clock& clock_;
  queue::KueueAdmission admission_;
  QuotaCounts counts_;
  std::map<QuotaCounts::QueueName, dialects::Dialect*> dialect_of_;
  std::map<std::string, dialects::Dialect*> dialect_of_cohort_;
  std::set<std::string> touched_cohorts_;
  std::set<Declared> declared_;    // to be taken up
  std::set<model::GangId> noted_;  // likewise
};

}  // namespace tutti::core
