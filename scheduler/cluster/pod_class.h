// SPDX-License-Identifier: Apache-2.0
// PodClass: what pods have in common for planning: an interned PodSpec, and what the selectors of other pods see of them.
// A thousand equal workers are one class, filtered and scored once.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/pod_spec.h"

namespace tutti::cluster {

// Labels of a node, a pod or a namespace as planning reads them: sorted by key id.
using LabelEntries = std::vector<std::pair<model::Symbol, model::Symbol>>;

// Always made by std::make_shared: the log of the snapshot keeps it for as long as it is read.
struct PodClass : std::enable_shared_from_this<PodClass> {
  model::ClassId id;  // never used again after this class
  std::shared_ptr<const model::PodSpec> spec;
  // spec->requests as columns, zero amounts left out; "pods" is not in it.
  std::vector<std::pair<model::ResourceId, int64_t>> requests;

  model::Symbol ns;
  LabelEntries labels;       // those whose keys a selector of some pod reads; the others tell no classes apart
  bool terminating = false;  // being deleted: topology spread does not count it

  // Has terms about other pods, which other pods must heed.
  bool affine() const { return !spec->pod_affinity.empty() || !spec->pod_anti_affinity.empty(); }
};

}  // namespace tutti::cluster
