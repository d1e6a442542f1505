// SPDX-License-Identifier: Apache-2.0
// BindingState: one class's claims against the nodes (upstream: GetPodVolumeClaims and FindPodVolumes of
// pkg/scheduler/framework/plugins/volumebinding/binder.go).
//
// Volumes are kept smallest first, so that the first match is the smallest; of equal ones the first by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/plugin.h"
#include "plugins/common/node_match.h"
#include "plugins/common/pod_term.h"

namespace tutti::plugins {

class BindingState final : public framework::FilterState {
 public:
  BindingState(const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot);

  std::string RefusesClass() const override { return refusal_; }
  framework::Verdict Check(model::NodeId n) const override;
  void Explain(model::NodeId n, std::vector<std::string>* reasons) const override;
  void Choose(model::NodeId n, cluster::Takings* takings) const override;

  // What other pods take of volumes is no longer to be had.
  Pods FollowsPods() const override { return open_.empty() ? Pods::kNone : Pods::kAffine; }
  void PodChanged(const cluster::PodClass&, model::NodeId, int32_t by, framework::Dirty& dirty) override;

 private:
  // A PersistentVolume that an open claim could be bound to.
  struct Candidate {
    const model::Volume* volume;
    NodeMatch nodes;
    std::string taker;  // the claim that a placed pod took it for
  };
  // A way to have a claim's volume made, as its class says.
  struct Provisioning {
    bool possible = false;  // the class has a provisioner
    bool anywhere = true;   // it names no topologies
    std::vector<Requirements> topologies;
    bool limited = false;               // the driver tells its capacity
    std::vector<PodSelector> capacity;  // the nodes that reach enough of it
  };
  struct OpenClaim {
    const model::Claim* claim;
    std::string key;
    std::optional<std::string> selected_node;
    Provisioning provisioning;
    std::vector<Candidate> reserved;  // for this claim
    std::vector<Candidate> free;      // or taken for a placed pod
  };
  // Everything that keeps a pod of the class from a node; reasons are reported together.
  struct Outcome {
    bool bound_elsewhere = false, bound_missing = false, nothing_to_bind = false, no_space = false;
    bool fits() const { return !bound_elsewhere && !bound_missing && !nothing_to_bind && !no_space; }
  };

  // Whose volume is still open.
  std::vector<const cluster::ClaimUse*> SortOut(const cluster::PodClass& pod_class);
  void AddCandidates(OpenClaim& open) const;
  Provisioning ProvisioningFor(const model::Claim& claim) const;
  void ReadTaken();
  Outcome Find(model::NodeId n, cluster::Takings* takings) const;
  void CheckBound(const cluster::NodeEntry& node, Outcome* outcome) const;
  // The volume that the claim gets on the node, none of `chosen`; nullptr: none.
  static const model::Volume* Match(const OpenClaim& open, const cluster::NodeEntry& node,
                                    const std::vector<const model::Volume*>& chosen);
  static void Provision(const OpenClaim& open, const cluster::NodeEntry& node, Outcome* outcome);

  const cluster::Snapshot& snapshot_;
  std::string refusal_;
  std::vector<std::optional<NodeMatch>> bound_;  // of each bound claim's volume; nullopt: it does not exist
  std::vector<OpenClaim> open_;                  // smallest first
  uint64_t seen_taken_ = 0;                      // Storage::taken_version
};

}  // namespace tutti::plugins
