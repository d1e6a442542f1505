// SPDX-License-Identifier: Apache-2.0
// What pods should be that wait for quota themselves, and what a Workload says of them. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "cluster/desired.h"
#include "dialects/kueue/workloads.h"
#include "dialects/kueue/writes.h"

namespace tutti::dialects::kueue {

// How far they may go.
struct PodsTurn {
  enum class Step {
    kWait,   // those that are held stay so
    kStart,  // those that are held are let go
    kStop,   // those that were let go have to leave
  } step = Step::kWait;
  std::vector<PodSetGrant> grants = {};   // kStart
  std::string reason = {}, message = {};  // kStop: what each of them is told
  base::Millis now_ms = 0;                // wall
};

// What each pod should be; and what the templates should be that they are made by.
void DesirePods(const Entry& entry, const PodsTurn& turn, std::vector<cluster::DesiredObject>* out);

// Makes the Workload's metadata those of a group: with all of the pods as owners, where no other object is theirs.
void NameAsGroups(const Entry& entry, base::Json* meta);
// The owners of a group's Workload, where some of its pods are not among them. Null: none is missing.
base::Json MissingOwners(const Entry& entry);

}  // namespace tutti::dialects::kueue
