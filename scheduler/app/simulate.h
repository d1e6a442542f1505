// SPDX-License-Identifier: Apache-2.0
// `tutti simulate`: runs the real core on manifests under a virtual clock, and returns its decisions. It uses no
// network and writes no files.
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
#include "sim/port/world.h"

namespace tutti::app {

struct SimulationProgress {
  base::Millis virtual_ms = 0;  // since the start of the simulation
  size_t gangs = 0, whole = 0;  // arrived so far; were whole once
  double seconds = 0;           // real time since the start
};

struct SimulateOptions {
  Config config;
  sim::WorldOptions world;
  bool strict_kinds = false;               // an unknown kind is an error, not a note
  base::Millis until_ms = 24 * 3'600'000;  // virtual time at which it ends at the latest
  // Receives the result in figures; may be null.
  SimulationSummary* summary = nullptr;
  // Receives the progress once a second of real time, first after one second; may be empty.
  std::function<void(const SimulationProgress&)> on_progress;
  // Receives notes for people; may be null: settings without effect, why pods were never made, and manifests that came
  // too late.
  std::vector<std::string>* notes = nullptr;
  // Does not free the simulated cluster, because the process ends next and freeing each object takes a while.
  bool leave_memory = false;
};

// Simulates `manifests` and returns its result. `node` is empty while a pod is pending:
//
//   {apiVersion: tutti.dev/v1alpha1, kind: SimulationResult,
//    pods: [{namespace, name, node, state: bound|pending|evicted|finished, reason, message}],
//    gangs: [{namespace, name, dialect, queue, minMember, members, bound, state, reason, message}],
//    workloads: [{namespace, name, queue, clusterQueue, state: pending|reserved|admitted|evicted|finished,
//                 podSets: [{name, count, flavors: {RESOURCE: FLAVOR}, topology: {VALUE/VALUE: pods}}],
//                 reason, message}],
//    timeline: [{atSeconds, action: bind|evict|admit|finish|reserve, pod, node, gang, workload, by, reason}]}
//
// `workloads`, and the last three fields of an entry of the timeline, are only there for gangs in queues that give
// quota before there are pods; `by` is the gang that a victim leaves for, NAMESPACE/NAME.
//
// Scripts read these names: within an apiVersion fields may be added, but none is renamed or removed. An object with
// the annotation sim.tutti.dev/arrive-at arrives at that time after the start, the others at the start. The simulation
// ends when nothing changes any more. Error: kInvalid, naming file, document, field and remedy.
base::Result<nlohmann::ordered_json> Simulate(std::vector<sim::Manifest> manifests, SimulateOptions options);

// Renders the result for people: the gangs, the pods, and the timeline.
std::string SimulationTable(const nlohmann::ordered_json& result);

}  // namespace tutti::app
