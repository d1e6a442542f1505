// SPDX-License-Identifier: Apache-2.0
// Extenders: the port to kube-scheduler's scheduler extenders, HTTP services that filter and rank nodes for some pods,
// and may bind them. `kube/` implements it; nothing above knows HTTP.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/command.h"
#include "model/pod.h"
#include "model/pod_spec.h"

namespace tutti::cluster {

// One of extenders[] in a KubeSchedulerConfiguration, as far as the core has to know it.
struct Extender {
  std::string name;  // its urlPrefix, for people
  bool filters = false, prioritizes = false, binds = false;
  std::vector<std::string> managed_resources;  // empty: it is asked about every pod
  bool preempts = false;

  // Tells whether it is to be asked about a pod of this spec.
  bool IsInterestedIn(const model::PodSpec& spec) const {
    return managed_resources.empty() || std::ranges::any_of(managed_resources, [&](const std::string& resource) {
             return std::ranges::any_of(spec.requests, [&](const auto& item) { return item.first == resource; });
           });
  }
};

// Which of these nodes will do for the pod, and how good are they? Asked of all extenders that are interested, one
// after the other, each about the nodes that those before it left.
struct ExtenderQuestion {
  uint64_t id = 0;
  std::shared_ptr<const model::Pod> pod;
  std::vector<std::string> nodes;  // those that pass our own filters
};

// A node from which pods would go so that another pod finds room there.
struct NodeVictims {
  std::string node;
  std::vector<std::shared_ptr<const model::Pod>> victims;  // those that go
  std::vector<std::shared_ptr<const model::Pod>> others;   // those that may go, too
  int64_t violations = 0;                                  // evictions that PodDisruptionBudgets do not allow
};

// From which of these nodes may pods go for the pod, and which pods? Asked of all extenders that preempt and are
// interested, one after the other, each about what those before it left.
struct PreemptionQuestion {
  uint64_t id = 0;
  std::shared_ptr<const model::Pod> pod;
  std::vector<NodeVictims> candidates;
};

// Exactly one for each question. It is a FeedEvent.
struct ExtenderReply {
  uint64_t id = 0;
  std::string error;                                    // an extender that may not be ignored failed: why; else empty
  std::vector<std::string> nodes;                       // those that all take; sorted
  std::vector<std::pair<std::string, int64_t>> scores;  // by node, to be added to the weighted sum of our own; sorted
  std::map<std::string, int64_t> reasons;               // why the others were refused: how many nodes for each reason
  std::vector<NodeVictims> candidates;                  // of a PreemptionQuestion: those that all take, in its order
};

class Extenders {
 public:
  virtual ~Extenders() = default;
  // Does not block; the reply is posted to the sink.
  virtual void Ask(ExtenderQuestion question) = 0;
  virtual void AskToPreempt(PreemptionQuestion question) = 0;
  // Has extender `index` bind the pod; a CommandReply with this id is posted by `deadline_ms` (monotonic).
  virtual void Bind(size_t index, CommandId id, base::Millis deadline_ms, const cluster::Bind& bind) = 0;
};

}  // namespace tutti::cluster
