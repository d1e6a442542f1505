// SPDX-License-Identifier: Apache-2.0
// Evidence: what a bind writes into its pod, and what is read from it after a restart (P3).
//
// Annotation `tutti.dev/bind` = {"plan":P,"uid":U,"node":N,"commit":C,"restarts":R}: this pod, of UID U, was bound to N
// by plan P, whose last bind is that of the pod with UID C. Its gang was evicted as a whole R times before; 0 is left
// out. A value whose uid or node is not the pod's own says nothing: it came
// from a template, a backup or a forger.
#pragma once

#include <optional>
#include <string>

#include "core/gangs/census.h"
#include "model/pod.h"

namespace tutti::core {

inline constexpr std::string_view kBindAnnotation = "tutti.dev/bind";

struct Evidence {
  std::string plan, commit_uid;
  int64_t restarts = 0;  // at most kMostRestarts, whatever is written
};
inline constexpr int64_t kMostRestarts = 15;

std::string WriteEvidence(const std::string& plan, const std::string& uid, const std::string& node,
                          const std::string& commit_uid, int64_t restarts = 0);
// Returns the pod's evidence; nullopt: none, or none that matches this pod's UID and node.
std::optional<Evidence> ReadEvidence(const model::Pod& pod);

// Tells whether they differ in nothing that dialects read.
bool SameMetadata(const model::Pod& a, const model::Pod& b);

// Tells whether the pod is bound, and was the last of its plan: its gang was whole then.
bool WasLast(const model::Pod& pod);

// What the bound members say of a gang that nothing is remembered of.
struct Finding {
  bool whole = false;   // it was; or nothing shows that it never was: it is kept
  bool proven = false;  // some member shows that it was started as a gang
  int64_t restarts = 0;
  Evidence half_done;  // the plan that was carried out, where one is named; the pod to be bound last only when !whole
};
// Finds out from the bound members what became of a gang that nothing is remembered of. Members that failed, or are
// going, may be of an earlier start: they do not count. REQUIRES: some member is bound.
Finding Examine(const Gang& gang, const Census& census, const cluster::ClusterState& state);

}  // namespace tutti::core
