// SPDX-License-Identifier: Apache-2.0
// PodSpec: the part of a pod's spec that decides where it may run. Two pods with equal PodSpecs are of one class.
//
// Names, ordinals, claim names and the pod's own labels are not in it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/resource_list.h"
#include "model/selector.h"
#include "model/storage.h"

namespace tutti::model {

struct Toleration {
  std::string key;
  std::string op;  // "", "Equal", "Exists"; others are kept as written and match nothing
  std::string value;
  std::string effect;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct HostPort {
  std::string ip;        // "" counts as 0.0.0.0
  std::string protocol;  // "" counts as TCP
  int32_t port = 0;      // never 0
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

struct PreferredNodeTerm {
  int32_t weight = 0;
  NodeSelectorTerm term;
  friend bool operator==(const PreferredNodeTerm&, const PreferredNodeTerm&) = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> selector;
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespace_selector;
  std::string topology_key;
  std::vector<std::string> match_label_keys, mismatch_label_keys;
  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm term;
  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};

struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;
  bool empty() const { return required.empty() && preferred.empty(); }
  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

struct TopologySpread {
  int32_t max_skew = 1;
  std::string topology_key;
  bool hard = true;  // whenUnsatisfiable: DoNotSchedule
  std::optional<LabelSelector> selector;
  std::optional<int32_t> min_domains;
  std::string node_affinity_policy, node_taints_policy;  // "", "Honor", "Ignore"
  std::vector<std::string> match_label_keys;
  friend bool operator==(const TopologySpread&, const TopologySpread&) = default;
};

// A volume of a pod that restricts where it may run. Which claim it is, is the pod's own: see Pod::claims.
struct PodVolume {
  enum class Source { kClaim, kEphemeral, kGcePersistentDisk, kAwsElasticBlockStore, kIscsi, kRbd, kMoved };
  Source source = Source::kClaim;
  // The disk, for what is no claim: its name as the node's other pods would write it, and as a CSI driver counts it.
  std::string disk;
  CsiDisk csi;
  bool read_only = false;
  std::vector<std::string> monitors;  // of kRbd, where `disk` is pool and image
  friend bool operator==(const PodVolume&, const PodVolume&) = default;
};

// PodVolume::disk of an RBD image.
inline std::string RbdDisk(const std::string& pool, const std::string& image) { return pool + "/" + image; }

// What a container asks for, before it is summed up.
struct ContainerRequests {
  ResourceList requests;
  bool restartable_init = false;  // a sidecar: an init container with restartPolicy Always
};

// The preemptionPolicy of a pod for which no other one is evicted.
inline constexpr std::string_view kNeverPreempts = "Never";

struct PodSpec {
  std::string scheduler_name;
  int32_t priority = 0;
  bool never_preempts = false;  // preemptionPolicy: Never

  // The pod's effective request: see SetEffectiveRequests. `pods` is not in it; each pod counts one.
  ResourceList requests;
  // The same for cpu (milli) and memory (bytes) with 100m and 200Mi for each container that asks for none
  // (pkg/scheduler/util/pod_resources.go); scores use it. See CountedAs.
  int64_t nonzero_cpu = 0, nonzero_memory = 0;
  bool saturated = false;  // it asks for more than kLargestRequest of something; the pod then fits nowhere

  std::string node_name;  // spec.nodeName of a pod that is asked about while bound; empty for every pod that waits
  StringMap node_selector;
  std::optional<NodeSelector> required_node_affinity;
  std::vector<PreferredNodeTerm> preferred_node_affinity;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;  // sorted, no duplicates; containers and sidecars
  PodAffinity pod_affinity, pod_anti_affinity;
  std::vector<TopologySpread> spread;
  std::vector<std::string> images;  // of all containers and image volumes, as written, sorted, with duplicates
  int32_t container_count = 0;      // init containers included
  bool has_claims = false;          // spec.resourceClaims
  std::vector<PodVolume> volumes;   // those that restrict nodes

  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

// More than any node has: what goes beyond it counts as it, so that to add one pod to what a node's pods ask for
// (cluster/columns.h) stays within int64.
inline constexpr int64_t kLargestRequest = int64_t{1} << 50;

// A stable 64-bit hash of everything in `spec`; equal specs have equal hashes.
uint64_t Hash(const PodSpec& spec);

// What the containers ask for together: per resource the larger of the sum of containers and sidecars, and of each
// ordinary init container with the sidecars before it. `init` is in the order of the spec.
ResourceList AggregateRequests(const std::vector<ContainerRequests>& init,
                               const std::vector<ContainerRequests>& containers);

// A resource that a pod may ask for as a whole: cpu, memory, hugepages.
bool IsPodLevelResource(std::string_view name);

// A pod with requests of its own, beside its containers': on its node it counts the default of a resource only if it
// names that resource nowhere (upstream: PodInfo.CalculateResource); a pod that waits counts it for each container that
// asks for none (resourceAllocationScorer.calculatePodResourceRequest).
enum class CountedAs { kWaiting, kOccupant };

// Sets requests, nonzero_* and saturated: AggregateRequests, which pod-level requests replace; overhead comes on top
// (k8s.io/component-helpers resource.PodRequests).
void SetEffectiveRequests(const std::vector<ContainerRequests>& init, const std::vector<ContainerRequests>& containers,
                          const ResourceList& pod_level, const ResourceList& overhead, CountedAs as, PodSpec* spec);

}  // namespace tutti::model
