// SPDX-License-Identifier: Apache-2.0
// Preemption: which gangs have to give up their quota so that another one fits. Two rules: one goes by quota and
// priority, the other one by fair shares. One thread.
//
// A search takes gangs out of the ledger on trial, until the preemptor fits, and puts back those that it can do
// without.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/sharing_queue.h"
#include "queue/policies/kueue/holdings.h"
#include "queue/policies/kueue/share_tree.h"

namespace tutti::queue {

// Why a gang has to go: Kueue's reasons of the condition Preempted.
enum class VictimReason {
  kInClusterQueue,                 // its own queue has one that comes before it
  kInCohortReclamation,            // the other queue takes back what is its own
  kInCohortFairSharing,            // its queue has more than its fair share
  kInCohortReclaimWhileBorrowing,  // the other queue borrows, for a gang that comes before it
};
std::string WordOf(VictimReason reason);
// The message of that condition. Texts that are not known are empty; paths are ShareTree::Path.
std::string PreemptedMessage(const std::string& preemptor_uid, const std::string& job_uid, VictimReason reason,
                             const std::string& preemptor_path, const std::string& victim_path);
// The same in the words of Kueue 0.8.
std::string OldPreemptedMessage(const std::string& preemptor_uid, VictimReason reason);

// The reason of a gang that has to go because its nodes went, and no others will do.
inline constexpr std::string_view kNodeFailures = "NodeFailures";
// Of one whose quota is that of a gang by now which is a larger form of it.
inline constexpr std::string_view kReplaced = "WorkloadSliceReplaced";

struct Victim {
  model::GangId gang;
  VictimReason reason;
};

struct Preemptor {
  QueueId leaf;
  int32_t priority = 0;
  base::Millis queued_ms = 0;
  CellAmounts wants;
  std::vector<CellId> short_cells;  // sorted: those of which others have to leave
  // It has nodes with these gone; none: it is not asked.
  std::function<bool(const std::vector<Victim>&)> has_nodes = {};

  // Tells whether the gang uses a short cell, and the policy lets the preemptor take its place.
  bool MayTake(const Holding& holding, model::PreemptionPolicy policy) const;
  // Tells whether it may take the place of gangs of this priority, and of none above it.
  bool Reaches(int32_t priority, model::PreemptionPolicy policy) const;
};

// How much the namespaced queue of a gang has used: the gang of a higher usage goes first.
using LocalUsageOf = std::function<double(const std::string& local)>;

// What a search works on. All must outlive it.
struct PreemptionArena {
  const ShareTree& shares;
  Ledger& ledger;
  const Holdings& holdings;
  LocalUsageOf local_usage;
  std::set<model::GangId> gone = {};  // out of the ledger already: no candidates
};

enum class FairStrategy { kLessThanOrEqualToFinalShare, kLessThanInitialShare };
inline const std::vector<FairStrategy> kDefaultStrategies{FairStrategy::kLessThanOrEqualToFinalShare,
                                                          FairStrategy::kLessThanInitialShare};

// Empty when no set of gangs that the rules allow makes room.
std::vector<Victim> FindClassicVictims(const PreemptionArena& arena, const Preemptor& preemptor);
// `strategies` has one or two; the second one is tried where the first one finds no room.
std::vector<Victim> FindFairVictims(const PreemptionArena& arena, const Preemptor& preemptor,
                                    const std::vector<FairStrategy>& strategies);

// The gangs that were taken out on trial. Destroyed, it has put all back.
class Trial {
 public:
  explicit Trial(const PreemptionArena& arena) : arena_(arena), mark_(arena.ledger.Here()) {}
  ~Trial() { arena_.ledger.Rewind(mark_); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  void TakeOut(const Holding& holding, VictimReason reason);
  // The preemptor has nodes, or is not asked, with those gone that are out.
  bool HasNodes(const Preemptor& preemptor) const;
  // Puts back those that `fits` can do without, the last one first; the rest are victims. Each answer may cost a search
  // for nodes. So several are put back at once where that goes well, and what is left after kMostTrials stays out.
  // REQUIRES: what fits with some of them put back fits with fewer of those put back.
  std::vector<Victim> Trim(const std::function<bool()>& fits);

 private:
  static constexpr int kMostTrials = 1024;

  std::vector<Victim> Victims() const;
  struct Out {
    const Holding* holding;
    VictimReason reason;
    bool back = false;   // it was put back
    ChargeId charge = {};  // then
  };
  void PutBack(Out* out);
  void TakeOutAgain(Out* out);

  const PreemptionArena& arena_;
  Ledger::Mark mark_;
  std::vector<Out> out_;
};

}  // namespace tutti::queue
