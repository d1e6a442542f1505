// SPDX-License-Identifier: Apache-2.0
// The pod sets of an AppWrapper of v1beta2: of one component where it declares them itself, and of all components as
// one list, as a job in one of Kueue's queues has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "cluster/json_reader.h"
#include "dialects/pod_sets.h"

namespace tutti::dialects {

// Tells whether the pods of the object come one after the other: a StatefulSet's, unless it says otherwise.
bool ComeInOrder(const base::Json& object);

// Adds the sets that `declared`, the component's podSets, says `object` to have. Their names are "pods-0", "pods-1",
// ...
void ReadDeclaredSets(cluster::JsonReader& read, const cluster::JsonField& declared, const base::Json& object,
                      std::vector<PodSet>* sets);

// Adds the sets of all components. The AppWrapper's name and a number is the name of each: "a-0", "a-1", ... A
// submitter has the number of its component, and a name that says so: "a-submitter-0".
void ReadComponentSets(cluster::JsonReader& read, const cluster::JsonField& root, std::vector<PodSet>* sets);

// The path of a set of ReadComponentSets, as two: of the wrapped object in the AppWrapper, and of the template in that
// object. Two empty ones: it is the path of none.
std::pair<std::string, std::string> SplitAtComponent(const std::string& path);

}  // namespace tutti::dialects
