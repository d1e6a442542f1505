// SPDX-License-Identifier: Apache-2.0
// ScoredResources: the resources that a score reads for one class, as columns. NodeResourcesFit and
// NodeResourcesBalancedAllocation share it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cluster/snapshot.h"
#include "framework/node_groups.h"

namespace tutti::plugins {

struct ResourceWeight {
  std::string name;
  int64_t weight = 1;
};

// Returns kube-scheduler's default: cpu and memory, with weight 1 each.
std::vector<ResourceWeight> DefaultResources();
// Reads a list of {name, weight}. A missing or empty list gives the default; a weight of 0 counts as 1.
base::Result<std::vector<ResourceWeight>> ReadResources(const base::Json& args, std::string_view path);

class ScoredResources {
 public:
  // Whether a container without a request for cpu or memory counts with a default.
  enum class Requests { kReal, kNonZero };

  ScoredResources(const std::vector<ResourceWeight>& resources, Requests requests, const cluster::PodClass& pod_class,
                  const cluster::Snapshot& snapshot);

  // Tells whether the pod asks for none of them.
  bool all_zero() const { return all_zero_; }
  // Adds the columns for framework::State::Reads.
  bool Reads(framework::NodeFacts* facts) const {
    for (const Entry& entry : entries_) facts->columns.push_back(entry.column);
    return true;
  }

  // One resource for a pass over nodes; the columns are indexed by slot. For node n the capacity is allocatable[n] and
  // the use is used[n] + pod.
  struct View {
    const int64_t* allocatable;
    const int64_t* used;
    int64_t pod, weight;
  };
  // Fills in the views, which are valid until the snapshot changes.
  void Look(std::vector<View>* views) const;

 private:
  enum class Used { kRequested, kNonZeroCpu, kNonZeroMemory };
  struct Entry {
    model::ResourceId column;
    Used used;
    int64_t pod, weight;
  };

  const cluster::Snapshot& snapshot_;
  std::vector<Entry> entries_;
  bool all_zero_ = true;
};

}  // namespace tutti::plugins
