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
#include <utility>
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
  std::string uid;
  QueueId leaf;
  int32_t priority = 0;
  base::Millis queued_ms = 0;
  CellAmounts wants;
  std::vector<CellId> short_cells;  // sorted: those of which others have to leave
  // It has nodes with these gone; none: it is not asked.
  std::function<bool(const std::vector<Victim>&)> has_nodes = {};
  std::set<std::string> spares = {};  // the uids of gangs that do not leave for it

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
//
// To ask for nodes may cost a search. So it is asked twice at most before victims are found: with those gone that free
// enough quota, and with all gone that may go.
class Trial {
 public:
  // `has_quota`: whether the preemptor has enough with those gone that are out.
  Trial(const PreemptionArena& arena, const Preemptor& preemptor, std::function<bool()> has_quota)
      : arena_(arena), preemptor_(preemptor), has_quota_(std::move(has_quota)), mark_(arena.ledger.Here()) {}
  ~Trial() { arena_.ledger.Rewind(mark_); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Returns true when the preemptor fits now.
  bool TakeOut(const Holding& holding, VictimReason reason);
  // Tells whether it fits with those gone, too, that were taken out after it had enough quota, but no nodes.
  bool FitsWithAllGone();
  // Puts back those that the preemptor can do without, the last one first; the rest are victims. Several are put back
  // at once where that goes well, and what is left after kMostTrials stays out. REQUIRES: the preemptor fits, and if it
  // fits with some of them put back, it does with fewer of those put back.
  std::vector<Victim> Trim();

 private:
  static constexpr int kMostTrials = 1024;

  struct Out {
    const Holding* holding;
    VictimReason reason;
    bool back = false;     // it was put back
    ChargeId charge = {};  // then
  };
  bool Fits();
  std::vector<Victim> Victims() const;
  void PutBack(Out* out);
  void TakeOutAgain(Out* out);

  const PreemptionArena& arena_;
  const Preemptor& preemptor_;
  const std::function<bool()> has_quota_;
  Ledger::Mark mark_;
  std::vector<Out> out_;
  size_t not_found_ = 0;  // how many were out when nodes were sought last, and not found
};

}  // namespace tutti::queue
