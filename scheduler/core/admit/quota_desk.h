// SPDX-License-Identifier: Apache-2.0
// QuotaDesk: gangs in queues that give quota before there are pods: who waits, who has quota, of which flavors, and who
// has to give it back. It keeps GangQuota, and what a gang's declaration means with the quota that it has.
//
// What is declared is noted while events are applied, and taken up once a cycle, by Renew. Invariants
//   (1) a gang that says of itself that it has quota has it from the beginning, and is not admitted a second time; from
//       then on the desk's own word counts;
//   (2) quota that is to be given back is held until Release.
// One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/admit/quota_counts.h"
#include "core/gangs/gang_book.h"
#include "core/options.h"
#include "dialects/dialect.h"
#include "queue/policies/kueue/admission.h"

namespace tutti::core {

class QuotaDesk {
 public:
  QuotaDesk(const QuotaRule& rule, GangBook& book, const base::Clock& clock);

  // -- What is declared --
  void Note(dialects::Dialect& dialect, const dialects::Touched& touched);
  // The gang's declaration is another one, or the gang is new. No effect on one without quota terms, now and before.
  void Note(model::GangId id);
  // The gang is about to be closed.
  void Forget(model::GangId id);
  // Forgets what every gang has: what their objects say counts.
  void StartTerm();

  // -- A pass --
  // Takes up what was noted. Returns the gangs that stand otherwise now; adds those of them to `barred` that have to
  // give back what they had because they are barred (QuotaTerms::barred).
  std::vector<model::GangId> Renew(std::vector<model::GangId>* barred);
  // Run has something to look at, or Renew has.
  bool any() const { return admission_.any() || !noted_.empty() || !declared_.empty(); }
  // Decides who gets quota and who has to leave, and puts both down. `nodes`: see there. Gangs that wait for another
  // reason than before are in PassResult::refused.
  queue::PassResult Run(queue::NodeRules nodes);

  // Within `nodes`: as if the gang had been given this. EndTry puts an end to it; where `keeps`, the gang keeps it
  // until Run has given it for good.
  void Try(model::GangId id, const queue::Assignment& assignment);
  void EndTry(model::GangId id, bool keeps);

  // The gang waits for its victims to leave, and is given this then. It makes its promises already.
  void Expect(model::GangId id, const queue::Assignment& assignment);

  // -- What happens to a gang --
  // There was quota for the gang, which waits, and no nodes.
  bool LacksNodes(model::GangId id) const { return admission_.waits(id) && admission_.LacksNodes(id); }
  // There may be some by now.
  void Retry(model::GangId id);
  // Puts the gang in line, if it had to wait until now for that (QuotaTerms::not_before_ms).
  void LineUpIfDue(model::GangId id);
  // It has to give back what it has, for this reason: a word and a sentence. REQUIRES: it has quota.
  void Evict(model::GangId id, std::string reason, std::string message);
  // It has given back what it had, and stands in line again. REQUIRES: it had quota.
  void Release(model::GangId id);
  // Why it waits; "": it does not, or was not looked at yet.
  const std::string& WhyItWaits(model::GangId id) const { return book_.at(id).quota->report.message; }
  // The queue whose quota the gang has, or asks for; or the queue that it names, where that leads to none.
  std::string QueueName(const Gang& gang) const;

  // It was found whether the gang has nodes for its quota.
  void SetPlaced(model::GangId id, bool placed);

  // Queues by {namespace, name}; without a namespace: those whose quota it is.
  QuotaCounts& counts() { return counts_; }
  const QuotaCounts& counts() const { return counts_; }
  // Null: there is none of the name.
  dialects::Dialect* DialectOf(const QuotaCounts::QueueName& queue) const;
  // The queue itself, or the one that it leads to; null: there is none.
  const model::LeafQueueSpec* Leaf(const QuotaCounts::QueueName& queue) const;
  // null: there is none.
  const model::LocalQueueSpec* Local(const QuotaCounts::QueueName& queue) const {
    return admission_.local(queue.first, queue.second);
  }
  // All queues that are declared, but for cohorts, with their dialects.
  const std::map<QuotaCounts::QueueName, dialects::Dialect*>& queues() const { return dialect_of_; }
  const queue::ShareTree& shares() const { return admission_.shares(); }
  // How much of what it could borrow it borrows, in thousandths, by its weight; 0 where there is no such queue.
  double WeightedShare(const std::string& leaf) const;
  // Label keys of nodes, the widest level first, of the topology of the role's flavors; empty: they have none.
  std::vector<std::string> LevelsOf(const model::HeldQuota::Role& role) const;

 private:
  struct Declared {
    dialects::Dialect* dialect;
    enum class Kind { kFlavor, kCohort, kLeaf, kLocal } kind;
    std::string ns, name;
    auto operator<=>(const Declared&) const = default;
  };
  void Renew(const Declared& declared);
  // True: it has to give back what it had.
  bool Follow(model::GangId id);
  void TakeOver(model::GangId id);
  void LineUp(model::GangId id);
  void End(model::GangId id);
  // Says why the gang waits, as it is now.
  void Explain(model::GangId id);
  void PutDown(const queue::PassResult::Admitted& admitted);
  void PutDown(const queue::PassResult::Evicted& evicted);
  // Frees what members had that have ended by now.
  void FreeDone(model::GangId id);
  // The declaration as it is meant with the quota that the gang has: so many members, on nodes of its flavors.
  void Adapt(model::GangId id);
  model::PromisedMembers Flavored(GangQuota& quota, const model::PromisedMembers& declared,
                                  const model::HeldQuota::Role& role) const;
  model::HeldQuota Held(const Gang& gang, const std::string& leaf,
                        const std::vector<queue::RoleAssignment>& roles) const;

  GangBook& book_;
  const base::Clock& clock_;
  queue::KueueAdmission admission_;
  QuotaCounts counts_;
  std::map<QuotaCounts::QueueName, dialects::Dialect*> dialect_of_;
  std::set<Declared> declared_;    // to be taken up
  std::set<model::GangId> noted_;  // likewise
};

}  // namespace tutti::core
