// SPDX-License-Identifier: Apache-2.0
// Queues that lend each other what they do not use: cohorts, the leaf queues below them, and the queues of a namespace
// through which gangs reach a leaf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/flavor.h"

namespace tutti::model {

// A queue with others below it. Its own quota is for all of them.
struct CohortSpec {
  std::string name;
  std::string parent;  // a cohort; empty for a root
  std::vector<ResourceGroup> groups;
  double weight = 1;  // its part of what its siblings borrow; 0: it borrows only what no other wants
  friend bool operator==(const CohortSpec&, const CohortSpec&) = default;
};

enum class QueueingStrategy {
  kBestEffortFifo,  // a gang that cannot start lets later ones pass
  kStrictFifo,
};

// What comes first where no flavor has room of the queue's own.
enum class FlavorPreference { kBorrowingOverPreemption, kPreemptionOverBorrowing };

// When a flavor is taken, though a later one may be better.
struct FlavorFungibility {
  bool stop_when_borrowing = true;
  bool stop_when_preempting = false;
  FlavorPreference preference = FlavorPreference::kBorrowingOverPreemption;
  friend bool operator==(const FlavorFungibility&, const FlavorFungibility&) = default;
};

enum class PreemptionPolicy { kNever, kLowerPriority, kLowerOrNewerEqualPriority, kAny };

struct PreemptionRules {
  PreemptionPolicy within_queue = PreemptionPolicy::kNever;
  PreemptionPolicy within_cohort = PreemptionPolicy::kNever;  // among queues that have more than their quota
  bool while_borrowing = false;  // gangs of lower priority in other queues go, though the queue borrows then
  std::optional<int32_t> highest_priority_while_borrowing;  // only those of at most this priority
  friend bool operator==(const PreemptionRules&, const PreemptionRules&) = default;
};

enum class StopPolicy {
  kNone,
  kHold,          // it starts nothing
  kHoldAndDrain,  // nor does it keep what it has
};

// A queue that gangs are charged to.
struct LeafQueueSpec {
  std::string name;
  std::string cohort;  // empty: it stands alone
  std::vector<ResourceGroup> groups;
  double weight = 1;  // as CohortSpec's
  QueueingStrategy strategy = QueueingStrategy::kBestEffortFifo;
  FlavorFungibility fungibility;
  PreemptionRules preemption;
  StopPolicy stop = StopPolicy::kNone;
  bool by_local_usage = false;  // gangs of the namespaced queue that used least come first
  friend bool operator==(const LeafQueueSpec&, const LeafQueueSpec&) = default;
};

// A queue of a namespace, which gangs name.
struct LocalQueueSpec {
  std::string ns, name;
  std::string queue;  // the leaf
  StopPolicy stop = StopPolicy::kNone;
  double weight = 1;  // its part of what the queues of the same leaf use
  bool admits = true;  // the leaf takes gangs of this namespace
  friend bool operator==(const LocalQueueSpec&, const LocalQueueSpec&) = default;
};

}  // namespace tutti::model
