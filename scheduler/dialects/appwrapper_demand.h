// SPDX-License-Identifier: Apache-2.0
// Demand: what an item says that its pods ask for (custompodresources), beside what they do ask for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/json_reader.h"
#include "model/gang.h"
#include "model/resource_list.h"

namespace tutti::dialects {

// So many pods that ask for the same.
struct PodsAlike {
  int64_t count = 0;
  model::ResourceList each;
  friend bool operator==(const PodsAlike&, const PodsAlike&) = default;
};
using Demand = std::vector<PodsAlike>;

// A list of custompodresources. A limit stands in for a request that is missing, as MCAD has it.
Demand ReadDemand(cluster::JsonReader& read, const cluster::JsonField& list);

// What the promised pods ask for.
Demand DemandOf(const std::vector<model::PromisedMembers>& promised);

// All of it together, in MCAD's three resources: thousandths of a cpu, bytes, GPUs of nvidia.com/gpu.
struct Total {
  int64_t cpu_milli = 0, memory = 0, gpus = 0;
};
Total TotalOf(const Demand& demand);

// Pods of which no more is known than what they ask for, one role for each entry: "pods-0", "pods-1", ... Error
// kInvalid: no pod can ask for that.
base::Result<std::vector<model::PromisedMembers>> PromiseDeclared(const Demand& demand, std::string_view ns,
                                                                  std::string_view scheduler_name);

// Says in what the pods differ from what was declared, pod by pod; empty: in nothing that was declared, or nothing was.
std::string Difference(const Demand& declared, const Demand& pods, const std::string& item);

}  // namespace tutti::dialects
