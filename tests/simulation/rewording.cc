// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/rewording.h"

#include <algorithm>

#include "cluster/json_text.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

bool OnlyTouches(const cluster::Command& command, const Truth& truth) {
  const auto* patch = std::get_if<cluster::Patch>(&command.body);
  const TruePod* pod = patch ? truth.Pod(patch->object.uid()) : nullptr;
  if (!pod) return false;
  const sim::Json body = cluster::ParseJson(patch->body);
  const sim::Json& said = sim::ConditionOf(body, "PodScheduled");
  return !sim::DigString(said, "lastProbeTime").empty() && sim::DigString(said, "message") == pod->message &&
         sim::DigString(said, "reason") == pod->reason;
}

bool OnlyRewords(const cluster::Command& command, const sim::Store& store) {
  const auto* patch = std::get_if<cluster::Patch>(&command.body);
  if (!patch || patch->object.resource != kWorkloads.resource) return false;
  const sim::Object object = store.Find(kWorkloads, patch->object.ns(), patch->object.name());
  const sim::Json body = cluster::ParseJson(patch->body);
  const sim::Json& status = sim::Child(body, "status");
  const auto is_there = [&](const sim::Json& wanted) {
    const sim::Json& there = sim::ConditionOf(*object, sim::DigString(wanted, "type"));
    return sim::Child(there, "status") == wanted["status"] && sim::Child(there, "reason") == wanted["reason"];
  };
  return object && status.size() == 1 &&
         std::ranges::all_of(sim::ArrayOf(sim::Child(status, "conditions")), is_there);
}

}  // namespace tutti::simulation
