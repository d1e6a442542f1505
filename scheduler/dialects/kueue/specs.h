// SPDX-License-Identifier: Apache-2.0
// Kueue's declarations of quota, in v1beta1 and v1beta2, as values. Pure functions.
//
// What cannot be read of a ClusterQueue is a problem, named by its field; of the others it is as if it were not there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/gang.h"
#include "model/object.h"
#include "model/selector.h"
#include "model/sharing_queue.h"

namespace tutti::dialects::kueue {

// A check that a ClusterQueue asks for.
struct LeafCheck {
  std::string name;
  std::vector<std::string> flavors;  // it is asked for where one of these is assigned; empty: always
  friend bool operator==(const LeafCheck&, const LeafCheck&) = default;
};

struct Leaf {
  model::LeafQueueSpec spec;
  std::optional<model::LabelSelector> namespaces;  // whose gangs it takes; nullopt: of none
  std::vector<LeafCheck> checks;
  std::optional<model::Fit> fit;  // of its gangs that do not say it themselves
  std::string problem;            // "ClusterQueue q: spec.…: \"x\" is not a quantity"; empty: it was readable
  friend bool operator==(const Leaf&, const Leaf&) = default;
};

// `levels` is left empty: they are the topology's.
model::Flavor ReadFlavor(const model::Object& object);
model::CohortSpec ReadCohort(const model::Object& object);
Leaf ReadLeaf(const model::Object& object);
model::LocalQueueSpec ReadLocal(const model::Object& object);
// The node labels of a Topology's levels, the widest first.
std::vector<std::string> ReadLevels(const model::Object& topology);

// What an AdmissionCheck says.
struct Check {
  std::string controller;                   // kProvisioning, or another's
  std::string parameters_kind, parameters;  // the object that its controller reads
  bool active = false;                      // as its status says, or as it is for a check that is answered here
  friend bool operator==(const Check&, const Check&) = default;
};
Check ReadCheck(const model::Object& object);

}  // namespace tutti::dialects::kueue
