// SPDX-License-Identifier: Apache-2.0
// ScoredResources: for one class, the resources that a score looks at, as columns. What NodeResourcesFit and
// NodeResourcesBalancedAllocation have in common.
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

// cpu and memory, weight 1 each: what kube-scheduler takes when configuration names none.
std::vector<ResourceWeight> DefaultResources();
// Reads a list of {name, weight}; missing or empty gives the default, a weight of 0 counts as 1.
base::Result<std::vector<ResourceWeight>> ReadResources(const base::Json& args, std::string_view path);

class ScoredResources {
 public:
  // Whether a container that asks for no cpu or memory counts the default.
  enum class Requests { kReal, kNonZero };

  ScoredResources(const std::vector<ResourceWeight>& resources, Requests requests, const cluster::PodClass& pod_class,
                  const cluster::Snapshot& snapshot);

  // The pod asks for none of them.
  bool all_zero() const { return all_zero_; }
  // As framework::State has it.
  bool Reads(framework::NodeFacts* facts) const {
    for (const Entry& entry : entries_) facts->columns.push_back(entry.column);
    return true;
  }

  // One resource of one pass over nodes: index the columns by slot. Node n counts allocatable[n] and used[n] + pod.
  struct View {
    const int64_t* allocatable;
    const int64_t* used;
    int64_t pod, weight;
  };
  // Valid until the snapshot changes.
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
