// SPDX-License-Identifier: Apache-2.0
// BindingState: checks one class's claims on the nodes (kube-scheduler: GetPodVolumeClaims and FindPodVolumes of
// pkg/scheduler/framework/plugins/volumebinding/binder.go).
//
// Volumes are sorted by size, then by name, so that the first match is the smallest.
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

  // A volume that another pod takes is not free any more.
  Pods FollowsPods() const override { return open_.empty() ? Pods::kNone : Pods::kAffine; }
  void PodChanged(const cluster::PodClass&, model::NodeId, int32_t by, framework::Dirty& dirty) override;

 private:
  // A PersistentVolume to which an open claim could be bound.
  struct Candidate {
    const model::Volume* volume;
    NodeMatch nodes;
    std::string taker;  // the claim for which a placed pod took it; empty: it is free
  };
  // How a new volume for a claim is provisioned, by its class.
  struct Provisioning {
    bool possible = false;  // the class has a provisioner
    bool anywhere = true;   // it names no topologies
    std::vector<Requirements> topologies;
    bool limited = false;               // the driver reports its capacity
    std::vector<PodSelector> capacity;  // selects the nodes that reach enough of it
  };
  struct OpenClaim {
    const model::Claim* claim;
    std::string key;
    std::optional<std::string> selected_node;
    Provisioning provisioning;
    std::vector<Candidate> reserved;  // volumes for this claim only
    std::vector<Candidate> free;      // free volumes, or taken for a placed pod
  };
  // All reasons that refuse a node; they are reported together.
  struct Outcome {
    bool bound_elsewhere = false, bound_missing = false, nothing_to_bind = false, no_space = false;
    bool fits() const { return !bound_elsewhere && !bound_missing && !nothing_to_bind && !no_space; }
  };

  // Sorts the class's claims, and returns those without a volume.
  std::vector<const cluster::ClaimUse*> SortOut(const cluster::PodClass& pod_class);
  void AddCandidates(OpenClaim& open) const;
  Provisioning ProvisioningFor(const model::Claim& claim) const;
  void ReadTaken();
  Outcome Find(model::NodeId n, cluster::Takings* takings) const;
  void CheckBound(const cluster::NodeEntry& node, Outcome* outcome) const;
  // Returns the volume that the claim gets on the node, except `chosen`; null: none.
  static const model::Volume* Match(const OpenClaim& open, const cluster::NodeEntry& node,
                                    const std::vector<const model::Volume*>& chosen);
  static void Provision(const OpenClaim& open, const cluster::NodeEntry& node, Outcome* outcome);

  const cluster::Snapshot& snapshot_;
  std::string refusal_;
  std::vector<std::optional<NodeMatch>> bound_;  // nodes of each bound claim's volume; nullopt: it does not exist
  std::vector<OpenClaim> open_;                  // smallest first
  uint64_t seen_taken_ = 0;                      // Storage::taken_version
};

}  // namespace tutti::plugins
