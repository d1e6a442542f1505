// SPDX-License-Identifier: Apache-2.0
// Options: what the core is told once, when it is made.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/extenders.h"
#include "cluster/state.h"
#include "framework/profile.h"
#include "model/gang.h"
#include "model/ids.h"
#include "queue/policies/kueue/preemption.h"

namespace tutti::core {

// podMaxInUnschedulablePodsDuration of kube-scheduler.
inline constexpr base::Millis kFlushAfterMs = 300'000;

// By which rule queues share, as in Volcano.
struct QueueRule {
  enum class Kind {
    kCapability,  // by weight in their turn; each is limited by its own capability alone
    kProportion,  // by weight; none has more than its share
    kCapacity,    // by what each deserves; none has more than the guarantees of others leave
  } kind = Kind::kCapability;
  int64_t ancestor_levels = 0;  // of kCapacity: as many queues above two are compared as they are themselves
  // A gang of a queue that has less than it deserves may have pods evicted in queues that have more than they do.
  bool reclaim = false;
  // Nothing is reclaimed of a gang that has run for less, where its queue says no other time; 0: of any gang something
  // may be. The gang itself can say a shorter time (GangSpec::min_runtime_ms).
  base::Millis min_runtime_ms = 0;
};

// By which rule queues share that give quota before there are pods.
struct QuotaRule {
  bool fair_sharing = false;                                                // else by quota and priority
  std::vector<queue::FairStrategy> strategies = queue::kDefaultStrategies;  // with fair sharing
  bool old_words = false;                                                   // as queue::KueueRules
};

// A pod that Options::choose_victims has chosen.
struct ChosenVictim {
  model::PodId pod;
  bool reclaim = false;  // it goes for its queue's share; else for its priority
};

struct Options {
  // One per schedulerName served; pods of other names are counted where they run and otherwise left alone.
  std::vector<framework::Profile> profiles;

  // A gang that is half bound is completed within this time, or undone (kRepair), or left as it is (kKeep).
  enum class HalfBound { kRepair, kKeep } half_bound = HalfBound::kRepair;
  // Whether pods are evicted so that a gang of a higher priority starts: victim_search.h. Where queues reclaim, shares
  // alone decide between gangs of two queues, and priority within one.
  enum class GangPreemption {
    kNever,
    kWithinQueue,    // pods of gangs of the same queue
    kLowerPriority,  // any pods
  } gang_preemption = GangPreemption::kLowerPriority;
  base::Millis repair_timeout_ms = 60'000;
  // The time that one bind may take; without an answer it is sent again then, and its room stays held.
  base::Millis bind_timeout_ms = 10'000;
  // Pods that are evicted for a gang are gone within this time after their grace period, or it goes without their
  // nodes.
  base::Millis victim_timeout_ms = 600'000;
  // For tests. Chooses the pods that are to leave for a gang that finds no nodes, so that it does. It is asked about a
  // gang for which no pod leaves, of these members, and returns bound pods, or none. Null: they are searched for, where
  // gang_preemption says so.
  std::function<std::vector<ChosenVictim>(const model::GangKey& gang, const std::vector<model::PodId>& members,
                                          const cluster::ClusterState& state)>
      choose_victims;
  // A node that refused a member's bind is tried again for it after the first, then twice as long each time, until a
  // bind of its gang is accepted.
  base::Millis pod_initial_backoff_ms = 1'000, pod_max_backoff_ms = 10'000;
  // What has waited for so long is tried again though nothing has happened that it waits for; 0: never. A gang that is
  // placed by that alone should have been woken before.
  base::Millis flush_after_ms = 0;
  QueueRule queue_rule;
  QuotaRule quota_rule;
  // Labels of nodes that an autoscaler adds. By them it is seen that there is one (model::Fit::kAuto).
  std::vector<std::string> autoscaled_labels = {"karpenter.sh/nodepool", "tutti.dev/autoscaled"};
  // The PodScheduled reason of a gang that waits only for quota.
  std::string quota_reason = "Unschedulable";
  // Asked in this order about the pods that they are interested in.
  std::vector<cluster::Extender> extenders;
  // Figures in a waiting gang's reason are so old at most, while fewer than 200 gangs wait; else five times that.
  base::Millis figures_ms = 1'000;
  // Bound on the memory of rankings.
  size_t ranking_bytes = size_t{256} << 20;
};

}  // namespace tutti::core
