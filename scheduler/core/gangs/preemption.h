// SPDX-License-Identifier: Apache-2.0
// Preemption: the pods that leave so that a gang can start, and what is recorded of that for the next leader.
//
// The record is the message of condition `tutti.dev/Preempting` on one pod of the gang that waits:
// {"plan":P,"uid":U,"preempt":[...],"reclaim":[...]}. P is the plan that chose them, U that pod's own UID, and the
// lists are the UIDs of the victims by cause. It counts only while that pod is not bound.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/command.h"
#include "model/ids.h"
#include "model/pod.h"

namespace tutti::core {

// Why a pod is evicted.
enum class EvictionCause {
  kUndo,     // its own gang starts again as a whole
  kPreempt,  // a gang of higher priority takes its place
  kReclaim,  // a gang takes what its queue has lent
};

// A pod that goes for a gang.
struct Victim {
  model::PodId pod;
  EvictionCause cause = EvictionCause::kPreempt;
  std::string uid = {};  // another pod may have the slot by now
};

// From the plan that chose them until they are gone, or given up. VictimRemoval writes it.
struct Preemption {
  std::string plan;             // a later plan of the gang that takes them over has its id
  std::vector<Victim> victims;  // that are not known to be gone
  model::MemberId carrier;      // on whose pod the record is, or is being written
  bool recorded = false;
  cluster::CommandId write = 0;  // of the record, on its way
  base::Millis again_ms = 0;     // monotonic; the record is not written before, because that failed
  base::Millis begun_ms = 0;     // monotonic; when the evictions left; 0: they did not
};

// A preemption that was given up, so that it is not taken up again. VictimRemoval writes it.
struct GivenUpPreemption {
  std::string plan;
  std::vector<Victim> stuck;     // that were not gone in time, and still are not
  std::string words;             // what is said of them; empty where there are none
  model::MemberId carrier;       // from whose pod the record is to be taken back; invalid: from none any more
  cluster::CommandId write = 0;  // that does so, on its way
  base::Millis again_ms = 0;     // monotonic; no such write before, because the last one failed
};

struct PreemptionRecord {
  std::string plan;
  std::vector<std::pair<std::string, EvictionCause>> victims;  // by UID
};

// Returns the text of the record. `uid`: of the pod that it is written on.
std::string WriteRecord(const Preemption& preemption, const std::string& uid);
// Returns the pod's record; nullopt: none, or none of this pod's own.
std::optional<PreemptionRecord> ReadRecord(const model::Pod& pod);

}  // namespace tutti::core
