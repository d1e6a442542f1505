// SPDX-License-Identifier: Apache-2.0
// `tutti simulate`: manifests in, the real core under a virtual clock, decisions out. No network, no files written.
//
// The same manifests and configuration give the same bytes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/simulation_summary.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "sim/manifests/manifest.h"
#include "sim/world.h"

namespace tutti::app {

struct SimulationProgress {
  base::Millis virtual_ms = 0;  // since the start of the simulation
  size_t gangs = 0, whole = 0;  // that came so far; that were whole once
  double seconds = 0;           // that it took till now
};

struct SimulateOptions {
  Config config;
  sim::WorldOptions world;
  bool strict_kinds = false;               // a kind that is not known is an error, not a note
  base::Millis until_ms = 24 * 3'600'000;  // of virtual time; what waits longer is not waited for
  // Gets, where given, the result in figures.
  SimulationSummary* summary = nullptr;
  // Is told, where given, once a second of the time that passes here, how far it is; not before the first.
  std::function<void(const SimulationProgress&)> on_progress;
  // Gets, where given, what a person should know beside the result: what of the configuration has no effect, why
  // pods were never made, and what came too late.
  std::vector<std::string>* notes = nullptr;
  // The process ends right after: what was simulated is not freed, which takes a while object by object.
  bool leave_memory = false;
};

// `node` is empty while pending:
//
//   {apiVersion: tutti.dev/v1alpha1, kind: SimulationResult,
//    pods: [{namespace, name, node, state: bound|pending|evicted|finished, reason, message}],
//    gangs: [{namespace, name, dialect, queue, minMember, members, bound, state, reason, message}],
//    timeline: [{at_s, action: bind|evict|admit|finish, pod, node, gang}]}
//
// Scripts read these names: within an apiVersion fields are added, none is renamed or taken away.
// Objects with the annotation sim.tutti.dev/arrive-at come at that time after the start, the others at the start; it
// ends when nothing changes any more. Error: kInvalid, naming file, document, field and remedy.
base::Result<nlohmann::ordered_json> Simulate(std::vector<sim::Manifest> manifests, SimulateOptions options);

// Its result for people: the gangs, the pods, what happened when.
std::string SimulationTable(const nlohmann::ordered_json& result);

}  // namespace tutti::app
