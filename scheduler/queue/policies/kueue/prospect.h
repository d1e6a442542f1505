// SPDX-License-Identifier: Apache-2.0
// KueueProspect: what would become of gangs, one after another, if they asked for quota now. What one of them is given
// counts for the next; its victims are as gone. Gangs may end meanwhile. Destroyed, it has put all back: nothing comes
// of it. One thread.
//
// A gang has the turn that it would have, among the first gangs of all other lines of its tree, and tries its flavors
// as in as many cycles. Those that asked before it and wait keep nothing from it, except in a strict line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "queue/policies/kueue/admission.h"

namespace tutti::queue {

class Bids;

class KueueProspect {
 public:
  class Scope;
  struct Answer {
    std::optional<Assignment> assignment;  // what it would have, now or once the victims have left; none: it waits
    std::vector<Victim> victims;
    WaitExplanation why;  // why it waits
  };

  // `admission` must outlive it, and does not change meanwhile. `changed`: a leaf is declared so while it lasts. Then
  // the gangs of its line are asked about in their order, so that none of them stands ahead of another one there.
  explicit KueueProspect(KueueAdmission& admission, const std::optional<model::LeafQueueSpec>& changed = std::nullopt);
  ~KueueProspect();
  KueueProspect(const KueueProspect&) = delete;
  KueueProspect& operator=(const KueueProspect&) = delete;

  // Asks about a gang that has no quota. `nodes.keep` is not called. The gang holds what `place` found from then on.
  Answer Ask(model::GangId gang, const model::GangAsk& ask, const NodeRules& nodes);

  // Lets the gangs be asked about again that waited: those of strict lines keep nothing from others any more.
  void BeginRound() { waits_.clear(); }
  // Has the gang end, which has quota, or was given some by Ask. No effect on one that has none.
  void End(model::GangId gang);

  // Returns how many gangs were looked at so far: that had a turn, or that might leave for another one.
  int64_t looks() const { return looks_; }

 private:
  // In one cycle. Sets `next` to where the search for flavors goes on, if it does.
  Answer TakeTurn(Turn turn, const NodeRules& nodes, FlavorProgress* next);
  static Answer Decide(Turn* turn, const Bids& bids, const NodeRules& nodes, FlavorProgress* next);
  // The same for one that has quota, or has it once its victims have left: whether there are nodes.
  static Answer SeekNodes(Turn* turn, const Bids& bids, const NodeRules& nodes, FlavorProgress* next);
  // Returns the turns of the tree: those of the first gangs of other lines, and this one.
  std::vector<Turn> Nominate(Turn asked, const Bids& bids);
  void Assign(Turn* turn, const Bids& bids);
  // Charges what a gang that has its turn before keeps from others in the cycle.
  void Pass(Turn* turn, Bids* bids);
  void Take(model::GangId gang, QueueId leaf, const Answer& answer);
  // Frees what a gang has that is no guest of the question.
  void Free(model::GangId gang);
  // Tells whether another gang of the line has its turn, and this one has none.
  bool HasOneAhead(const std::string& local, QueueId leaf, const LineRank& rank) const;

  KueueAdmission& in_;
  std::optional<model::LeafQueueSpec> before_;  // of the leaf that is changed
  const Ledger::Mark mark_;
  std::map<QueueId, LineRank> waits_;  // by strict line, the first of those that were asked about and wait
  std::vector<std::pair<model::GangId, ChargeId>> given_;  // by Ask
  std::vector<model::GangId> freed_;                       // gangs that have ended, or left for others
  int64_t looks_ = 0;
};

// What is asked, and what ends, while it lives is undone at its end. The last begun ends first.
class KueueProspect::Scope {
 public:
  explicit Scope(KueueProspect& of)
      : of_(of), mark_(of.in_.ledger_.Here()), waits_(of.waits_), given_(of.given_.size()), freed_(of.freed_.size()) {}
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  KueueProspect& of_;
  const Ledger::Mark mark_;
  std::map<QueueId, LineRank> waits_;
  const size_t given_, freed_;
};

}  // namespace tutti::queue
