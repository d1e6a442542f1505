// SPDX-License-Identifier: Apache-2.0
// PodClass: what pods have in common for planning: an interned PodSpec, and what the selectors of other pods see of
// them. A thousand equal workers are one class, filtered and scored once.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/pod_spec.h"

namespace tutti::cluster {

// Labels of a node, a pod or a namespace as planning reads them: sorted by key id.
using LabelEntries = std::vector<std::pair<model::Symbol, model::Symbol>>;

// A claim that the pods of a class use. Pods that use different claims are of different classes.
struct ClaimUse {
  std::string claim;  // "namespace/name"
  std::string owner;  // UID of the pod that the claim is made for (an ephemeral volume's); empty: of no pod
  std::string owner_name;
  friend bool operator==(const ClaimUse&, const ClaimUse&) = default;
};

// Always made by std::make_shared: the log of the snapshot keeps it for as long as it is read.
struct PodClass : std::enable_shared_from_this<PodClass> {
  model::ClassId id;  // never used again after this class
  std::shared_ptr<const model::PodSpec> spec;
  // spec->requests as columns, zero amounts left out; "pods" is not in it.
  std::vector<std::pair<model::ResourceId, int64_t>> requests;

  model::Symbol ns;
  LabelEntries labels;           // those whose keys a selector of some pod reads; the others tell no classes apart
  bool terminating = false;      // being deleted: topology spread does not count it
  std::vector<ClaimUse> claims;  // in the order of the claims in spec->volumes
  // What the Services and the controller of a pod that waits select by, where it spreads by nothing of its own; null:
  // nothing, or the pods of the class were first seen bound.
  std::shared_ptr<const model::LabelSelector> selected_by;
  size_t bytes = 0;  // about what it takes of memory, with its spec

  // Has terms about other pods, or claims, which decide about other pods.
  bool affine() const { return !spec->pod_affinity.empty() || !spec->pod_anti_affinity.empty() || !claims.empty(); }
};

}  // namespace tutti::cluster
