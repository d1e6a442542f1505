// SPDX-License-Identifier: Apache-2.0
// Pod: one decoded pod, reduced to what scheduling needs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/object_meta.h"
#include "model/pod_spec.h"

namespace tutti::model {

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

// "" is Pending, as the API server defaults it; a word that is not known is kUnknown.
PodPhase ParsePhase(std::string_view word);

// Returns the limit that a job or a pod declares in seconds, in milliseconds; 0: it is none that the API allows.
constexpr base::Millis RunLimit(int64_t seconds) {
  return seconds > 0 && seconds <= std::numeric_limits<int32_t>::max() ? seconds * 1'000 : 0;
}

// The pod's PodScheduled condition, to write it only when it changes.
struct ScheduledCondition {
  bool present = false;
  bool status = false;
  std::string reason, message;
  int64_t observed_generation = 0;  // of the pod, when it was judged; 0: it does not say
  friend bool operator==(const ScheduledCondition&, const ScheduledCondition&) = default;
};

// The condition that is written on a pod before it is deleted, and its reasons: so that its gang starts again as a
// whole (P2), or in favour of another (upstream's word).
inline constexpr std::string_view kDisruptionTarget = "DisruptionTarget", kUndoReason = "GangNotWhole",
                                  kPreemptionReason = "PreemptionByScheduler";

// The condition on a pod that waits for victims of its gang to leave. Its message names them, and the plan that chose
// them, for the next leader: see core/gangs/preemption.h.
inline constexpr std::string_view kPreemptingCondition = "tutti.dev/Preempting";

struct PodClaim {
  std::string name;
  bool own = false;  // made for this pod, from an ephemeral volume's template
  friend bool operator==(const PodClaim&, const PodClaim&) = default;
};

struct Pod {
  ObjectMeta meta;
  std::shared_ptr<const PodSpec> spec;  // never null
  std::string node_name;                // empty while unbound
  std::string scheduling_group;         // spec.schedulingGroup.podGroupName (upstream's PodGroup)
  PodPhase phase = PodPhase::kPending;
  std::vector<std::string> scheduling_gates;
  // The claims of its volumes, in the order of spec->volumes' claims and ephemeral claims: a name in its namespace.
  std::vector<PodClaim> claims;
  ScheduledCondition scheduled;
  base::Millis bound_ms = 0;    // wall time; when it was bound, as its condition says; 0: it does not say
  std::string nominated_node;   // status.nominatedNodeName: where room is kept for it; see cluster/nominations.h
  base::Millis started_ms = 0;  // wall time, status.startTime; 0: it has not started yet
  base::Millis run_limit_ms = 0;  // spec.activeDeadlineSeconds: so long after its start it is ended; 0: no limit
  // The message of kPreemptingCondition, where that is true; null: it is not.
  std::shared_ptr<const std::string> preempting;
  bool undo_begun = false;  // kDisruptionTarget is true for kUndoReason
  bool preempted = false;   // the same condition is true for kPreemptionReason

  bool bound() const { return !node_name.empty(); }
  bool done() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  // Takes room on its node.
  bool occupies() const { return bound() && !done(); }
};

}  // namespace tutti::model
